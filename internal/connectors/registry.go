// Package connectors knows all connectors. A new one is a package beside this
// file and a line in All.
package connectors

import (
	"fmt"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/csv"
	"github.com/leatdata/leat/internal/connectors/jsonl"
	"github.com/leatdata/leat/internal/connectors/mysql"
	"github.com/leatdata/leat/internal/connectors/parquet"
	"github.com/leatdata/leat/internal/connectors/postgres"
	"github.com/leatdata/leat/internal/connectors/sqlite"
	"github.com/leatdata/leat/internal/connectors/stream"
)

// All returns the connectors by name.
func All() *connector.Registry {
	registry, err := connector.NewRegistry(
		csv.Definition(),
		jsonl.Definition(),
		mysql.Definition(),
		parquet.Definition(),
		postgres.Definition(),
		sqlite.Definition(),
		stream.Definition(),
	)
	if err != nil {
		panic(fmt.Sprintf("connectors: %v", err))
	}
	return registry
}
