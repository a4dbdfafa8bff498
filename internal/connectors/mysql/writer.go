package mysql

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
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
	attempt connector.Attempt
	encoder *rowEncoder
	upsert  *upsert
	// place takes the rows: the table, its staging table, or upsert's.
	place name
	load  string
	// infile is nil where rows go by INSERT.
	infile  *infile
	inserts inserts

	begun bool // a transaction is open, under the split's lock
	chunk chunk
	held  []*batch.Batch

	durable connector.SplitState
	// pending counts what is judged and not committed.
	pending connector.Counters
	failed  bool
	closed  bool
}

func newWriter(k *Sink, s *session, t *target, attempt connector.Attempt, state connector.SplitState) *writer {
	w := &writer{
		sink: k, session: s, ledger: t.ledger, target: t, attempt: attempt, durable: state,
		encoder: newRowEncoder(t, k.options.TinyInt1), place: t.name,
	}
	switch k.options.Mode {
	case modeOverwrite:
		w.place = t.staging(attempt.Run.ID)
	case modeUpsert:
		w.upsert = newUpsert(t, k.options.Nulls == nullsKeep)
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
	if w.failed || w.closed {
		b.Release()
		return errWriterOver
	}
	if b.Rows == 0 {
		b.Release()
		return nil
	}
	w.held = append(w.held, b)
	return w.done("write to "+w.target.name.String(), w.write(ctx, b))
}

// errWriterOver is the error of a writer that is used after its end.
var errWriterOver = connector.Errorf(connector.Permanent, "the writer has failed or is closed")

func (w *writer) write(ctx context.Context, b *batch.Batch) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	c := &w.chunk
	c.begin(b, 0)
	w.encoder.begin(b)
	for i := range b.Rows {
		if err := w.add(ctx, b, i); err != nil {
			return err
		}
		if len(c.piece) >= pieceBytes {
			if err := w.sendPiece(ctx); err != nil {
				return err
			}
		}
		if c.sent.bytes >= chunkBytes {
			if err := w.finishChunk(ctx, b); err != nil {
				return err
			}
			c.begin(b, i+1)
		}
	}
	return nil
}

// add makes row i of b the chunk's next.
func (w *writer) add(ctx context.Context, b *batch.Batch, i int) error {
	c := &w.chunk
	if w.infile == nil {
		// The INSERT judges it.
		c.add(rowBytes(b, i))
		return nil
	}
	start := len(c.piece)
	var column int
	var err error
	c.piece, column, err = w.encoder.row(c.piece, b, i)
	if errors.Is(err, errLarge) {
		return w.addLarge(ctx, b, i, start)
	}
	if err != nil {
		c.reject(start)
		w.reject(b, i, w.encoder.columnName(column), err.Error())
		return nil
	}
	c.add(w.encoder.bytes)
	return nil
}

// addLarge is add for a row with a cell that fills pieces by itself.
func (w *writer) addLarge(ctx context.Context, b *batch.Batch, i, start int) error {
	c := &w.chunk
	c.piece = c.piece[:start]
	column, err := w.encoder.judgeLarge(c.piece[start:], b, i)
	if err != nil {
		c.reject(start)
		w.reject(b, i, w.encoder.columnName(column), err.Error())
		return nil
	}
	c.add(w.encoder.bytes)
	c.piece, err = w.encoder.sendLarge(c.piece, b, i, func(piece []byte) ([]byte, error) {
		c.piece = piece
		err := w.sendPiece(ctx)
		return c.piece, err
	})
	return err
}

// begin opens the transaction and takes the split's row for it, under the
// lock by which a newer claim finds out whom to end.
func (w *writer) begin(ctx context.Context) error {
	if w.begun {
		return nil
	}
	if w.ledger == nil {
		w.begun = true
		return w.session.begin(ctx)
	}
	if err := w.enter(ctx); err != nil {
		return err
	}
	w.begun = true
	mine, err := w.ledger.hold(ctx, w.session, w.attempt.Run.ID, w.attempt.Split.ID, w.attempt.Token)
	if err != nil {
		return err
	}
	if !mine && !w.sink.rules.commitAnyway {
		return w.ledger.fenced(ctx, w.session, w.attempt)
	}
	return nil
}

// enter takes the split's lock. Who holds it is an older attempt's session, and
// is ended, unless the split is not this attempt's any more.
func (w *writer) enter(ctx context.Context) error {
	lock := w.ledger.splitLock(w.attempt.Run.ID, w.attempt.Split.ID)
	got, err := w.session.tryLock(ctx, lock, 0)
	if err != nil || got {
		return err
	}
	still := func(ctx context.Context, s *session) (bool, error) {
		_, err := w.ledger.mine(ctx, s, w.attempt.Run.ID, w.attempt.Split.ID, w.attempt.Token)
		if err != nil && connector.ClassOf(err) == connector.Fenced {
			return false, nil
		}
		return err == nil, err
	}
	mine, err := still(ctx, w.session)
	if err != nil {
		return err
	}
	if !mine && !w.sink.rules.ignoreToken {
		return w.ledger.fenced(ctx, w.session, w.attempt)
	}
	return w.sink.evictor.lock(ctx, w.session, lock, still)
}

// leave lets go of the split's lock.
func (w *writer) leave(ctx context.Context) {
	if w.ledger != nil {
		w.session.unlock(ctx, w.ledger.splitLock(w.attempt.Run.ID, w.attempt.Split.ID))
	}
}

// sendPiece sends the rows that are encoded and not sent. What the server says
// against them is judged at the chunk's end.
func (w *writer) sendPiece(ctx context.Context) error {
	c := &w.chunk
	if len(c.piece) == 0 {
		return nil
	}
	if !c.started {
		if _, err := w.session.exec(ctx, "SAVEPOINT leat"); err != nil {
			return err
		}
		w.infile.start(ctx, w.session, w.load)
		c.started = true
	}
	if c.refused != nil {
		c.piece = c.piece[:0]
		return nil
	}
	free, err := w.infile.send(ctx, c.piece)
	c.piece = free
	if refusesLocal(err) || w.judged(err) {
		c.refused, err = err, nil
	}
	return err
}

// finishChunk has the server judge the chunk's rows. current is the batch
// whose rows are still being added, or nil.
func (w *writer) finishChunk(ctx context.Context, current *batch.Batch) error {
	if w.chunk.sent.rows > 0 {
		if err := w.judge(ctx); err != nil {
			return err
		}
	}
	w.chunk.reset()
	w.release(current)
	return nil
}

func (w *writer) judge(ctx context.Context) error {
	if w.infile == nil {
		return w.inserts.all(ctx, w.chunk.rows())
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
	return w.inserts.all(ctx, w.chunk.rows())
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
	sent := w.chunk.sent
	if (counted != sent.rows || string(row[0]) != "0") && !w.sink.rules.trustLoad {
		return false, nil
	}
	if w.upsert != nil {
		err := w.merge(ctx, counted, sent.bytes)
		return err == nil, err
	}
	w.wrote(counted, sent.bytes)
	return true, nil
}

// wrote counts rows that the server took.
func (w *writer) wrote(rows, bytes int64) {
	w.pending.Written += rows
	w.pending.BytesWritten += bytes
}

// release gives batches back, but for current.
func (w *writer) release(current *batch.Batch) {
	for _, b := range w.held {
		if b != current {
			b.Release()
		}
	}
	clear(w.held)
	w.held = w.held[:0]
	if current != nil {
		w.held = append(w.held, current)
	}
}

func (w *writer) reject(b *batch.Batch, row int, column, reason string) {
	w.attempt.Reject(b, row, column, reason)
}

// Flush implements connector.Writer.
func (w *writer) Flush(ctx context.Context) error {
	if w.failed || w.closed {
		return errWriterOver
	}
	return w.done("write to "+w.target.name.String(), w.finishChunk(ctx, nil))
}

// Commit implements connector.Writer (exactness rule 3).
func (w *writer) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if w.failed || w.closed {
		return connector.SplitState{}, errWriterOver
	}
	durable, err := w.commit(ctx, state)
	if err = w.done(fmt.Sprintf("commit split %d to %s", w.attempt.Split.ID, w.target.name), err); err != nil {
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
	before := w.durable
	state.Split, state.Token, state.CommitNo = w.attempt.Split.ID, w.attempt.Token, before.CommitNo+1
	state.Counters.Written = before.Counters.Written + w.pending.Written
	state.Counters.Merged = before.Counters.Merged + w.pending.Merged
	state.Counters.Refused = before.Counters.Refused
	state.Counters.BytesWritten = before.Counters.BytesWritten + w.pending.BytesWritten
	if err := w.commitWith(ctx, state); err != nil {
		return state, err
	}
	w.begun = false
	w.leave(ctx)
	w.sink.fail("after-commit")
	w.durable, w.pending = state, connector.Counters{}
	return state, nil
}

// commitWith commits the rows and, where it is still the attempt's own, the
// split's state.
func (w *writer) commitWith(ctx context.Context, state connector.SplitState) error {
	switch rules := w.sink.rules; {
	case w.ledger == nil:
	case rules.positionFirst:
		return w.commitPositionFirst(ctx, state)
	case rules.positionLast:
		return w.commitPositionLast(ctx, state)
	}
	if w.ledger == nil {
		return w.session.commit(ctx)
	}
	found, err := w.ledger.advance(ctx, w.session, w.attempt.Run.ID, state)
	if err != nil {
		return err
	}
	if found != 1 && !w.sink.rules.commitAnyway {
		return w.ledger.fenced(ctx, w.session, w.attempt)
	}
	w.sink.fail("before-commit")
	return w.session.commit(ctx)
}

// done classes an error of the writer; any but none ends the attempt
// (exactness rule 4).
func (w *writer) done(doing string, err error) error {
	if err != nil {
		w.failed = true
	}
	return wrap(doing, err)
}

// Close implements connector.Writer.
func (w *writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	if w.infile != nil {
		w.infile.close()
	}
	w.release(nil)
	if w.failed || w.begun {
		w.session.close()
	}
	w.sink.sessions.put(w.session)
	return nil
}
