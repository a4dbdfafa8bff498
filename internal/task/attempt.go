package task

import (
	"context"
	"errors"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// attempt is one try at a split.
type attempt struct {
	*Subtask
	split    connector.Split
	token    connector.Token
	observer Observer
	writer   connector.Writer
	part     *dirtyPart

	// durable is the last committed state; earlier are the dirty parts of
	// attempts before this one.
	durable connector.SplitState
	earlier []connector.DirtyPart
	// now counts what has been written since the split's start; its Written,
	// Merged and Refused are those of durable until a commit.
	now      connector.Counters
	position connector.Position
	seekable bool
	open     int64 // bytes not committed
	due      bool  // a commit, as soon as reading can go on behind it
	lastTold time.Time
	keepErr  error
	// format is what was measured of the split until durable; times and causes
	// go on with what is open.
	format connector.FormatState
	causes connector.CauseCounts
}

func (a *attempt) claim(ctx context.Context, from connector.SplitState) error {
	w, st, err := a.cfg.Sink.Claim(ctx, connector.Attempt{
		Run: a.cfg.Run, Split: a.split, Token: a.token, Slot: a.slot, State: from,
		Reject: a.rejectWritten,
	})
	if err != nil {
		if w != nil {
			err = errors.Join(err, w.Close())
		}
		return err
	}
	st.Split, st.Token = a.split.ID, a.token
	a.writer, a.durable, a.earlier = w, st, st.Dirty
	a.now, a.position = st.Counters, st.Position
	a.format = a.format.At(st)
	a.causes = a.format.Errors
	return nil
}

// copy reads the split into the writer, from the durable position to the end.
func (a *attempt) copy(ctx context.Context) error {
	r, err := a.openReader(ctx)
	if err != nil {
		return inSplit(a.split, err)
	}
	feedCtx, stop := context.WithCancel(ctx)
	f := newFeed(a.decorate(r), a.cfg.Schema, a.mapper, a.pool)
	go f.run(feedCtx)
	err = a.write(ctx, f)
	stop()
	if err != nil {
		_ = r.Close() // ends a Next that does not heed its context
	}
	for fed := range f.out {
		fed.batch.Release()
	}
	if cerr := r.Close(); err == nil && cerr != nil {
		err = inSplit(a.split, cerr)
	}
	return err
}

// openReader opens the split, for packed rows where both ends know a form for
// them and nothing is done to a record on its way.
func (a *attempt) openReader(ctx context.Context) (connector.Reader, error) {
	source, packs := a.cfg.Source.(connector.PackedSource)
	writer, takes := a.writer.(connector.PackedWriter)
	if fields, plain := a.mapper.Plain(); packs && takes && plain {
		p, err := source.Packing(ctx, fields)
		if err != nil {
			return nil, err
		}
		if p != nil && writer.TakesPacked(p) {
			return source.OpenPacked(ctx, a.split, a.durable.Position, p)
		}
	}
	return a.cfg.Source.Open(ctx, a.split, a.durable.Position)
}

func (a *attempt) write(ctx context.Context, f *feed) error {
	timer := time.NewTicker(a.cfg.CommitInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			a.due = true
			if err := a.commitDue(ctx); err != nil {
				return err
			}
		case fed, ok := <-f.out:
			if !ok {
				if f.err != nil {
					return inSplit(a.split, f.err)
				}
				return a.commit(ctx, true)
			}
			if err := a.take(ctx, fed); err != nil {
				return err
			}
			if a.due = a.due || a.open >= a.cfg.CommitBytes; !a.due {
				continue
			}
			if err := a.commitDue(ctx); err != nil {
				return err
			}
			if !a.due {
				timer.Reset(a.cfg.CommitInterval)
			}
		}
	}
}

// take writes one batch.
func (a *attempt) take(ctx context.Context, fed fedBatch) error {
	for i := range fed.batch.Rejects {
		a.reject(a.cfg.Schema, fed.batch.Rejects[i])
	}
	a.now.Read += fed.read
	a.now.Filtered += fed.filtered
	a.now.BytesRead += fed.bytes
	a.format.ReadTime += fed.readTime
	a.open += fed.bytes + 1
	a.position, a.seekable = fed.position, fed.seekable
	if fed.batch.Rows == 0 {
		fed.batch.Release()
	} else if err := a.writing(func() error { return a.writer.Write(ctx, fed.batch) }); err != nil {
		return inSplit(a.split, err)
	}
	if fed.taken != nil {
		close(fed.taken)
	}
	if a.keepErr != nil {
		return a.keepErr
	}
	if now := time.Now(); now.Sub(a.lastTold) >= a.cfg.ProgressInterval {
		a.lastTold = now
		a.observer.Progress(a.split.ID, a.token, a.now)
	}
	return nil
}

// decorate puts around a reader what a batch goes through before the mapper, in
// this order: it is measured as it was read, limited, and counted. Off, the limit
// is one look at a flag.
func (a *attempt) decorate(r connector.Reader) *limited {
	return &limited{measured: measured{Reader: r, numbers: a.numbers}, limiter: a.limiter, pool: a.pool}
}

// writing measures the time that something takes in the target.
func (a *attempt) writing(do func() error) error {
	began := time.Now()
	err := do()
	took := time.Since(began)
	a.format.WriteTime += took
	a.numbers.writeTime.Add(took)
	return err
}

// rejectWritten is the writer's way to refuse a row.
func (a *attempt) rejectWritten(b *batch.Batch, row int, column string, cause batch.Cause, reason string) {
	if cause == batch.CauseUntold {
		cause = causeOf(b, row, column)
	}
	a.reject(b.Schema, batch.Reject{
		Where: describe(b, row), Column: column, Reason: reason, Cause: cause, Names: b.Schema.Names(), Values: b.Row(row),
	})
}

// causeOf is what a row shows of why the target refused it: a NULL in the column
// at fault, or something else.
func causeOf(b *batch.Batch, row int, column string) batch.Cause {
	for i := range b.Columns {
		if b.Schema.Fields[i].Name == column && b.Columns[i].IsNull(row) {
			return batch.CauseNull
		}
	}
	return batch.CauseOther
}

// reject keeps a dirty record and tells of it at once, so that a job over its
// limit ends before it reads on.
func (a *attempt) reject(schema *batch.Schema, r batch.Reject) {
	a.now.Dirty++
	*causeCount(&a.causes, r.Cause)++
	a.numbers.dirty(r.Cause)
	if err := a.part.add(schema, r); err != nil && a.keepErr == nil {
		a.keepErr = err
	}
	a.observer.Dirty(r)
	a.observer.Progress(a.split.ID, a.token, a.now)
}

// commitDue makes the commit that is due where reading could go on; elsewhere it
// stays due.
func (a *attempt) commitDue(ctx context.Context) error {
	switch {
	case a.open == 0:
		a.due = false
		return nil
	case !a.seekable:
		return nil
	}
	a.due = false
	return a.commit(ctx, false)
}

func (a *attempt) commit(ctx context.Context, done bool) error {
	began := time.Now()
	if err := a.writing(func() error { return a.writer.Flush(ctx) }); err != nil {
		return inSplit(a.split, err)
	}
	for {
		st, err := a.commitState(done)
		if err != nil {
			return err
		}
		var committed connector.SplitState
		err = a.writing(func() (err error) { committed, err = a.writer.Commit(ctx, st); return err })
		if errors.Is(err, connector.ErrAgain) {
			continue
		}
		if err != nil {
			return inSplit(a.split, err)
		}
		committed.Split, committed.Token = a.split.ID, a.token
		a.numbers.committed(a.durable, committed, time.Since(began))
		a.durable, a.now, a.open = committed, committed.Counters, 0
		a.format.Errors, a.format.Rates = a.causes, a.numbers.Rates()
		a.format = a.format.At(committed)
		a.observer.Durable(committed, a.format)
		return nil
	}
}

// commitState syncs the dirty records and returns the state to commit.
func (a *attempt) commitState(done bool) (connector.SplitState, error) {
	st := a.durable
	if a.keepErr != nil {
		return st, a.keepErr
	}
	part, some, err := a.part.sync()
	if err != nil {
		return st, err
	}
	st.Dirty = a.earlier
	if some {
		st.Dirty = append(a.earlier[:len(a.earlier):len(a.earlier)], part)
	}
	st.Position, st.Done = a.position, done
	st.Counters.Read, st.Counters.Filtered = a.now.Read, a.now.Filtered
	st.Counters.Dirty, st.Counters.BytesRead = a.now.Dirty, a.now.BytesRead
	return st, nil
}
