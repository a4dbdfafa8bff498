package connectortest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// attempt is a claimed split with its writer.
type attempt struct {
	e      *engine
	split  connector.SplitID
	token  connector.Token
	slot   int
	writer connector.Writer
	// state is what is durable, as the sink told.
	state connector.SplitState
	// next is the row to write next; pending are those since the commit.
	next    int
	pending []Row
	// rejected counts what was rejected since the commit.
	rejected int64
}

func (a *attempt) request() connector.Attempt {
	return connector.Attempt{
		Run: a.e.run, Split: connector.Split{ID: a.split, Label: "split " + itoa(int(a.split))}, Token: a.token, Slot: a.slot,
		State: a.e.stored[a.split], Reject: a.reject,
	}
}

// write writes the next n rows of the split; extra ones come with them.
func (a *attempt) write(ctx context.Context, n int, extra ...Row) error {
	rows := a.e.splits[a.split]
	n = min(n, len(rows)-a.next)
	list := append(slices.Clone(rows[a.next:a.next+n]), extra...)
	if len(list) == 0 {
		return nil
	}
	a.pending = append(a.pending, list...)
	a.next += n
	a.state.Counters.Read += int64(len(list))
	return a.writer.Write(ctx, a.e.batchOf(list))
}

// mustWrite is write for an attempt that owns its split.
func (a *attempt) mustWrite(t tb, n int, extra ...Row) {
	t.Helper()
	within(t, func(ctx context.Context) {
		if err := a.write(ctx, n, extra...); err != nil {
			t.Fatalf("write to split %d: %v", a.split, err)
		}
	})
}

// commit flushes and commits, again when the sink says so.
func (a *attempt) commit(ctx context.Context, done bool) (connector.SplitState, error) {
	for {
		if err := a.writer.Flush(ctx); err != nil {
			return connector.SplitState{}, err
		}
		state := a.state
		state.Position = connector.Position(itoa(a.next))
		state.Done = done
		state.Counters.Dirty += a.rejected
		got, err := a.writer.Commit(ctx, state)
		if !errors.Is(err, connector.ErrAgain) {
			return got, err
		}
	}
}

// mustCommit is commit for an attempt that owns its split; it notes what is
// durable now.
func (a *attempt) mustCommit(t tb, done bool) {
	t.Helper()
	within(t, func(ctx context.Context) {
		got, err := a.commit(ctx, done)
		if err != nil {
			t.Fatalf("commit split %d: %v", a.split, err)
		}
		a.committed(t, got, done)
	})
}

// committed checks the state that a commit returned and keeps it.
func (a *attempt) committed(t tb, got connector.SplitState, done bool) {
	t.Helper()
	c, before := got.Counters, a.state.Counters
	switch {
	case got.Split != a.split || got.Token != a.token || got.Done != done || got.Position != connector.Position(itoa(a.next)):
		t.Errorf("commit of split %d, token %s, position %d, done %v returned %+v", a.split, a.token, a.next, done, got)
	case got.CommitNo <= a.state.CommitNo:
		t.Errorf("commit %d of split %d comes after %d", got.CommitNo, a.split, a.state.CommitNo)
	case !c.Balanced() || c.Read != before.Read || c.Dirty != before.Dirty+a.rejected:
		t.Errorf("commit of split %d returned counters %+v for %d read and %d dirty", a.split, c, before.Read, before.Dirty+a.rejected)
	case c.Written != before.Written+int64(len(a.pending)):
		t.Errorf("commit of split %d counts %d written, want %d and %d more", a.split, c.Written, before.Written, len(a.pending))
	case len(a.pending) > 0 && c.BytesWritten <= before.BytesWritten:
		t.Errorf("commit of split %d counts no bytes for %d rows", a.split, len(a.pending))
	}
	a.e.durable[a.split] = append(a.e.durable[a.split], a.pending...)
	a.e.stored[a.split] = got
	a.state, a.pending, a.rejected = got, nil, 0
}

// close closes the attempt's writer.
func (a *attempt) close(t tb) {
	t.Helper()
	a.e.live = slices.DeleteFunc(a.e.live, func(b *attempt) bool { return a == b })
	if err := a.writer.Close(); err != nil {
		t.Errorf("close the writer of split %d: %v", a.split, err)
	}
}

// dirty says that the attempt has written rows that are not committed.
func (a *attempt) dirty() bool { return len(a.pending) > 0 || a.rejected > 0 }

// reject takes a record back from those that will be durable.
func (a *attempt) reject(b *batch.Batch, row int, _ string, _ batch.Cause, reason string) {
	r := rowOf(b, row)
	i := slices.IndexFunc(a.pending, func(p Row) bool { return p.String() == r.String() })
	if i < 0 || reason == "" {
		panic(fmt.Sprintf("rejected for %q: %s, which was not pending", reason, r))
	}
	a.pending = slices.Delete(a.pending, i, i+1)
	a.rejected++
}
