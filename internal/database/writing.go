package database

import (
	"context"
	"log/slog"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Writing is what the writers of one attempt have in common, whatever their
// server: one of them embeds it. It belongs to the writer's goroutine.
type Writing struct {
	Attempt connector.Attempt
	Progress
	// Held are the batches whose rows are not judged yet.
	Held Held
	// Begun says that a transaction is open.
	Begun bool
	// Crowd is that of an upsert's writers; nil for others.
	Crowd *Crowd
	Log   *slog.Logger

	leave          func()
	failed, closed bool
}

// Over is ErrWriterOver once the writer has failed or is closed.
func (w *Writing) Over() error {
	if w.failed || w.closed {
		return ErrWriterOver
	}
	return nil
}

// Take takes a batch over; some is false when it has nothing to write, or
// nobody to write it.
func (w *Writing) Take(b *batch.Batch) (some bool, err error) {
	if err = w.Over(); err != nil || b.Rows == 0 {
		b.Release()
		return false, err
	}
	w.Held.Add(b)
	return true, nil
}

// Enter waits until a transaction may begin.
func (w *Writing) Enter(ctx context.Context) (err error) {
	if w.Crowd != nil && w.leave == nil {
		w.leave, err = w.Crowd.Enter(ctx, w.Attempt.Split.ID)
	}
	return err
}

// Committed notes that the transaction has ended and a state is durable.
func (w *Writing) Committed(state connector.SplitState) {
	w.Begun = false
	w.left()
	w.Progress.Committed(state)
}

// Ends notes an error, any of which ends the attempt (exactness rule 4).
func (w *Writing) Ends(err error, deadlock bool) {
	if err == nil {
		return
	}
	w.failed = true
	if w.Crowd != nil && deadlock {
		w.Crowd.Clashed(w.Attempt.Split.ID)
		w.Log.Warn("a deadlock has ended a transaction; its split is written alone from now on", "split", w.Attempt.Split.ID)
	}
}

// Close releases what is held; end ends the session of an open transaction, or
// of one that is in doubt. It reports whether it was closed before.
func (w *Writing) Close(end func()) (again bool) {
	if w.closed {
		return true
	}
	w.closed = true
	w.Held.Release(nil)
	if w.failed || w.Begun {
		end()
	}
	w.left()
	return false
}

func (w *Writing) left() {
	if w.leave != nil {
		w.leave()
		w.leave = nil
	}
}
