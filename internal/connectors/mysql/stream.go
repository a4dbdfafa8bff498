package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"io"
)

// stream is a query's result as it comes. Its rows are the driver's own, not
// those of database/sql, which would copy and count each value once more.
type stream struct {
	session *session
	ctx     context.Context // the statement's; ends when the stream is cut
	cut     context.CancelFunc
	rows    sqldriver.Rows
	// row is the last one taken; its bytes are valid until the next.
	row []sqldriver.Value
	// ended says that the server has told of the end.
	ended bool
}

// newStream runs a query. The stream has its session until it is closed; it
// outlives ctx.
func newStream(ctx context.Context, s *session, query string) (*stream, error) {
	st := &stream{session: s}
	st.ctx, st.cut = context.WithCancel(context.WithoutCancel(ctx))
	err := st.guard(ctx, func(conn any) error {
		rows, err := queryRaw(st.ctx, conn, query)
		if err != nil {
			return err
		}
		st.rows, st.row = rows, make([]sqldriver.Value, len(rows.Columns()))
		return nil
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

// next takes a row; io.EOF is the server's word that there are no more.
func (st *stream) next() error {
	err := st.rows.Next(st.row)
	if errors.Is(err, io.EOF) {
		st.ended = true
	}
	return err
}

// close ends the session unless all rows were taken: the rest would have to be
// read before it can be used again. It reports whether the session is idle.
func (st *stream) close() bool {
	if !st.ended || st.rows == nil {
		st.cut()
		st.session.close()
		return false
	}
	err := st.session.conn.Raw(func(any) error { return st.rows.Close() })
	st.cut()
	if err != nil {
		st.session.close()
	}
	return err == nil
}
