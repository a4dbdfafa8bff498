package postgres

import (
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// TestFrozenClaimHoldsUpNobody shows exactness rule 2 for whatever else waits
// for a split's row: a session stopped in the middle of a claim is ended by a
// newer process that registers, and by one that finishes.
func TestFrozenClaimHoldsUpNobody(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	done := commit(t, w, state, 1, true, none)
	check(t, w.Close())

	newSink := r.newSink(nil)
	newSink.evictor.patience = 200 * time.Millisecond
	must(newSink.Resolve(t.Context(), r.in))(t)
	frozen := func() {
		t.Helper()
		s, err := connect(t.Context(), r.sink.sessions.config, r.sink.sessions.settings)
		check(t, err)
		t.Cleanup(s.close)
		check(t, s.exec(t.Context(), "BEGIN; UPDATE leat_positions SET token = 9"))
	}
	frozen()
	check(t, newSink.Register(t.Context(), r.run, []connector.Split{{ID: 0}}))
	frozen()
	check(t, newSink.Finish(t.Context(), r.run, []connector.SplitState{done}))
	if got := testenv.Value[string](t, r.url, "SELECT outcome FROM leat_runs"); got != outcomeFinished {
		t.Errorf("the run is %q", got)
	}
}
