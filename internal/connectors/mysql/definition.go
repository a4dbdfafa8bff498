package mysql

import (
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Definition returns the connector.
func Definition() *connector.Definition {
	return database.Definition[SourceOptions, SinkOptions, *Source, *Sink]{
		Name:       "mysql",
		Doc:        "MariaDB and MySQL tables, views and queries",
		Schemes:    []string{"mysql", "mariadb"},
		Types:      typeRows(),
		Parameters: connectionParameters(),
		NewSource:  newSource,
		NewSink:    newSink,
		Readback: func(o *SinkOptions) map[string]any {
			return map[string]any{"url": o.URL, "table": o.Table, "tinyint1": o.TinyInt1}
		},
	}.Connector()
}
