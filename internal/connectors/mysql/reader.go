package mysql

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// reader reads a split by one SELECT, in the snapshot that a statement has.
type reader struct {
	source   *Source
	stream   *stream
	doing    string
	decoders []decoder
	// keys are the columns of the position, keyAt the place of each in the row;
	// last holds those of the last row.
	keys  []keyColumn
	keyAt []int
	last  [][]byte

	err error
	// position is the key after the last batch; seekable says that it counts.
	position connector.Position
	seekable bool

	// turn is held while Next runs, so that Close can wait for it.
	turn   chan struct{}
	closed sync.Once
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	sh, err := s.resolve(ctx)
	if err != nil {
		return nil, err
	}
	r := &reader{source: s, doing: "read " + sh.What, position: pos, turn: make(chan struct{}, 1)}
	statement, err := r.statement(sh, split, pos)
	if err != nil {
		return nil, err
	}
	session, err := s.sessions.get(ctx)
	if err != nil {
		return nil, err
	}
	r.stream, err = newStream(ctx, session, statement)
	if err != nil {
		if ctx.Err() != nil {
			s.sessions.kill(session.id)
		}
		s.sessions.put(session)
		return nil, wrap(r.doing, err)
	}
	if err := r.checkColumns(sh); err != nil {
		_ = r.Close()
		return nil, err
	}
	return r, nil
}

// statement is the SELECT of a split after a position.
func (r *reader) statement(sh *shape, split connector.Split, pos connector.Position) (string, error) {
	spec, err := database.DecodeSpec[database.Range](split.Spec)
	if err != nil {
		return "", err
	}
	keys, err := database.KeyColumns(spec, sh.keyColumns, (*keyColumn).named)
	if err != nil {
		return "", err
	}
	after, seekable, err := sh.Resume(spec, pos)
	if err != nil {
		return "", err
	}
	if r.seekable = seekable; seekable {
		r.keys = keys
	}
	conditions, err := conditionsOf(spec, keys, after)
	if err != nil {
		return "", err
	}
	if r.source.where != "" {
		conditions = append(conditions, r.source.condition())
	}
	selected := r.selected(sh)
	if r.source.direct(sh) {
		return sh.query, nil
	}
	from := sh.from
	if len(keys) > 0 && !spec.Null {
		from = sh.ranged()
	}
	query := "SELECT " + strings.Join(selected, ", ") + " FROM " + from + database.Where(conditions)
	if spec.Ordered && slices.Equal(spec.Key, sh.Key) {
		query += " ORDER BY " + sh.ordering()
	}
	return query, nil
}

// selected are the expressions that a row has: the columns, and what of the key
// is not among them in the form that is noted.
func (r *reader) selected(sh *shape) []string {
	var list []string
	for i := range sh.columns {
		d := newDecoder(&sh.columns[i], sh.schema.Fields[i].Type)
		r.decoders = append(r.decoders, d)
		list = append(list, d.expression())
	}
	for i := range r.keys {
		k := &r.keys[i]
		at := slices.IndexFunc(sh.columns, func(c column) bool { return c.name == k.name })
		if expression := k.expression(); expression != "" || at < 0 {
			if expression == "" {
				expression = quoteName(k.name)
			}
			at = len(list)
			list = append(list, expression)
		}
		r.keyAt = append(r.keyAt, at)
	}
	r.last = make([][]byte, len(r.keys))
	return list
}

// checkColumns compares what comes with what was resolved: a query that is run
// as it is may give other columns by now.
func (r *reader) checkColumns(sh *shape) error {
	names := r.stream.rows.names()
	if want := sh.schema.Names(); len(names) < len(want) || !slices.Equal(names[:len(want)], want) {
		return connector.Errorf(connector.Permanent, "%s has other columns by now: %s", sh.What, database.Listed(names))
	}
	return nil
}

// Next implements connector.Reader.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.err != nil {
		return r.err
	}
	var err error
	if !r.stream.ended {
		r.stream.gather(true)
		err = r.stream.guard(ctx, func(any) error { return r.fill(b) })
		r.stream.gather(false)
	} else if err = ctx.Err(); err != nil {
		return err
	}
	switch {
	case err == nil && len(b.Spans) == 0 && len(b.Rejects) == 0:
		r.err = io.EOF
		return io.EOF
	case err == nil:
		b.Seal()
		if err = r.note(); err == nil {
			return nil
		}
	}
	r.err = wrap(r.doing, err)
	b.Reset(b.Schema)
	return r.err
}

// fill takes rows until the batch is full or the server tells of the end: the
// packet that ends a result (exactness rule 12), or an error in its place.
func (r *reader) fill(b *batch.Batch) error {
	rejected := 0
	for !b.Full() && len(b.Rejects) < batch.MaxRows && rejected < batch.MaxBytes {
		row, err := r.stream.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && r.source.rules.unprovedEnd {
			r.stream.ended = true
			return nil
		}
		if err != nil {
			return err
		}
		for i := range r.keys {
			if r.last[i], err = r.keys[i].appendKey(r.last[i][:0], row[r.keyAt[i]]); err != nil {
				return err
			}
		}
		rejected += r.decode(b, row)
	}
	return nil
}

// decode adds the row to the batch, or to its rejects, and returns the size of
// the reject.
func (r *reader) decode(b *batch.Batch, row [][]byte) int {
	buf, spans := len(b.Buf), len(b.Spans)
	for i := range r.decoders {
		if err := r.decoders[i].append(b, row[i]); err != nil {
			b.Buf, b.Spans = b.Buf[:buf], b.Spans[:spans]
			return r.reject(b, row, i, err)
		}
	}
	b.Bytes += int64(len(b.Buf) - buf)
	if len(b.Buf)-buf >= batch.Huge {
		r.stream.rows.drop()
	}
	return 0
}

// reject keeps a row with a value that its column's type has no room for.
func (r *reader) reject(b *batch.Batch, row [][]byte, column int, err error) int {
	rj := batch.Reject{Column: b.Schema.Fields[column].Name, Reason: err.Error()}
	if len(r.keys) > 0 {
		rj.Where = "key " + strings.Join(r.key(), ", ")
	}
	size := 0
	for i := range r.decoders {
		v := bytes.Clone(row[i])
		size += len(v)
		rj.Values = append(rj.Values, v)
	}
	b.Rejects = append(b.Rejects, rj)
	b.Bytes += int64(size)
	return size
}

// key is that of the last row, as texts.
func (r *reader) key() []string {
	key := make([]string, len(r.last))
	for i, k := range r.last {
		key[i] = string(k)
	}
	return key
}

// note makes the position after the last row.
func (r *reader) note() (err error) {
	if r.seekable {
		r.position, err = database.EncodePosition(r.key())
	}
	return err
}

// Position implements connector.Reader.
func (r *reader) Position() (connector.Position, bool) { return r.position, r.seekable }

// Close implements connector.Reader.
func (r *reader) Close() error {
	r.closed.Do(func() {
		select {
		case r.turn <- struct{}{}:
		default:
			// Next runs, and fails now.
			r.stream.cut()
			r.turn <- struct{}{}
		}
		defer func() { <-r.turn }()
		// A session that was lost may have left its number to another one, on a
		// server that was started again.
		ours := r.err == nil || errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded)
		if r.err == nil {
			r.err = connector.Errorf(connector.Permanent, "%s: the reader is closed", r.doing)
		}
		session := r.stream.session
		if r.stream.close() {
			r.source.sessions.put(session)
		} else if ours {
			// Else a long query would run on, its rows wanted by nobody.
			r.source.sessions.kill(session.id)
		}
	})
	return nil
}
