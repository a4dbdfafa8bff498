package postgres

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// A role that may not use the tables of another is told how to have its own.
func TestLedgerOfAnotherRole(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int); CREATE SCHEMA own", nil, untyped("id")...)
	r.load("1")
	r.url = r.as("leat_second", "SELECT, INSERT ON t")
	_, err := r.newSink(nil).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "leat_runs", "runs_table", "positions_table", "SELECT, INSERT, UPDATE")
	_, err = r.newSink(map[string]any{"runs_table": "public.r", "positions_table": "public.p"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "may not make", "runs_table", "CREATE")
	own := map[string]any{"runs_table": "own.runs", "positions_table": "own.positions"}
	_, err = r.newSink(own).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "own", "runs_table", "positions_table", "CREATE")
	r.pg.Exec(t, strings.Replace(r.url, "leat_second", "postgres", 1), "GRANT ALL ON SCHEMA own TO leat_second")
	r.sink = r.newSink(own)
	r.run = newRun(2)
	if c := r.load("2"); c.Written != 1 {
		t.Errorf("counters: %+v", c)
	}
}
