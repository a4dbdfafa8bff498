package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// stream is a query's result as it comes: read from the connection itself, or,
// where that is encrypted, from the driver.
type stream struct {
	session *session
	ctx     context.Context // the statement's; ends when the stream is cut
	cut     context.CancelFunc
	rows    rows
	// ended says that the server has told of the end.
	ended bool
}

// rows are those of a result.
type rows interface {
	names() []string
	// take returns the next row, as the server's texts; a NULL is a nil cell. Its
	// bytes are valid until the next. io.EOF says that there are no more.
	take() ([][]byte, error)
	// drop lets the last row's memory go before the next is taken.
	drop()
	// close is called after the end; an error: the connection is not idle.
	close() error
}

// newStream runs a query. The stream has its session until it is closed; it
// outlives ctx.
func newStream(ctx context.Context, s *session, query string) (*stream, error) {
	st := &stream{session: s}
	st.ctx, st.cut = context.WithCancel(context.WithoutCancel(ctx))
	err := st.guard(ctx, func(conn any) (err error) {
		if s.below.plain() && len(query) < fullPacket {
			st.rows, err = newWireRows(st.ctx, s.below, query)
			return err
		}
		st.rows, err = newDriverRows(st.ctx, conn, query)
		return err
	})
	if err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

// guard runs f on the driver's connection, which is cut when ctx ends.
func (st *stream) guard(ctx context.Context, f func(conn any) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, st.cut)
	err := st.session.conn.Raw(f)
	if !stop() {
		return ctx.Err()
	}
	return err
}

// gather makes reads of the stream wait for many bytes, or for any as usual.
func (st *stream) gather(many bool) {
	if st.session.below != nil {
		st.session.below.gather(many)
	}
}

// next takes a row; io.EOF is the server's word that there are no more.
func (st *stream) next() ([][]byte, error) {
	row, err := st.rows.take()
	if errors.Is(err, io.EOF) {
		st.ended = true
	}
	return row, err
}

// close ends the session unless all rows were taken: the rest would have to be
// read before it can be used again. It reports whether the session is idle.
func (st *stream) close() bool {
	if !st.ended || st.rows == nil {
		st.cut()
		st.session.close()
		return false
	}
	err := st.session.conn.Raw(func(any) error { return st.rows.close() })
	st.cut()
	if err != nil {
		st.session.close()
	}
	return err == nil
}

// wireRows are read from the connection.
type wireRows struct {
	wire *wire
	// stop ends the watch over the statement's context.
	stop func() bool
}

func newWireRows(ctx context.Context, conn *buffered, query string) (rows, error) {
	r := &wireRows{stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}
	var err error
	if r.wire, err = queryWire(conn, query); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *wireRows) names() []string { return r.wire.columns }

func (r *wireRows) take() ([][]byte, error) {
	err := r.wire.next()
	return r.wire.row, err
}

func (r *wireRows) drop() {
	clear(r.wire.row)
	r.wire.large = nil
}

func (r *wireRows) close() error {
	if !r.stop() || r.wire.unread {
		return sqldriver.ErrBadConn
	}
	return nil
}

// driverRows are the driver's own, not those of database/sql, which would copy
// and count each value once more.
type driverRows struct {
	rows   sqldriver.Rows
	values []sqldriver.Value
	row    [][]byte
	// numbers holds the texts of the row's numbers.
	numbers []byte
}

func newDriverRows(ctx context.Context, conn any, query string) (rows, error) {
	rows, err := queryRaw(ctx, conn, query)
	if err != nil {
		return nil, err
	}
	n := len(rows.Columns())
	return &driverRows{rows: rows, values: make([]sqldriver.Value, n), row: make([][]byte, n)}, nil
}

func (r *driverRows) names() []string { return r.rows.Columns() }

func (r *driverRows) take() ([][]byte, error) {
	if err := r.rows.Next(r.values); err != nil {
		return nil, err
	}
	r.numbers = r.numbers[:0]
	for i, v := range r.values {
		at := len(r.numbers)
		switch v := v.(type) {
		case nil:
			r.row[i] = nil
			continue
		case []byte:
			r.row[i] = v
			continue
		case int64:
			r.numbers = strconv.AppendInt(r.numbers, v, 10)
		case uint64:
			r.numbers = strconv.AppendUint(r.numbers, v, 10)
		case float64:
			r.numbers = strconv.AppendFloat(r.numbers, v, 'g', -1, 64)
		case float32:
			r.numbers = strconv.AppendFloat(r.numbers, float64(v), 'g', -1, 32)
		default:
			return nil, fmt.Errorf("the driver gives a %T", v)
		}
		r.row[i] = r.numbers[at:len(r.numbers):len(r.numbers)]
	}
	return r.row, nil
}

func (r *driverRows) drop() {
	clear(r.values)
	clear(r.row)
}

func (r *driverRows) close() error { return r.rows.Close() }
