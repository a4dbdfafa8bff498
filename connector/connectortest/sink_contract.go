package connectortest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// start makes an engine over a new target and closes its sink at the end.
func start(t *testing.T, h *SinkHarness, splits, rows int) *engine {
	t.Helper()
	e := newEngine(t, h, h.NewTarget(t), splits, rows)
	t.Cleanup(func() { closing(t, e.sink) })
	return e
}

// later closes what a crash left open, at the end of the test.
func later(t *testing.T) func(connector.Sink) {
	return func(s connector.Sink) { t.Cleanup(func() { closing(t, s) }) }
}

func resolvingChangesNothing(t *testing.T, h *SinkHarness) {
	e := &engine{h: h, target: h.NewTarget(t)}
	e.resolve(t)
	t.Cleanup(func() { closing(t, e.sink) })
	first := e.plan
	again, err := e.sink.Resolve(t.Context(), Schema())
	if err != nil || !again.Schema.Equal(first.Schema) || again.Creates != first.Creates || again.Guarantee != first.Guarantee {
		t.Errorf("resolved again: %+v, %v; the first time %+v", again, err, first)
	}
	if !h.KeepsNothing {
		same(t, "target", sorted(e.target.Rows()), sorted(h.Before))
	}
}

func preparingAgain(t *testing.T, h *SinkHarness) {
	e := start(t, h, 2, 10)
	a := e.claim(t, 0, e.token())
	a.mustWrite(t, 4)
	a.mustCommit(t, false)
	a.close(t)
	for range 2 {
		if err := e.sink.Prepare(t.Context(), e.run); err != nil {
			t.Fatalf("prepare again: %v", err)
		}
		if err := e.sink.Register(t.Context(), e.run, e.allSplits()); err != nil {
			t.Fatalf("register again: %v", err)
		}
	}
	e.checkStates(t)
	e.complete(t)
	e.checkRows(t, true)
}

func nullIsNotEmpty(t *testing.T, h *SinkHarness) {
	e := start(t, h, 1, 0)
	e.splits[0] = []Row{{"1", Null}, {"2", ""}, {"3", "NULL"}, {"4", `\N`}, {"5", " "}, {"6", `""`}}
	e.complete(t)
	e.checkRows(t, true)
}

func largeBatches(t *testing.T, h *SinkHarness) {
	e := start(t, h, 2, batch.MaxRows)
	e.splits[1] = []Row{{"-1", strings.Repeat("a large text, ", 200_000)}, {"-2", "small"}}
	e.complete(t)
	e.checkRows(t, true)
}

func refusedRecords(t *testing.T, h *SinkHarness) {
	if h.Refused == nil {
		return
	}
	e := start(t, h, 1, 120)
	a := e.claim(t, 0, e.token())
	a.mustWrite(t, 50, h.Refused("-1"), sampleRow(-3))
	a.mustWrite(t, 0, h.Refused("-2"))
	a.mustWrite(t, 50)
	a.mustCommit(t, false)
	a.mustWrite(t, 20, h.Refused("-4"), h.Refused("-5"))
	a.mustCommit(t, true)
	a.close(t)
	if c := e.stored[0].Counters; c.Dirty != 4 || c.Written != 121 {
		t.Errorf("counters %+v, want 4 dirty and 121 written", c)
	}
	e.complete(t)
	e.checkRows(t, true)
}

// Exactness rules 2 and 3.
func olderAttemptIsFenced(t *testing.T, h *SinkHarness) {
	e := start(t, h, 1, 30)
	old := e.claim(t, 0, e.token())
	old.mustWrite(t, 10)
	old.mustCommit(t, false)
	if !h.Exclusive {
		old.mustWrite(t, 5)
	}
	newer := e.claim(t, 0, e.token())
	e.mustBeFenced(t, old)
	within(t, func(ctx context.Context) {
		w, _, err := e.sink.Claim(ctx, old.request())
		if w != nil {
			closing(t, w)
		}
		if connector.ClassOf(err) != connector.Fenced {
			t.Errorf("claim with the older token: %v, want fenced", err)
		}
	})
	newer.mustWrite(t, 15)
	newer.mustCommit(t, false)
	newer.close(t)
	old.close(t)
	e.complete(t)
	e.checkRows(t, true)
}

// mustBeFenced lets an attempt write and commit that is not its split's newest.
func (e *engine) mustBeFenced(t tb, old *attempt) {
	t.Helper()
	within(t, func(ctx context.Context) {
		err := old.write(ctx, 3)
		if err == nil {
			_, err = old.commit(ctx, false)
		}
		switch {
		case err == nil && e.plan.Guarantee == connector.WithPosition:
			t.Errorf("attempt %s of split %d committed after %s had claimed", old.token, old.split, e.newest[old.split])
		case err == nil:
			// Its files are its own, and its states are not stored any more.
		case e.plan.Guarantee == connector.WithPosition && connector.ClassOf(err) != connector.Fenced && connector.ClassOf(err) != connector.Retryable:
			t.Errorf("attempt %s of split %d, which is not the newest: %v, want fenced", old.token, old.split, err)
		}
	})
}

func sameTokenAgain(t *testing.T, h *SinkHarness) {
	e := start(t, h, 1, 30)
	token := e.token()
	a := e.claim(t, 0, token)
	a.mustWrite(t, 10)
	a.mustCommit(t, false)
	a.close(t)
	b := e.claim(t, 0, token)
	if b.next != 10 {
		t.Errorf("the second claim goes on at %d, not 10", b.next)
	}
	b.mustWrite(t, 5)
	b.mustCommit(t, false)
	b.close(t)
	e.complete(t)
	e.checkRows(t, true)
}

func uncommittedIsGone(t *testing.T, h *SinkHarness) {
	e := start(t, h, 1, 30)
	a := e.claim(t, 0, e.token())
	a.mustWrite(t, 10)
	a.mustCommit(t, false)
	a.mustWrite(t, 10)
	within(t, func(ctx context.Context) {
		if err := a.writer.Flush(ctx); err != nil {
			t.Fatalf("flush: %v", err)
		}
	})
	a.close(t)
	closing(t, a.writer)
	e.checkRows(t, false)
	e.checkStates(t)
	e.complete(t)
	e.checkRows(t, true)
}

func abandonedAttempt(t *testing.T, h *SinkHarness) {
	e := start(t, h, 2, 30)
	a := e.claim(t, 0, e.token())
	a.mustWrite(t, 10)
	a.mustCommit(t, false)
	a.mustWrite(t, 10)
	e.restart(t, later(t))
	left := e.live
	e.checkStates(t)
	b := e.claim(t, 0, e.token())
	if b.next != 10 {
		t.Errorf("the new attempt goes on at %d, not 10", b.next)
	}
	b.close(t)
	e.complete(t)
	e.checkRows(t, true)
	for _, a := range left {
		// Whether it can still be closed in good order is not of interest.
		_ = a.writer.Close()
	}
}

func finishing(t *testing.T, h *SinkHarness) {
	e := start(t, h, 2, 20)
	e.checkRows(t, false)
	late := e.claim(t, 1, e.token())
	late.mustWrite(t, 5)
	late.mustCommit(t, false)
	if !h.Exclusive {
		late.mustWrite(t, 5)
	}
	e.checkRows(t, false)
	e.complete(t)
	e.checkRows(t, true)
	e.finish(t)
	e.checkRows(t, true)
	if e.plan.Guarantee == connector.WithPosition {
		e.afterFinish(t, late)
	}
	late.close(t)
	e.checkRows(t, true)
}

// afterFinish checks that a run which has ended cannot be revived.
func (e *engine) afterFinish(t *testing.T, late *attempt) {
	e.mustBeFenced(t, late)
	err := e.sink.Register(t.Context(), e.run, e.allSplits())
	if connector.ClassOf(err) != connector.Fenced {
		t.Errorf("register after the end: %v, want fenced", err)
	}
	w, _, err := e.sink.Claim(t.Context(), (&attempt{e: e, split: 0, token: e.token()}).request())
	if w != nil {
		closing(t, w)
	}
	if connector.ClassOf(err) != connector.Fenced {
		t.Errorf("claim after the end: %v, want fenced", err)
	}
	if err := e.sink.Prepare(t.Context(), e.run); !errors.Is(err, connector.ErrFinished) {
		t.Errorf("prepare after the end: %v, want ErrFinished", err)
	}
	closing(t, e.sink)
	e.resolve(t)
	if err := e.sink.Prepare(t.Context(), e.run); !errors.Is(err, connector.ErrFinished) {
		t.Errorf("prepare of another process after the end: %v, want ErrFinished", err)
	}
}

func contextsAndClosing(t *testing.T, h *SinkHarness) {
	e := start(t, h, 1, 20)
	a := e.claim(t, 0, e.token())
	a.mustWrite(t, 5)
	a.mustCommit(t, false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := a.write(ended, 5)
	if err == nil {
		_, err = a.commit(ended, false)
	}
	if err == nil {
		t.Error("a writer wrote and committed under a context that had ended")
	}
	a.close(t)
	closing(t, a.writer)
	for what, err := range map[string]error{
		"prepare":  e.sink.Prepare(ended, e.run),
		"register": e.sink.Register(ended, e.run, e.allSplits()),
		"finish":   e.sink.Finish(ended, e.run, e.stored),
	} {
		if err == nil {
			t.Errorf("%s under a context that had ended succeeded", what)
		}
	}
	e.complete(t)
	e.checkRows(t, true)
	closing(t, e.sink)
	closing(t, e.sink)
}
