package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// job is a run as an engine drives it, over any number of processes. What it
// holds is what the engine has stored: it outlives every crash.
type job struct {
	format lineFormat
	source SourceOptions
	sink   SinkOptions
	run    connector.Run

	splits     []connector.Split
	enumerated bool
	cursor     connector.Cursor
	states     map[connector.SplitID]connector.SplitState
	finished   bool
	epoch      uint64
	// abandon has every third attempt at a split given up before its end.
	abandon bool
	// slots is the number of subtasks.
	slots int
}

func newJob(in, out string) *job {
	return &job{
		format: lineFormat{header: true, rows: 4}, slots: 1,
		source: SourceOptions{Path: []string{in}, SplitSize: 150},
		sink:   SinkOptions{Path: out, Mode: "overwrite", RollSize: 400},
		run:    connector.Run{ID: "0198f2c4-run", Job: "test"},
		states: map[connector.SplitID]connector.SplitState{},
	}
}

// process is what one process does of the job until it is done or fails.
func (j *job) process(ctx context.Context, fsys storage.FS) (err error) {
	j.epoch++
	src, err := NewSource(SourceConfig{FS: fsys, Format: j.format, Schema: j.format.schemaOf, Options: j.source})
	if err != nil {
		return err
	}
	snk, err := NewSink(SinkConfig{FS: fsys, Format: j.format, Options: j.sink})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			snk.closeIdle() // a process that has crashed removes nothing
			return
		}
		err = errors.Join(snk.Close(), src.Close())
	}()
	schema, err := src.Schema(ctx)
	if err != nil {
		return err
	}
	plan, err := snk.Resolve(ctx, schema)
	if err != nil {
		return err
	}
	if j.finished {
		return nil
	}
	if err := snk.Prepare(ctx, j.run); errors.Is(err, connector.ErrFinished) {
		j.finished = true
		return nil
	} else if err != nil {
		return err
	}
	if err := j.enumerate(ctx, src, connector.Want{Parallelism: j.slots, Ordered: plan.Ordered}); err != nil {
		return err
	}
	for i, split := range j.splits {
		if err := j.copySplit(ctx, src, snk, split, i%j.slots); err != nil {
			return err
		}
	}
	states := make([]connector.SplitState, 0, len(j.splits))
	for _, split := range j.splits {
		states = append(states, j.states[split.ID])
	}
	if err := snk.Finish(ctx, j.run, states); err != nil {
		return err
	}
	j.finished = true
	return nil
}

func (j *job) enumerate(ctx context.Context, src *Source, want connector.Want) error {
	for !j.enumerated {
		e, err := src.Enumerate(ctx, j.cursor, connector.SplitID(len(j.splits)), want)
		if err != nil {
			return err
		}
		j.splits = append(j.splits, e.Splits...)
		j.cursor, j.enumerated = e.Next, e.Done
	}
	return nil
}

// errAbandoned ends an attempt that the script gives up.
var errAbandoned = errors.New("the attempt is given up")

func (j *job) copySplit(ctx context.Context, src *Source, snk *Sink, split connector.Split, slot int) error {
	for n := uint32(0); ; n++ {
		giveUp := -1
		if j.abandon && split.ID%3 == 1 && n == 0 {
			giveUp = 3
		}
		err := j.attempt(ctx, src, snk, split, slot, connector.NewToken(j.epoch, uint32(split.ID)*4+n), giveUp)
		if !errors.Is(err, errAbandoned) {
			return err
		}
	}
}

// attempt commits after every second batch, and gives up after some batches.
func (j *job) attempt(ctx context.Context, src *Source, snk *Sink, split connector.Split, slot int, token connector.Token, giveUp int) (err error) {
	w, state, err := snk.Claim(ctx, connector.Attempt{
		Run: j.run, Split: split, Token: token, Slot: slot, State: j.states[split.ID],
		Reject: func(_ *batch.Batch, row int, column string, _ batch.Cause, reason string) {
			panic(fmt.Sprint(row, column, reason))
		},
	})
	if err != nil || w == nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r, err := src.Open(ctx, split, state.Position)
	if err != nil {
		return err
	}
	defer r.Close()
	schema, err := src.Schema(ctx)
	if err != nil {
		return err
	}
	var pool batch.Pool
	for batches := 1; ; batches++ {
		b := pool.Get(schema)
		err := r.Next(ctx, b)
		done := errors.Is(err, io.EOF)
		if err != nil && !done {
			return err
		}
		if !done {
			state.Counters.Read += b.Read
			if err := w.Write(ctx, b); err != nil {
				return err
			}
		}
		if batches == giveUp {
			return errAbandoned
		}
		if !done && batches%2 != 0 {
			continue
		}
		state.Position, _ = r.Position()
		state.Done = done
		if err := w.Flush(ctx); err != nil {
			return err
		}
		if state, err = w.Commit(ctx, state); err != nil {
			return err
		}
		stored := state
		stored.Segments = slices.Clone(state.Segments)
		j.states[split.ID] = stored
		if done {
			return nil
		}
	}
}
