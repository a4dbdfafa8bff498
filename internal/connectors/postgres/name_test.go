package postgres

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Names that PostgreSQL would cut off are refused: another table may have the
// name that is left.
func TestLongNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 64)
	r := newRig(t, "CREATE TABLE "+long[:63]+" (id int)", nil, untyped("id")...)
	for _, key := range []string{"table", "runs_table", "positions_table"} {
		o := new(SinkOptions)
		if err := option.Parse(map[string]any{"url": r.url, "table": "t", key: long}, o); err == nil || !strings.Contains(err.Error(), "63 bytes") {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := option.Parse(map[string]any{"url": r.url, "table": long}, new(SourceOptions)); err == nil || !strings.Contains(err.Error(), "63 bytes") {
		t.Errorf("source: %v", err)
	}
	_, err := r.sink.Resolve(t.Context(), newSchema(untyped(long+"n")...))
	expectClass(t, err, connector.Usage, "63 bytes")
	_, err = r.newSink(map[string]any{"unlogged": true, "positions_table": long[:60]}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "positions_table", "63 bytes")
}
