package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

const (
	// maxParameters is SQLite's limit of parameters in a statement.
	maxParameters = 32766
	// rowsPerInsert is where more rows in one INSERT made nothing faster.
	rowsPerInsert = 50
)

// writer writes the records of one attempt, in a transaction that lasts from
// the first record after a commit to the next commit.
type writer struct {
	sink    *Sink
	conn    *native.Conn
	target  *target
	attempt connector.Attempt
	// base is what is durable.
	base connector.SplitState
	// writing says that a transaction is open and the sink's gate is held.
	writing bool
	broken  bool

	inserter *inserter
}

// claim makes the attempt the split's owner in a transaction of its own.
func (w *writer) claim(ctx context.Context) (connector.SplitState, error) {
	err := w.sink.db.write(ctx, w.conn, func() error {
		m, err := w.sink.ledger.takes(w.conn, w.attempt.Run.ID)
		if err != nil {
			return err
		}
		w.base, err = w.sink.ledger.claim(w.conn, m.id, w.attempt.Split.ID, w.attempt.Token)
		if err != nil || w.base.Done {
			return err
		}
		w.inserter, err = newInserter(w.conn, w.sink, w.target, m.into(w.target), w.attempt.Reject)
		return err
	})
	return w.base, err
}

// begin opens the transaction that the next records go into.
func (w *writer) begin(ctx context.Context) error {
	if w.broken {
		return connector.Errorf(connector.Retryable, "the attempt has ended with an error before")
	}
	if w.writing {
		return nil
	}
	if err := w.sink.enter(ctx, w.sink.db.wait); err != nil {
		return err
	}
	defer w.conn.Watch(ctx)()
	if err := w.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		w.sink.leave()
		return w.sink.db.interrupted(ctx, err)
	}
	w.writing = true
	if err := w.owns(); err != nil {
		return w.end(w.sink.db.interrupted(ctx, err))
	}
	return nil
}

// owns is Fenced when the split has a newer attempt or the run has ended.
// Nobody else can change that once the transaction has begun.
func (w *writer) owns() error {
	state, ok, err := w.sink.ledger.state(w.conn, w.attempt.Run.ID, w.attempt.Split.ID)
	if w.sink.ledger.rules.ignoreToken || w.sink.ledger.rules.commitAnyway {
		return err
	}
	switch {
	case err != nil:
		return err
	case !ok:
		return w.sink.ledger.missing(w.conn, w.attempt.Run.ID, w.attempt.Split.ID)
	case state.Token != w.attempt.Token:
		return connector.TakenElsewhere(w.attempt.Run.ID, w.attempt.Split.ID, state.Token)
	}
	return nil
}

// end gives up the transaction; the attempt is over.
func (w *writer) end(cause error) error {
	w.broken = true
	if !w.writing {
		return cause
	}
	w.writing = false
	defer w.sink.leave()
	return errors.Join(cause, rollback(w.conn))
}

// Write inserts the batch's records. Those that the table refuses are
// rejected by the time it returns.
func (w *writer) Write(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if err := w.begin(ctx); err != nil {
		return err
	}
	stop := w.conn.Watch(ctx)
	// A full cache is written to the file when no one reads it. While someone
	// does it may grow; to wait for each of its pages would stop everything.
	w.conn.SetWait(0)
	err := w.inserter.insert(b)
	w.conn.SetWait(w.sink.db.wait)
	stop()
	if err != nil {
		return w.end(w.sink.db.interrupted(ctx, err))
	}
	return nil
}

// Flush has nothing to wait for: Write has judged all records.
func (w *writer) Flush(ctx context.Context) error { return ctx.Err() }

// Commit makes the records durable with the state (exactness rule 3).
func (w *writer) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := w.begin(ctx); err != nil {
		return connector.SplitState{}, err
	}
	next := w.next(state)
	stop := w.conn.Watch(ctx)
	err := w.commitWith(next)
	stop()
	if err != nil {
		return connector.SplitState{}, w.end(w.sink.db.interrupted(ctx, err))
	}
	w.writing = false
	w.sink.leave()
	w.base = next
	w.inserter.counts = connector.Counters{}
	w.sink.failpoint("after-commit")
	return next, nil
}

// commitWith commits the records and, where it is still the attempt's own, the
// split's state.
func (w *writer) commitWith(next connector.SplitState) error {
	if w.sink.ledger.rules.positionLast {
		return w.commitPositionLast(next)
	}
	if err := w.sink.ledger.commit(w.conn, w.attempt.Run.ID, next); err != nil {
		return err
	}
	w.sink.failpoint("before-commit")
	return w.sink.db.readByUs(w.conn.Exec("COMMIT"))
}

// next is the state with what the writer knows of it.
func (w *writer) next(state connector.SplitState) connector.SplitState {
	p := database.Progress{Durable: w.base, Pending: w.inserter.counts}
	state = p.Next(state, w.attempt)
	state.Segments = nil
	return state
}

// Close gives up what is not committed.
func (w *writer) Close() error {
	if w.conn == nil {
		return nil
	}
	err := w.end(nil)
	if w.inserter != nil {
		w.inserter.close()
	}
	err = errors.Join(err, w.conn.Close())
	w.conn = nil
	return w.sink.db.classed(err)
}

// insertStatement is the INSERT of so many rows.
func (s *Sink) insertStatement(tg *target, into string, rows int) string {
	names := tg.names()
	row := "(?" + strings.Repeat(", ?", len(names)-1) + ")"
	sql := fmt.Sprintf("INSERT OR ABORT INTO %s (%s) VALUES %s%s", quote(into), quoteAll(names), row, strings.Repeat(", "+row, rows-1))
	if s.options.Mode != database.Upsert {
		return sql
	}
	var sets []string
	for _, name := range names {
		switch q := quote(name); {
		case containsFold(tg.key, name):
		case s.options.Nulls == database.NullsKeep:
			sets = append(sets, q+" = coalesce(excluded."+q+", "+q+")")
		default:
			sets = append(sets, q+" = excluded."+q)
		}
	}
	if len(sets) == 0 {
		// Every column is in the key: the row is updated to what it is, so that it counts.
		sets = []string{quote(tg.key[0]) + " = excluded." + quote(tg.key[0])}
	}
	return sql + " ON CONFLICT (" + quoteAll(tg.key) + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
