package connectortest

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// engine drives a sink as the real one does, and knows what has to come of it.
type engine struct {
	h      *SinkHarness
	target Target
	run    connector.Run
	sink   connector.Sink
	plan   *connector.Plan
	// splits are the rows of each split.
	splits [][]Row
	// stored are the durable states as an engine has stored them.
	stored []connector.SplitState
	// durable are the rows that were committed and not rejected, by split.
	durable [][]Row
	// newest are the highest tokens that claimed.
	newest []connector.Token
	last   uint32
	pool   batch.Pool
	// live are the attempts whose writers are not closed.
	live []*attempt
}

func newEngine(t tb, h *SinkHarness, target Target, splits, rows int) *engine {
	e := &engine{h: h, target: target, run: connector.Run{ID: "11111111-2222-3333-4444-555555555555", Job: "contract", JobHash: "hash"}}
	for s := range splits {
		list := make([]Row, rows)
		for i := range list {
			list[i] = sampleRow(s*1_000_000 + i)
		}
		e.splits = append(e.splits, list)
	}
	e.stored = make([]connector.SplitState, splits)
	for s := range e.stored {
		e.stored[s].Split = connector.SplitID(s)
	}
	e.durable = make([][]Row, splits)
	e.newest = make([]connector.Token, splits)
	e.open(t)
	return e
}

// sampleRow is a record with what formats stumble over.
func sampleRow(id int) Row {
	v := fmt.Sprintf("row %d", id)
	switch id % 7 {
	case 1:
		v = Null
	case 2:
		v = ""
	case 3:
		v = "a,b;\"c\" 'd' \\N NULL"
	case 4:
		v = "two\nlines\r\nand\ttab \\"
	case 5:
		v = "Žluťoučký 😀 中"
	}
	return Row{strconv.Itoa(id), v}
}

func itoa(n int) string { return strconv.Itoa(n) }

// open makes a sink as a process that starts does: resolve, prepare, register.
func (e *engine) open(t tb) {
	t.Helper()
	e.resolve(t)
	within(t, func(ctx context.Context) {
		if err := e.sink.Prepare(ctx, e.run); err != nil {
			t.Fatalf("prepare: %v", err)
		}
		if err := e.sink.Register(ctx, e.run, e.allSplits()); err != nil {
			t.Fatalf("register: %v", err)
		}
	})
}

func (e *engine) resolve(t tb) {
	t.Helper()
	e.sink = e.target.Open()
	within(t, func(ctx context.Context) {
		var err error
		if e.plan, err = e.sink.Resolve(ctx, Schema()); err != nil {
			t.Fatalf("resolve: %v", err)
		}
	})
	if len(e.plan.Schema.Fields) != 2 {
		t.Fatalf("the plan has %d columns for 2", len(e.plan.Schema.Fields))
	}
}

func (e *engine) allSplits() []connector.Split {
	list := make([]connector.Split, len(e.splits))
	for i := range list {
		list[i] = connector.Split{ID: connector.SplitID(i), Label: "split " + itoa(i)}
	}
	return list
}

// token issues the next token of the run.
func (e *engine) token() connector.Token {
	e.last++
	return connector.NewToken(1, e.last)
}

// claim claims a split and checks what the sink says of it. A split that is
// done gives nil.
func (e *engine) claim(t tb, split connector.SplitID, token connector.Token) *attempt {
	t.Helper()
	a := &attempt{e: e, split: split, token: token, slot: e.freeSlot()}
	within(t, func(ctx context.Context) {
		var err error
		a.writer, a.state, err = e.sink.Claim(ctx, a.request())
		if err != nil {
			t.Fatalf("claim split %d with token %s: %v", split, token, err)
		}
	})
	e.newest[split] = token
	e.checkState(t, a.state, split)
	if !a.state.Done && a.state.Token != token { // one that is done needs no owner
		t.Errorf("claim split %d: the state has token %s, not %s", split, a.state.Token, token)
	}
	if a.state.Done {
		if a.writer != nil {
			t.Errorf("claim split %d: a writer for a split that is done", split)
		}
		return nil
	}
	if a.writer == nil {
		t.Fatalf("claim split %d: no writer", split)
	}
	a.next = position(t, a.state.Position)
	e.live = append(e.live, a)
	return a
}

func (e *engine) freeSlot() int {
	slot := 0
	for slices.ContainsFunc(e.live, func(a *attempt) bool { return a.slot == slot }) {
		slot++
	}
	return slot
}

func position(t tb, p connector.Position) int {
	if p == "" {
		return 0
	}
	n, err := strconv.Atoi(string(p))
	if err != nil {
		t.Fatalf("position %q is not one that was committed", p)
	}
	return n
}

// checkState compares what a sink says of a split with what was committed.
func (e *engine) checkState(t tb, got connector.SplitState, split connector.SplitID) {
	t.Helper()
	want := e.stored[split]
	if got.Split != split || got.Position != want.Position || got.Done != want.Done || got.CommitNo != want.CommitNo || got.Counters != want.Counters {
		t.Errorf("split %d: the sink says %+v, but committed was %+v", split, got, want)
	}
}

// batchOf makes a batch of rows from the engine's pool.
func (e *engine) batchOf(rows []Row) *batch.Batch {
	b := e.pool.Get(Schema())
	for _, row := range rows {
		for _, cell := range row {
			if cell == Null {
				b.AppendNull()
				continue
			}
			b.Append([]byte(cell))
		}
	}
	b.Seal()
	b.Bytes = int64(len(b.Buf))
	return b
}

// complete writes and commits what is left of all splits, and finishes.
func (e *engine) complete(t tb) {
	t.Helper()
	for s := range e.splits {
		split := connector.SplitID(s)
		a := e.claim(t, split, e.token())
		if a == nil {
			continue
		}
		a.mustWrite(t, len(e.splits[s]))
		a.mustCommit(t, true)
		a.close(t)
	}
	e.checkStates(t)
	e.finish(t)
}

func (e *engine) finish(t tb) {
	t.Helper()
	within(t, func(ctx context.Context) {
		if err := e.sink.Finish(ctx, e.run, slices.Clone(e.stored)); err != nil {
			t.Fatalf("finish: %v", err)
		}
	})
}

// checkStates compares the target's word for all splits with what was committed.
func (e *engine) checkStates(t tb) {
	t.Helper()
	within(t, func(ctx context.Context) {
		states, err := e.sink.States(ctx, e.run)
		switch {
		case err != nil:
			t.Fatalf("states: %v", err)
		case e.plan.Guarantee != connector.WithPosition:
			if len(states) > 0 {
				t.Errorf("states of a sink without positions: %+v", states)
			}
			return
		case len(states) != len(e.splits):
			t.Fatalf("%d states of %d splits", len(states), len(e.splits))
		}
		slices.SortFunc(states, func(a, b connector.SplitState) int { return int(a.Split - b.Split) })
		for s := range states {
			e.checkState(t, states[s], connector.SplitID(s))
		}
	})
}

// checkRows compares the target with what should show of the run by now.
func (e *engine) checkRows(t tb, finished bool) {
	t.Helper()
	if e.h.KeepsNothing {
		return
	}
	var want []Row
	if !e.h.Empties && !(e.h.Replaces && finished) {
		want = append(want, e.h.Before...)
	}
	if finished || !e.h.Hides {
		for _, rows := range e.durable {
			want = append(want, rows...)
		}
	}
	got := e.target.Rows()
	switch {
	case e.plan.Guarantee == connector.AtLeastOnce:
		if lost := minus(want, got); len(lost) > 0 {
			t.Errorf("%d rows are lost: %v", len(lost), lost[:min(5, len(lost))])
		}
	case e.plan.Ordered && finished:
		same(t, "target", got, want)
	default:
		same(t, "target", sorted(got), sorted(want))
	}
}

// restart is a crash of the process: a new sink over the same target. Writers
// are left as they are, and closed at the end, when the sink is not exclusive.
func (e *engine) restart(t tb, closeSink func(connector.Sink)) {
	t.Helper()
	if e.h.Exclusive {
		for _, a := range slices.Clone(e.live) {
			a.close(t)
		}
	}
	closeSink(e.sink)
	e.open(t)
}
