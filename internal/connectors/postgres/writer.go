package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// copyBytes is how much one COPY, and with it one savepoint, holds at most (a
// half of what exactness rule 5 allows, for two writers are to stay small),
// but for a single row that is larger; packedBytes is that of packed rows, of
// which there is no other copy; pieceBytes how much is sent at a time.
const (
	copyBytes   = 4 << 20
	packedBytes = 8 << 20
	pieceBytes  = 64 << 10
)

// writer writes the rows of one attempt. Rows are sent as soon as a piece is
// full; a chunk of them is one COPY under one savepoint. Batches are kept
// until their rows are judged: with deferrable constraints that is at the
// commit, else at the end of their chunk.
type writer struct {
	sink    *Sink
	session *session
	ledger  *ledger
	target  *target
	encoder *rowEncoder
	copy    copyIn
	// statement is the COPY; table the name in its errors.
	statement string
	table     string
	upsert    *upsert

	savepoint bool // that of an earlier chunk is open
	chunk     *chunk
	// kept are batches of earlier chunks that only the commit judges.
	kept []database.Row

	database.Writing
}

func newWriter(k *Sink, s *session, l *ledger, t *target, attempt connector.Attempt, state connector.SplitState) *writer {
	w := &writer{
		sink: k, session: s, ledger: l, target: t, Writing: database.Writing{Attempt: attempt, Log: k.log, Progress: database.Progress{Durable: state}},
		encoder: newRowEncoder(t.columns, t.server), chunk: &s.chunk,
	}
	w.chunk.reset()
	w.copy = copyIn{session: s, binary: w.encoder.binary}
	place := t.name
	switch k.options.Mode {
	case database.Overwrite:
		place = t.staging(attempt.Run.ID)
	case database.Upsert:
		w.upsert, w.Crowd = newUpsert(t, k.options.Nulls == database.NullsKeep), k.crowd
		place = w.upsert.name
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	format := "text"
	if w.encoder.binary {
		format = "binary"
	}
	w.table = place.table
	w.statement = "COPY " + place.String() + " (" + quoteNames(names) + ") FROM STDIN (FORMAT " + format + ")"
	return w
}

// TakesPacked implements connector.PackedWriter.
func (w *writer) TakesPacked(p batch.Packing) bool {
	from, ok := p.(*packing)
	if !ok || !w.encoder.binary || len(from.columns) != len(w.target.columns) {
		return false
	}
	for i, to := range w.target.columns {
		if !passes(&from.columns[i], to) {
			return false
		}
	}
	return true
}

// Write implements connector.Writer.
func (w *writer) Write(ctx context.Context, b *batch.Batch) error {
	if some, err := w.Take(b); err != nil || !some {
		return err
	}
	return w.done("write to "+w.target.name.String(), w.write(ctx, b))
}

func (w *writer) write(ctx context.Context, b *batch.Batch) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	most := int64(copyBytes)
	if b.Packing != nil {
		most = packedBytes
	}
	c := w.chunk
	c.Begin(b, 0)
	w.encoder.begin(b)
	for i := range b.Rows {
		if err := w.add(ctx, b, i); err != nil {
			return err
		}
		if len(c.Piece) < pieceBytes && c.Sent.Bytes < most {
			continue
		}
		if err := w.sendPiece(ctx); err != nil {
			return err
		}
		if c.Sent.Bytes >= most {
			if err := w.finishChunk(ctx, b); err != nil {
				return err
			}
			c.Begin(b, i+1)
		}
	}
	return nil
}

// add makes row i of a batch the next of the chunk, or rejects it.
func (w *writer) add(ctx context.Context, b *batch.Batch, i int) error {
	if b.Packing != nil {
		return w.addPacked(ctx, b.PackedRow(i))
	}
	c := w.chunk
	start := c.next()
	var column int
	var err error
	if c.Piece, column, err = w.encoder.row(c.Piece, b, i); err != nil {
		c.Reject(start)
		w.reject(b, i, w.encoder.columns[column].name, causeHere(err), err.Error())
		return nil
	}
	c.Add(int64(len(c.Piece) - start))
	return nil
}

// addPacked is add for a packed row. What of it fills pieces by itself is sent
// at once, so that a huge one is not copied whole.
func (w *writer) addPacked(ctx context.Context, row []byte) error {
	c := w.chunk
	for len(row) > pieceBytes {
		c.next()
		c.Piece = append(c.Piece, row[:pieceBytes]...)
		c.Sent.Bytes += pieceBytes
		row = row[pieceBytes:]
		if err := w.sendPiece(ctx); err != nil {
			return err
		}
	}
	start := c.next()
	c.Piece = append(c.Piece, row...)
	c.Add(int64(len(c.Piece) - start))
	return nil
}

// begin opens the transaction and takes the split's row for it.
func (w *writer) begin(ctx context.Context) error {
	if w.Begun {
		return nil
	}
	if err := w.Enter(ctx); err != nil {
		return err
	}
	mine, err := w.ledger.hold(ctx, w.session, w.Attempt.Run.ID, w.Attempt.Split.ID, w.Attempt.Token)
	if err != nil {
		return err
	}
	if !mine && !w.sink.rules.CommitAnyway {
		return w.ledger.Fenced(ctx, w.session, w.Attempt)
	}
	w.Begun, w.savepoint = true, false
	return nil
}

// sendPiece sends the rows that are encoded and not sent.
func (w *writer) sendPiece(ctx context.Context) error {
	piece := w.chunk.take()
	if piece == nil {
		return nil
	}
	if !w.chunk.Started {
		if err := w.copy.start(ctx, w.savepointSQL()+"; "+w.statement); err != nil {
			return err
		}
		w.chunk.Started = true
	}
	return w.copy.send(ctx, piece)
}

// savepointSQL makes a savepoint in the place of the one before.
func (w *writer) savepointSQL() string {
	if w.savepoint {
		return "RELEASE SAVEPOINT leat; SAVEPOINT leat"
	}
	w.savepoint = true
	return "SAVEPOINT leat"
}

// finishChunk has the server judge the chunk's rows. current is the batch
// whose rows are still being added, or nil.
func (w *writer) finishChunk(ctx context.Context, current *batch.Batch) error {
	if err := w.sendPiece(ctx); err != nil {
		return err
	}
	if !w.chunk.Started {
		w.forget(nil, current)
		return nil
	}
	var rows []database.Row
	counted, err := w.copy.finish(ctx)
	if err == nil {
		err = w.loaded(ctx, counted, w.chunk.Sent)
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		rows = w.chunk.Rows()
		err = w.recover(ctx, rows, pg)
	}
	if err != nil {
		return err
	}
	if rows == nil && w.target.relation.deferrable {
		rows = w.chunk.Rows()
	}
	w.forget(rows, current)
	return nil
}

// loaded counts rows that the server took.
func (w *writer) loaded(ctx context.Context, counted int64, sent database.Load) error {
	if w.upsert != nil {
		merged, refused, err := w.upsert.merge(ctx, w.session, counted)
		if err != nil {
			return err
		}
		w.Pending.Merged += merged
		w.Pending.Refused += refused
		counted -= merged + refused
	} else {
		if counted > sent.Rows {
			return connector.Errorf(connector.Fatal, "the server counted %d rows of %d sent", counted, sent.Rows)
		}
		w.Pending.Refused += sent.Rows - counted
	}
	w.Pending.Written += counted
	w.Pending.BytesWritten += w.encoder.payload(sent)
	if w.Pending.Refused > 0 && !w.sink.options.AllowRefused {
		return connector.Errorf(connector.Permanent, "triggers of %s skipped %d rows; allow_refused lets them", w.target.name, w.Pending.Refused)
	}
	return nil
}

// forget drops the judged chunk, whose rows are given where they are needed,
// and releases its batches, but for current.
func (w *writer) forget(rows []database.Row, current *batch.Batch) {
	if w.target.relation.deferrable {
		for _, r := range rows {
			if r.Batch != nil {
				w.kept = append(w.kept, r)
			}
		}
	} else {
		w.Held.Release(current)
	}
	w.chunk.reset()
}

func (w *writer) reject(b *batch.Batch, row int, column string, cause batch.Cause, reason string) {
	w.Attempt.Reject(b, row, column, cause, reason)
}

// Flush implements connector.Writer.
func (w *writer) Flush(ctx context.Context) error {
	if err := w.Over(); err != nil {
		return err
	}
	return w.done("write to "+w.target.name.String(), w.finishChunk(ctx, nil))
}

// Commit implements connector.Writer (exactness rule 3).
func (w *writer) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := w.Over(); err != nil {
		return connector.SplitState{}, err
	}
	durable, err := w.commit(ctx, state)
	if errors.Is(err, connector.ErrAgain) {
		return connector.SplitState{}, err
	}
	if err = w.done("commit to "+w.target.name.String(), err); err != nil {
		return connector.SplitState{}, err
	}
	return durable, nil
}

func (w *writer) commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := w.begin(ctx); err != nil {
		return state, err
	}
	if err := w.finishChunk(ctx, nil); err != nil {
		return state, err
	}
	if w.target.relation.deferrable {
		if err := w.judgeDeferred(ctx); err != nil {
			return state, err
		}
	}
	state = w.Next(state, w.Attempt)
	if err := w.commitWith(ctx, state); err != nil {
		return state, err
	}
	w.sink.fail("after-commit")
	w.Begun, w.savepoint = false, false
	w.Committed(state)
	w.kept = w.kept[:0]
	w.Held.Release(nil)
	return state, nil
}

// commitWith commits the rows and, where it is still the attempt's own, the
// split's state.
func (w *writer) commitWith(ctx context.Context, state connector.SplitState) error {
	return w.ledger.Commit(ctx, w.Attempt, state, database.Ending{Session: w.session, Send: w.session.commit, Apart: w.sink.apart, Failpoint: w.sink.fail})
}

// done classes an error of the writer; any but none ends the attempt
// (exactness rule 4).
func (w *writer) done(doing string, err error) error {
	w.Ends(err, isDeadlock(err))
	return wrap(doing, err)
}

// Close implements connector.Writer.
func (w *writer) Close() error {
	if w.Writing.Close(w.session.close) {
		return nil
	}
	w.sink.sessions.put(w.session)
	return nil
}
