package mysql

import (
	"errors"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

func TestAppendMakesTheTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"table": "Orders"},
		batch.Field{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, field("select", batch.Text), batch.Field{Name: "Price", Type: batch.Type{Kind: batch.Decimal, Precision: 10, Scale: 2}})
	r.in.Key = []string{"id"}
	counters := r.load("1|a|7.10", "2|"+null+"|"+null, "3||-0.5")
	if counters.Written != 3 || counters.Read != 3 || counters.BytesWritten != 1+1+4+1+1+4 {
		t.Errorf("counters: %+v", counters)
	}
	r.expect("SELECT id, `select`, `Price` FROM Orders ORDER BY 1", "1|a|7.10", "2|NULL|NULL", "3||-0.50")
	r.expect("SELECT column_name, column_type, is_nullable FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'Orders' ORDER BY ordinal_position",
		"id|bigint(20)|NO", "select|longtext|YES", "Price|decimal(10,2)|YES")
	r.expect("SELECT outcome FROM leat_runs", "finished")
	r.expect("SELECT count(*) FROM leat_positions", "0")
}

// Rule 7: Prepare is once per run, and says when the run has finished.
func TestFinishIsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.load("1")
	if err := r.sink.Prepare(t.Context(), r.run); !errors.Is(err, connector.ErrFinished) {
		t.Errorf("Prepare of a finished run: %v", err)
	}
	check(t, r.sink.Finish(t.Context(), r.run, nil))
	if _, _, err := r.sink.Claim(t.Context(), r.attempt(0, 9)); connector.ClassOf(err) != connector.Fenced {
		t.Errorf("claim after the end: %v", err)
	}
	expectClass(t, r.sink.Register(t.Context(), r.run, splitsOf(3)), connector.Fenced)
	r.expect("SELECT count(*) FROM t", "1")
}
