package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// reader reads one split in one snapshot: that of its one SELECT.
type reader struct {
	source   *Source
	relation *relation
	decoders []decoder

	closed atomic.Bool
	mu     sync.Mutex // held while the connection is used
	conn   *native.Conn
	stmt   *native.Stmt
	// last is the rowid of the last row, or its key.
	last    int64
	lastKey [][]byte
	started bool
	ended   bool
}

func openReader(ctx context.Context, s *Source, r *relation, sp spec) (*reader, error) {
	sql, args, err := s.statement(r, sp)
	if err != nil {
		return nil, err
	}
	rd := &reader{source: s, relation: r, lastKey: make([][]byte, len(r.key))}
	for _, col := range r.columns {
		col, loose := s.typed(col)
		d, err := newDecoder(col, s.targetOf(col.name))
		d.loose = loose
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", col.name, err)
		}
		rd.decoders = append(rd.decoders, d)
	}
	if rd.conn, err = s.db.openRead(); err != nil {
		return nil, err
	}
	defer rd.conn.Watch(ctx)()
	if rd.stmt, err = rd.conn.Prepare(sql); err == nil {
		err = rd.stmt.Bind(args...)
	}
	if err != nil {
		return nil, s.db.interrupted(ctx, errors.Join(err, rd.Close()))
	}
	return rd, nil
}

// Next fills b with the next rows. The end is proved by SQLite's own word for
// it, SQLITE_DONE.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed.Load() {
		return os.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.ended {
		return io.EOF
	}
	stop := r.conn.Watch(ctx)
	err := r.fill(b)
	stop()
	switch {
	case r.closed.Load():
		return os.ErrClosed
	case err != nil:
		return r.source.db.interrupted(ctx, err)
	case len(b.Spans) == 0 && len(b.Rejects) == 0:
		return io.EOF
	}
	b.Seal()
	b.Bytes = int64(len(b.Buf))
	return nil
}

// fill takes rows until the batch is full or the last is taken.
func (r *reader) fill(b *batch.Batch) error {
	rejected := 0
	for !b.Full() && len(b.Rejects) < batch.MaxRows && rejected < batch.MaxBytes {
		row, err := r.stmt.Step()
		if err != nil {
			return err
		}
		if !row {
			r.ended = true
			return nil
		}
		if r.closed.Load() {
			return os.ErrClosed
		}
		r.note()
		if !r.decode(b) {
			rejected += rejectSize(b.Rejects[len(b.Rejects)-1])
		}
	}
	return nil
}

// decode adds the row to the batch, or to its rejects.
func (r *reader) decode(b *batch.Batch) bool {
	buf, spans := len(b.Buf), len(b.Spans)
	for i := range r.decoders {
		if err := r.decoders[i].append(b, r.stmt, i); err != nil {
			b.Buf, b.Spans = b.Buf[:buf], b.Spans[:spans]
			b.Rejects = append(b.Rejects, r.reject(i, err))
			return false
		}
	}
	return true
}

// reject tells of a row with a value that its column's type has no room for.
func (r *reader) reject(column int, err error) batch.Reject {
	rj := batch.Reject{Where: r.where(), Column: r.relation.columns[column].name, Reason: err.Error()}
	for i := range r.decoders {
		rj.Values = append(rj.Values, plainText(r.stmt, i))
	}
	return rj
}

func rejectSize(r batch.Reject) int {
	n := 0
	for _, v := range r.Values {
		n += len(v)
	}
	return n
}

// note keeps the row's rowid or key.
func (r *reader) note() {
	r.started = true
	at := len(r.decoders)
	switch {
	case r.relation.rowid != "":
		r.last = r.stmt.Int64(at)
	case r.relation.key != nil:
		for i := range r.lastKey {
			r.lastKey[i] = appendKey(r.lastKey[i][:0], r.stmt, at+i)
		}
	}
}

func (r *reader) key() []keyValue {
	key := make([]keyValue, len(r.lastKey))
	for i, k := range r.lastKey {
		key[i] = keyValue(k)
	}
	return key
}

func (r *reader) where() string {
	switch {
	case r.relation.rowid != "":
		return "rowid " + strconv.FormatInt(r.last, 10)
	case r.relation.key != nil:
		return "key " + formatKey(r.key())
	}
	return ""
}

// Position is the last row's rowid or key.
func (r *reader) Position() (connector.Position, bool) {
	switch {
	case r.relation.rowid == "" && r.relation.key == nil:
		return "", false
	case !r.started:
		return "", true
	case r.relation.rowid != "":
		return connector.Position(strconv.FormatInt(r.last, 10)), true
	}
	return connector.Position(formatKey(r.key())), true
}

// Close ends the reading, interrupting a Next that is under way.
func (r *reader) Close() error {
	r.closed.Store(true)
	for !r.mu.TryLock() {
		r.conn.Interrupt()
		retry := time.NewTimer(time.Millisecond)
		<-retry.C
	}
	defer r.mu.Unlock()
	r.stmt.Close()
	return r.conn.Close()
}
