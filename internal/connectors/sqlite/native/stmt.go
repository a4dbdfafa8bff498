package native

import (
	"fmt"
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Class is the storage class of a value.
type Class int32

// The storage classes.
const (
	Integer Class = sqlite3.SQLITE_INTEGER
	Float   Class = sqlite3.SQLITE_FLOAT
	Text    Class = sqlite3.SQLITE_TEXT
	Blob    Class = sqlite3.SQLITE_BLOB
	Null    Class = sqlite3.SQLITE_NULL
)

// Stmt is a prepared statement. Parameters and columns are counted from 0.
type Stmt struct {
	conn *Conn
	p    uintptr
}

// Prepare compiles the one statement of an SQL text.
func (c *Conn) Prepare(sql string) (*Stmt, error) {
	s, tail, err := c.prepare(sql, sqlite3.SQLITE_PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, fmt.Errorf("no statement in %q", sql)
	}
	if rest, _, err := c.prepare(tail, 0); err != nil || rest != nil {
		rest.Close()
		s.Close()
		return nil, fmt.Errorf("more than one statement: %q comes after the first", strings.TrimSpace(tail))
	}
	return s, nil
}

// prepare compiles the first statement, which is nil when there is only a
// comment or space, and returns the text after it.
func (c *Conn) prepare(sql string, flags uint32) (*Stmt, string, error) {
	if strings.TrimSpace(sql) == "" {
		return nil, "", nil
	}
	if strings.IndexByte(sql, 0) >= 0 { // SQLite would take it for the end
		return nil, "", fmt.Errorf("a statement cannot hold a zero byte: %q", sql)
	}
	text, err := libc.CString(sql)
	if err != nil {
		return nil, "", err
	}
	defer libc.Xfree(c.tls, text)
	out := libc.Xmalloc(c.tls, 16)
	if out == 0 {
		return nil, "", fmt.Errorf("out of memory")
	}
	defer libc.Xfree(c.tls, out)
	rc := sqlite3.Xsqlite3_prepare_v3(c.tls, c.db, text, int32(len(sql)), flags, out, out+8)
	if rc != sqlite3.SQLITE_OK {
		return nil, "", c.errorOf(rc)
	}
	ptrs := (*[2]uintptr)(unsafe.Pointer(&libc.GoBytes(out, 16)[0]))
	tail := sql[int(ptrs[1]-text):]
	if ptrs[0] == 0 {
		return nil, tail, nil
	}
	return &Stmt{conn: c, p: ptrs[0]}, tail, nil
}

// Close gives the statement up; a nil statement and a second call are fine.
func (s *Stmt) Close() {
	if s != nil && s.p != 0 {
		sqlite3.Xsqlite3_finalize(s.conn.tls, s.p)
		s.p = 0
	}
}

// run binds, steps to the end and forgets rows.
func (s *Stmt) run(args []any) error {
	if err := s.bindAll(args); err != nil {
		return err
	}
	for {
		if row, err := s.Step(); err != nil || !row {
			return err
		}
	}
}

// bindAll binds as many of the values as the statement has parameters. It is
// for the few statements that do not matter for speed.
func (s *Stmt) bindAll(args []any) error {
	n := int(sqlite3.Xsqlite3_bind_parameter_count(s.conn.tls, s.p))
	if n > len(args) {
		return fmt.Errorf("%d values for %d parameters", len(args), n)
	}
	for i, arg := range args[:n] {
		switch v := arg.(type) {
		case nil:
			s.BindNull(i)
		case int64:
			s.BindInt64(i, v)
		case float64:
			s.BindFloat(i, v)
		case string:
			s.bindCopy(i, []byte(v), sqlite3.Xsqlite3_bind_text)
		case []byte:
			s.bindCopy(i, v, sqlite3.Xsqlite3_bind_blob)
		default:
			return fmt.Errorf("a %T cannot be bound", arg)
		}
	}
	return nil
}

func (s *Stmt) bindCopy(i int, v []byte, bind func(*libc.TLS, uintptr, int32, uintptr, int32, uintptr) int32) {
	p := libc.Xmalloc(s.conn.tls, libc.Tsize_t(len(v)+1))
	copy(libc.GoBytes(p, len(v)), v)
	bind(s.conn.tls, s.p, int32(i+1), p, int32(len(v)), sqlite3.SQLITE_TRANSIENT)
	libc.Xfree(s.conn.tls, p)
}

// BindNull sets a parameter to NULL.
func (s *Stmt) BindNull(i int) { sqlite3.Xsqlite3_bind_null(s.conn.tls, s.p, int32(i+1)) }

// BindInt64 sets a parameter to an integer.
func (s *Stmt) BindInt64(i int, v int64) {
	sqlite3.Xsqlite3_bind_int64(s.conn.tls, s.p, int32(i+1), v)
}

// BindFloat sets a parameter to a floating-point number; NaN would be NULL.
func (s *Stmt) BindFloat(i int, v float64) {
	sqlite3.Xsqlite3_bind_double(s.conn.tls, s.p, int32(i+1), v)
}

// BindText sets a parameter to n bytes of UTF-8 in Memory at p, which have to
// stay there until the statement has been run.
func (s *Stmt) BindText(i int, p uintptr, n int) {
	sqlite3.Xsqlite3_bind_text(s.conn.tls, s.p, int32(i+1), p, int32(n), sqlite3.SQLITE_STATIC)
}

// BindBlob is BindText for bytes.
func (s *Stmt) BindBlob(i int, p uintptr, n int) {
	sqlite3.Xsqlite3_bind_blob(s.conn.tls, s.p, int32(i+1), p, int32(n), sqlite3.SQLITE_STATIC)
}

// Step runs the statement up to its next row and reports whether there is
// one. At the end or after an error it is ready to be run again.
func (s *Stmt) Step() (bool, error) {
	switch rc := sqlite3.Xsqlite3_step(s.conn.tls, s.p); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		sqlite3.Xsqlite3_reset(s.conn.tls, s.p)
		return false, nil
	default:
		err := s.conn.errorOf(rc)
		sqlite3.Xsqlite3_reset(s.conn.tls, s.p)
		return false, err
	}
}

// Columns returns the number of result columns.
func (s *Stmt) Columns() int { return int(sqlite3.Xsqlite3_column_count(s.conn.tls, s.p)) }

// Name returns the name of a result column.
func (s *Stmt) Name(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_name(s.conn.tls, s.p, int32(i)))
}

// Declared returns the type that a result column was declared with; "" for an
// expression and for a column without one.
func (s *Stmt) Declared(i int) string {
	return libc.GoString(sqlite3.Xsqlite3_column_decltype(s.conn.tls, s.p, int32(i)))
}

// Class returns the storage class of the row's value.
func (s *Stmt) Class(i int) Class {
	return Class(sqlite3.Xsqlite3_column_type(s.conn.tls, s.p, int32(i)))
}

// Int64 returns an Integer value.
func (s *Stmt) Int64(i int) int64 { return sqlite3.Xsqlite3_column_int64(s.conn.tls, s.p, int32(i)) }

// Float returns a Float value.
func (s *Stmt) Float(i int) float64 {
	return sqlite3.Xsqlite3_column_double(s.conn.tls, s.p, int32(i))
}

// Text returns a Text value as UTF-8, whatever the file's encoding, in SQLite's
// memory, which is valid until the next Step.
func (s *Stmt) Text(i int) []byte {
	p := sqlite3.Xsqlite3_column_text(s.conn.tls, s.p, int32(i))
	return s.memory(i, p)
}

// Blob returns a Blob value in SQLite's memory, which is valid until the next Step.
func (s *Stmt) Blob(i int) []byte {
	p := sqlite3.Xsqlite3_column_blob(s.conn.tls, s.p, int32(i))
	return s.memory(i, p)
}

func (s *Stmt) memory(i int, p uintptr) []byte {
	n := sqlite3.Xsqlite3_column_bytes(s.conn.tls, s.p, int32(i))
	if p == 0 || n == 0 {
		return nil
	}
	return libc.GoBytes(p, int(n))
}

// String returns a value as SQLite turns it to text.
func (s *Stmt) String(i int) string { return string(s.Text(i)) }

// BindTextCopy sets a parameter to a text that SQLite copies.
func (s *Stmt) BindTextCopy(i int, text []byte) {
	s.bindCopy(i, text, sqlite3.Xsqlite3_bind_text)
}

// Bind binds the values; it is for statements that are then stepped through.
func (s *Stmt) Bind(args ...any) error { return s.bindAll(args) }

// Run binds the values and runs the statement to its end.
func (s *Stmt) Run(args ...any) error { return s.run(args) }
