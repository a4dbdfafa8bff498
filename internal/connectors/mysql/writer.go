package mysql

import (
	"context"
	"errors"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// chunkBytes is how much one LOAD DATA, and with it one savepoint, holds (a
// half of what exactness rule 6 allows, for two writers are to stay small), but
// for a single row that is larger; pieceBytes how much is encoded at a time.
const (
	chunkBytes = 4 << 20
	pieceBytes = 64 << 10
)

// writer writes the rows of one attempt. Rows are sent as soon as a piece is
// full; a chunk of them is one LOAD DATA under one savepoint. Batches are kept
// until their rows are judged, at the end of their chunk.
type writer struct {
	sink    *Sink
	session *session
	ledger  *ledger
	target  *target
	encoder *rowEncoder
	upsert  *upsert
	// place takes the rows: the table, its staging table, or upsert's.
	place name
	load  string
	// infile is nil where rows go by INSERT.
	infile  *infile
	inserts inserts

	chunk chunk

	database.Writing
}

func newWriter(k *Sink, s *session, t *target, attempt connector.Attempt, state connector.SplitState) *writer {
	w := &writer{
		sink: k, session: s, ledger: t.ledger, target: t, Writing: database.Writing{Attempt: attempt, Log: k.log, Progress: database.Progress{Durable: state}},
		encoder: newRowEncoder(t, k.options.TinyInt1), place: t.name,
	}
	switch k.options.Mode {
	case database.Overwrite:
		w.place = t.staging(attempt.Run.ID)
	case database.Upsert:
		w.upsert, w.Crowd = newUpsert(t, k.options.Nulls == database.NullsKeep), k.crowd
		w.place = w.upsert.name
	}
	w.inserts = newInserts(w)
	if k.loads(t) {
		w.infile = newInfile()
		w.load = loadStatement(w.infile.name, w.place, t.columns, w.encoder.forms)
	}
	return w
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
	c := &w.chunk
	c.Begin(b, 0)
	w.encoder.begin(b)
	for i := range b.Rows {
		if err := w.add(ctx, b, i); err != nil {
			return err
		}
		if len(c.Piece) >= pieceBytes {
			if err := w.sendPiece(ctx); err != nil {
				return err
			}
		}
		if c.Sent.Bytes >= chunkBytes {
			if err := w.finishChunk(ctx, b); err != nil {
				return err
			}
			c.Begin(b, i+1)
		}
	}
	return nil
}

// add makes row i of b the chunk's next.
func (w *writer) add(ctx context.Context, b *batch.Batch, i int) error {
	c := &w.chunk
	if w.infile == nil {
		// The INSERT judges it.
		c.Add(rowBytes(b, i))
		return nil
	}
	start := len(c.Piece)
	var column int
	var err error
	c.Piece, column, err = w.encoder.row(c.Piece, b, i)
	if errors.Is(err, errLarge) {
		return w.addLarge(ctx, b, i, start)
	}
	if err != nil {
		c.Reject(start)
		w.reject(b, i, w.encoder.columnName(column), causeHere(err), err.Error())
		return nil
	}
	c.Add(w.encoder.bytes)
	return nil
}

// addLarge is add for a row with a cell that fills pieces by itself.
func (w *writer) addLarge(ctx context.Context, b *batch.Batch, i, start int) error {
	c := &w.chunk
	c.Piece = c.Piece[:start]
	column, err := w.encoder.judgeLarge(c.Piece[start:], b, i)
	if err != nil {
		c.Reject(start)
		w.reject(b, i, w.encoder.columnName(column), causeHere(err), err.Error())
		return nil
	}
	c.Add(w.encoder.bytes)
	c.Piece, err = w.encoder.sendLarge(c.Piece, b, i, func(piece []byte) ([]byte, error) {
		c.Piece = piece
		err := w.sendPiece(ctx)
		return c.Piece, err
	})
	return err
}

// begin opens the transaction and takes the split's row for it, under the
// lock by which a newer claim finds out whom to end.
func (w *writer) begin(ctx context.Context) error {
	if w.Begun {
		return nil
	}
	if err := w.Enter(ctx); err != nil {
		return err
	}
	if w.ledger == nil {
		w.Begun = true
		return w.session.begin(ctx)
	}
	if err := w.lockSplit(ctx); err != nil {
		return err
	}
	w.Begun = true
	mine, err := w.ledger.hold(ctx, w.session, w.Attempt.Run.ID, w.Attempt.Split.ID, w.Attempt.Token)
	if err != nil {
		return err
	}
	if !mine && !w.sink.rules.CommitAnyway {
		return w.ledger.Fenced(ctx, w.session, w.Attempt)
	}
	return nil
}

// lockSplit takes the split's lock. Who holds it is an older attempt's session, and
// is ended, unless the split is not this attempt's any more.
func (w *writer) lockSplit(ctx context.Context) error {
	lock := w.ledger.splitLock(w.Attempt.Run.ID, w.Attempt.Split.ID)
	got, err := w.session.tryLock(ctx, lock, 0)
	if err != nil || got {
		return err
	}
	still := func(ctx context.Context, s *session) (bool, error) {
		_, err := w.ledger.Mine(ctx, s, w.Attempt.Run.ID, w.Attempt.Split.ID, w.Attempt.Token)
		if err != nil && connector.ClassOf(err) == connector.Fenced {
			return false, nil
		}
		return err == nil, err
	}
	mine, err := still(ctx, w.session)
	if err != nil {
		return err
	}
	if !mine && !w.sink.rules.IgnoreToken {
		return w.ledger.Fenced(ctx, w.session, w.Attempt)
	}
	return w.sink.evictor.lock(ctx, w.session, lock, still)
}

// leave lets go of the split's lock.
func (w *writer) leave(ctx context.Context) {
	if w.ledger != nil {
		w.session.unlock(ctx, w.ledger.splitLock(w.Attempt.Run.ID, w.Attempt.Split.ID))
	}
}

// sendPiece sends the rows that are encoded and not sent. What the server says
// against them is judged at the chunk's end.
func (w *writer) sendPiece(ctx context.Context) error {
	c := &w.chunk
	if len(c.Piece) == 0 {
		return nil
	}
	if !c.Started {
		if _, err := w.session.exec(ctx, "SAVEPOINT leat"); err != nil {
			return err
		}
		w.infile.start(ctx, w.session, w.load)
		c.Started = true
	}
	if c.refused != nil {
		c.Piece = c.Piece[:0]
		return nil
	}
	free, err := w.infile.send(ctx, c.Piece)
	c.Piece = free
	if refusesLocal(err) || w.judged(err) {
		c.refused, err = err, nil
	}
	return err
}

// finishChunk has the server judge the chunk's rows. current is the batch
// whose rows are still being added, or nil.
func (w *writer) finishChunk(ctx context.Context, current *batch.Batch) error {
	if w.chunk.Sent.Rows > 0 {
		if err := w.judge(ctx); err != nil {
			return err
		}
	}
	w.chunk.reset()
	w.Held.Release(current)
	return nil
}

func (w *writer) judge(ctx context.Context) error {
	if w.infile == nil {
		return w.inserts.all(ctx, w.chunk.Rows())
	}
	if err := w.sendPiece(ctx); err != nil {
		return err
	}
	err := w.chunk.refused
	if err == nil {
		var clean bool
		if clean, err = w.finishLoad(ctx); clean {
			return nil
		}
	}
	switch {
	case refusesLocal(err):
		w.sink.refusedLocal(err)
		w.infile.close()
		w.infile = nil
	case err != nil && !w.judged(err):
		return err
	}
	if _, err := w.session.exec(ctx, "ROLLBACK TO SAVEPOINT leat"); err != nil {
		return err
	}
	return w.inserts.all(ctx, w.chunk.Rows())
}

// finishLoad ends the chunk's LOAD DATA and reports whether the server took
// all rows as they were: it drops and changes rows with no more than a warning.
func (w *writer) finishLoad(ctx context.Context) (bool, error) {
	counted, err := w.infile.finish(ctx)
	if err != nil {
		return false, err
	}
	row, err := w.session.one(ctx, "SHOW COUNT(*) WARNINGS")
	if err != nil {
		return false, err
	}
	sent := w.chunk.Sent
	if (counted != sent.Rows || string(row[0]) != "0") && !w.sink.rules.trustLoad {
		return false, nil
	}
	if w.upsert != nil {
		err := w.merge(ctx, counted, sent.Bytes)
		return err == nil, err
	}
	w.wrote(counted, sent.Bytes)
	return true, nil
}

// wrote counts rows that the server took.
func (w *writer) wrote(rows, bytes int64) {
	w.Pending.Written += rows
	w.Pending.BytesWritten += bytes
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
	state = w.Next(state, w.Attempt)
	if err := w.commitWith(ctx, state); err != nil {
		return state, err
	}
	w.Begun = false
	w.leave(ctx)
	w.sink.fail("after-commit")
	w.Committed(state)
	return state, nil
}

// commitWith commits the rows and, where it is still the attempt's own, the
// split's state.
func (w *writer) commitWith(ctx context.Context, state connector.SplitState) error {
	if w.ledger == nil {
		return w.session.commit(ctx)
	}
	return w.ledger.Commit(ctx, w.Attempt, state, database.Ending{Session: w.session, Send: w.session.commit, Apart: w.sink.apart, Failpoint: w.sink.fail})
}

// done classes an error of the writer; any but none ends the attempt
// (exactness rule 4).
func (w *writer) done(doing string, err error) error {
	w.Ends(err, numberOf(err) == errDeadlock)
	return wrap(doing, err)
}

// Close implements connector.Writer.
func (w *writer) Close() error {
	if w.infile != nil {
		w.infile.close()
	}
	if w.Writing.Close(w.session.close) {
		return nil
	}
	w.sink.sessions.put(w.session)
	return nil
}
