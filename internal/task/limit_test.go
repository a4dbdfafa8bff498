package task_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/task"
	"github.com/leatdata/leat/ratelimit"
)

// limitedSubtask runs over numbers of 8 bytes, ten to a batch of the reader, with
// a limit under which the second batch waits for ever.
func limitedSubtask(t *testing.T, sink *ledger, set func(*task.Config)) *task.Subtask {
	s := subtask(t, &numbers{rows: 50, seekable: true}, sink, func(c *task.Config) {
		c.Limited = true
		if set != nil {
			set(c)
		}
	})
	s.Limiter().Grant(ratelimit.Lease{
		Epoch: 1, Seq: 1, Limit: ratelimit.Amount{Bytes: 80 * 200}, Parallelism: 1, Window: 1000 * time.Hour,
		Steps: []ratelimit.Amount{{Bytes: 80}},
	})
	return s
}

// TestWaitingHoldsNoCheckpoint shows exactness rule 17: while the limit lets
// nothing pass, what has passed is committed as usual.
func TestWaitingHoldsNoCheckpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{committed: make(chan struct{}, 1)}
		s := limitedSubtask(t, sink, func(c *task.Config) { c.CommitInterval = 10 * time.Second })
		ctx, cancel := context.WithCancel(t.Context())
		done, start := make(chan error), time.Now()
		go func() {
			done <- s.Run(ctx, connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
		}()
		<-sink.committed
		if took := time.Since(start); took != 10*time.Second || sink.calls[2] != "commit at 10, 0 dirty" {
			t.Errorf("committed after %s: %q", took, sink.calls)
		}
		if waited := s.Limiter().State().Waited; waited != 10*time.Second {
			t.Errorf("waited %s", waited)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || time.Since(start) != 10*time.Second {
			t.Errorf("cancelled: %v after %s", err, time.Since(start))
		}
	})
}

// What waits for the limit does not count as read yet: the rates are what passes.
func TestWhatWaitsIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limitedSubtask(t, &ledger{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- s.Run(ctx, connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
		}()
		synctest.Wait() // the second batch has been read, and waits
		if n := s.Numbers().State(); n.Read != 10 || n.BytesRead != 80 || n.Rates.Read != 10 {
			t.Errorf("numbers %+v", n)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A change of the limit wakes what waits: here its end.
func TestWaitingIsWokenByAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &ledger{}
		s := limitedSubtask(t, sink, nil)
		done, start := make(chan error), time.Now()
		go func() {
			done <- s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{})
		}()
		synctest.Wait()
		s.Limiter().Grant(ratelimit.Lease{Epoch: 1, Seq: 2})
		if err := <-done; err != nil || time.Since(start) != 0 || len(sink.rows) != 50 {
			t.Errorf("%v after %s with %d rows", err, time.Since(start), len(sink.rows))
		}
	})
}

// formats keeps what was measured at each commit.
type formats struct {
	watcher
	list []connector.FormatState
}

func (f *formats) Durable(s connector.SplitState, m connector.FormatState) {
	f.watcher.Durable(s, m)
	f.list = append(f.list, m)
}

// The format state of a split is what was measured until its durable state: what
// is read and not committed is not in it, and a later attempt adds to it.
func TestFormatStateIsTheDurablePart(t *testing.T) {
	sink := &ledger{reject: map[string]string{"3": "write", "7": "commit", "31": "write"}}
	lost := connector.Errorf(connector.Retryable, "connection lost")
	src := &numbers{rows: 25, seekable: true, fail: lost}
	src.gate = make(chan struct{})
	s := subtask(t, src, sink, func(c *task.Config) { c.CommitBytes = 90 })
	w := &formats{}
	close(src.gate)
	if err := s.Run(t.Context(), connector.Split{ID: 4}, 1, connector.SplitState{}, connector.FormatState{}, w); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	f := w.list[len(w.list)-1]
	if len(w.list) != 1 || f.Read != 20 || f.Written != 18 || f.BytesRead != 160 ||
		f.Errors != (connector.CauseCounts{Other: 2}) || f.LastWrote != (connector.Place{Split: 4, Position: "20", Number: 18}) {
		t.Errorf("%d states, the last %+v", len(w.list), f)
	}
	// All was read, and counts as read by the subtask, the tail twice in the end.
	if n := s.Numbers().State(); n.Read != 25 || n.Written != 18 {
		t.Errorf("the subtask's numbers %+v", n)
	}
	src.rows, src.fail = 40, nil
	if err := s.Run(t.Context(), connector.Split{ID: 4}, 2, w.durable[0], f, w); err != nil {
		t.Fatal(err)
	}
	g := w.list[len(w.list)-1]
	if g.Read != 40 || g.Written != 37 || g.Errors != (connector.CauseCounts{Other: 3}) || g.Rates != (connector.Rates{}) {
		t.Errorf("in the end %+v", g)
	}
	if g.ReadTime < f.ReadTime || g.WriteTime <= f.WriteTime || f.WriteTime <= 0 {
		t.Errorf("times %s and %s, then %s and %s", f.ReadTime, f.WriteTime, g.ReadTime, g.WriteTime)
	}
}

// Numbers that were put back go on where they stood.
func TestNumbersGoOn(t *testing.T) {
	s := subtask(t, &numbers{rows: 25, seekable: true}, &ledger{}, nil)
	before := connector.FormatState{
		Read: 100, Written: 90, BytesRead: 800, ReadTime: time.Hour, WriteTime: time.Minute,
		Errors: connector.CauseCounts{Null: 1, Duplicate: 2, Conversion: 3, Other: 4},
		Rates:  connector.Rates{Read: 1000},
	}
	s.Numbers().Restore(before)
	if err := s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, &watcher{}); err != nil {
		t.Fatal(err)
	}
	n := s.Numbers().State()
	if n.Read != 125 || n.Written != 115 || n.BytesRead != 1000 || n.ReadTime < time.Hour || n.Errors != before.Errors || n.Rates.Read < 900 {
		t.Errorf("numbers %+v", n)
	}
}

// A writer says of which kind a fault is, or leaves it to the row.
func TestCauses(t *testing.T) {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "n"}, {Name: "m"}}}
	var pool batch.Pool
	b := pool.Get(schema)
	b.Append(nil)
	b.Append([]byte("x"))
	b.Seal()
	for _, c := range []struct {
		column string
		cause  batch.Cause
		want   connector.CauseCounts
	}{
		{"n", batch.CauseUntold, connector.CauseCounts{Null: 1}},
		{"m", batch.CauseUntold, connector.CauseCounts{Other: 1}},
		{"", batch.CauseUntold, connector.CauseCounts{Other: 1}},
		{"", batch.CauseDuplicate, connector.CauseCounts{Duplicate: 1}},
		{"n", batch.CauseNull, connector.CauseCounts{Null: 1}},
		{"m", batch.CauseConversion, connector.CauseCounts{Conversion: 1}},
	} {
		sink := &causing{batch: b, column: c.column, cause: c.cause}
		s := subtask(t, &numbers{rows: 1}, sink.ledger(), func(cfg *task.Config) { cfg.Sink = sink })
		w := &formats{}
		if err := s.Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, w); err != nil {
			t.Fatal(err)
		}
		if got := s.Numbers().State().Errors; got != c.want {
			t.Errorf("%+v: counted %+v", c, got)
		}
	}
}

// causing rejects one row as it is opened.
type causing struct {
	led    ledger
	batch  *batch.Batch
	column string
	cause  batch.Cause
	connector.Sink
}

func (c *causing) ledger() *ledger { return &c.led }

func (c *causing) Claim(ctx context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	a.Reject(c.batch, 0, c.column, c.cause, "refused")
	return c.led.Claim(ctx, a)
}

// What the collector tells is there for all subtasks, and its next round can be
// waited for.
func TestGlobals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := subtask(t, &numbers{}, &ledger{}, nil).Globals()
		if round, _ := g.Value(); round != 0 {
			t.Error("a round before the first")
		}
		got := make(chan connector.FormatState)
		go func() {
			_, sum, err := g.Wait(t.Context(), 1)
			if err != nil {
				t.Error(err)
			}
			got <- sum
		}()
		g.Set(1, connector.FormatState{Read: 1})
		synctest.Wait()
		select {
		case <-got:
			t.Error("it did not wait for the next round")
		default:
		}
		g.Set(2, connector.FormatState{Read: 2})
		if sum := <-got; sum.Read != 2 {
			t.Errorf("sum %+v", sum)
		}
		g.Set(1, connector.FormatState{Read: 9}) // it comes late
		if round, sum := g.Value(); round != 2 || sum.Read != 2 {
			t.Errorf("round %d, sum %+v", round, sum)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := g.Wait(ctx, 2); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
