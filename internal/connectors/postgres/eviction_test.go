package postgres

import (
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/testenv"
)

// TestFrozenClaimHoldsUpNobody shows exactness rule 2 for whatever else waits
// for a split's row: a session stopped in the middle of a claim does not hold up
// a newer process that registers, and is ended by one that finishes.
func TestFrozenClaimHoldsUpNobody(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	done := commit(t, w, state, 1, true, none)
	check(t, w.Close())

	newSink := r.newSink(nil)
	newSink.evictor.Patience = 200 * time.Millisecond
	must(newSink.Resolve(t.Context(), r.in))(t)
	s := must(connect(t.Context(), r.sink.sessions.config, r.sink.sessions.settings))(t)
	t.Cleanup(s.close)
	check(t, s.exec(t.Context(), "BEGIN; UPDATE leat_positions SET token = 9"))
	check(t, newSink.Register(t.Context(), r.run, []connector.Split{{ID: 0}}))
	check(t, newSink.Finish(t.Context(), r.run, []connector.SplitState{done}))
	if got := testenv.Value[string](t, r.url, "SELECT outcome FROM leat_runs"); got != database.Finished {
		t.Errorf("the run is %q", got)
	}
}
