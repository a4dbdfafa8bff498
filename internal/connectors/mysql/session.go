package mysql

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"strconv"
	"time"

	"github.com/leatdata/leat/connector"
)

// Settings of each session. Texts come canonical and complete, statements are
// judged strictly whatever the server's defaults, zero dates and a zero for an
// AUTO_INCREMENT stay what they are, and a side that is slow does not make the
// server hang up. What stands in a comment is for one kind of server.
const commonSettings = `SET autocommit = 1, time_zone = '+00:00', sql_auto_is_null = 0, sql_big_selects = 1,
 sql_select_limit = 18446744073709551615, max_sort_length = 8192, wait_timeout = 31536000, net_read_timeout = 604800, net_write_timeout = 604800
 /*M!100100 , max_statement_time = 0 */ /*M!100300 , idle_transaction_timeout = 0, idle_write_transaction_timeout = 0, idle_readonly_transaction_timeout = 0 */
 /*!50708 , max_execution_time = 0 */, sql_mode = `

// A reader takes days that no calendar has, to tell of them. It changes nothing.
const (
	strictMode     = "STRICT_ALL_TABLES,STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION"
	readerSettings = commonSettings + "'" + strictMode + ",ALLOW_INVALID_DATES'"
	writerSettings = commonSettings + "'" + strictMode + "'"
	readerAccess   = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY"
	writerAccess   = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE"
)

// killTimeout bounds the attempt to end a statement of ours on the server.
const killTimeout = time.Second

// session is a connection with its settings made. It belongs to one goroutine
// at a time.
type session struct {
	conn *sql.Conn
	// below is the connection below the driver's; nil: not known.
	below  *buffered
	server version
	// id is the server's number of the connection, for KILL.
	id int64
	// open says that a transaction was begun and not ended.
	open bool
	// ended says that the connection is not to be used again.
	ended bool
}

// newSession takes a connection of the pool and asks it who is there.
func newSession(ctx context.Context, conn *sql.Conn) (*session, error) {
	s := &session{conn: conn}
	row, err := s.one(ctx, "SELECT VERSION(), CONNECTION_ID()")
	if err == nil {
		s.server, err = parseVersion(string(row[0]))
	}
	if err == nil {
		s.id, err = strconv.ParseInt(string(row[1]), 10, 64)
	}
	if err != nil {
		s.close()
		return nil, wrap("greet the server", err)
	}
	return s, nil
}

// close ends the session, whatever it is in the middle of.
func (s *session) close() {
	if s.ended {
		return
	}
	s.ended = true
	// The pool drops a connection of which this error is told.
	_ = s.conn.Raw(func(any) error { return sqldriver.ErrBadConn })
	_ = s.conn.Close()
}

// exec runs one statement and returns the number of rows that it matched or changed.
func (s *session) exec(ctx context.Context, text string, args ...any) (int64, error) {
	result, err := s.conn.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// query runs one statement and returns its rows, their cells as the server's
// text has them; a NULL is a nil cell.
func (s *session) query(ctx context.Context, text string, args ...any) ([][][]byte, error) {
	rows, err := s.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	raw, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range raw {
		into[i] = &raw[i]
	}
	var all [][][]byte
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([][]byte, len(raw))
		for i, cell := range raw {
			if cell != nil {
				row[i] = append([]byte{}, cell...)
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// one is query for statements that return one row; no row is a nil row.
func (s *session) one(ctx context.Context, text string, args ...any) ([][]byte, error) {
	rows, err := s.query(ctx, text, args...)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// begin opens a transaction.
func (s *session) begin(ctx context.Context) error {
	s.open = true
	_, err := s.exec(ctx, "START TRANSACTION")
	return err
}

// commit ends the transaction. After an error it may have been committed.
func (s *session) commit(ctx context.Context) error {
	if _, err := s.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	s.open = false
	return nil
}

// rollback leaves the transaction; where that fails the session ends, which
// does the same.
func (s *session) rollback(ctx context.Context) {
	if s.ended || !s.open {
		return
	}
	if _, err := s.exec(context.WithoutCancel(ctx), "ROLLBACK"); err != nil {
		s.close()
		return
	}
	s.open = false
}

// transact runs f in a transaction and commits it.
func (s *session) transact(ctx context.Context, f func() error) error {
	err := s.begin(ctx)
	if err == nil {
		err = f()
	}
	if err == nil {
		err = s.commit(ctx)
	}
	if err != nil {
		s.rollback(ctx)
	}
	return err
}

// number reads a cell that the catalogue has as a whole number, 0 for NULL.
func number(cell []byte) (int64, error) {
	if cell == nil {
		return 0, nil
	}
	n, err := strconv.ParseInt(string(cell), 10, 64)
	if err != nil {
		// More than a signed number holds: as good as endless.
		if _, unsigned := strconv.ParseUint(string(cell), 10, 64); unsigned == nil {
			return 1<<63 - 1, nil
		}
		return 0, connector.Errorf(connector.Permanent, "the catalogue's %q is no number", cell)
	}
	return n, nil
}

// kill ends a session of ours on the server, by another one.
func (p *sessions) kill(id int64) {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	_ = p.with(ctx, func(s *session) error {
		_, err := s.exec(ctx, fmt.Sprintf("KILL %d", id))
		return err
	})
}
