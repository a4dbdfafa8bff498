package native

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Mode says what a connection may do to the file.
type Mode int32

// The modes.
const (
	// ReadOnly never changes the file.
	ReadOnlyMode Mode = sqlite3.SQLITE_OPEN_READONLY
	// ReadWrite changes a file that is there.
	ReadWriteMode Mode = sqlite3.SQLITE_OPEN_READWRITE
	// Create makes the file when it is not there.
	CreateMode Mode = sqlite3.SQLITE_OPEN_READWRITE | sqlite3.SQLITE_OPEN_CREATE
)

// busyStep is how long a locked file is left alone before the next try.
const busyStep = 10 * time.Millisecond

// Conn is a connection to a database file.
type Conn struct {
	tls *libc.TLS
	// control is C memory: a flag that ends the wait for a lock, and the
	// number of busySteps to wait.
	control uintptr

	mu sync.Mutex // guards db against being closed while it is interrupted
	db uintptr
}

// Open opens a database file and waits for its locks up to timeout.
func Open(path string, mode Mode, timeout time.Duration) (*Conn, error) {
	c := &Conn{tls: libc.NewTLS()}
	name, err := libc.CString(path)
	if err != nil {
		c.tls.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer libc.Xfree(c.tls, name)
	out := libc.Xmalloc(c.tls, 8)
	c.control = libc.Xmalloc(c.tls, 8)
	if out == 0 || c.control == 0 {
		c.tls.Close()
		return nil, fmt.Errorf("open %s: out of memory", path)
	}
	defer libc.Xfree(c.tls, out)
	// A Conn belongs to one goroutine at a time and needs no mutex, which
	// would cost a third of the time for reading and writing.
	flags := int32(mode) | sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE
	rc := sqlite3.Xsqlite3_open_v2(c.tls, name, out, flags, 0)
	c.db = *(*uintptr)(unsafe.Pointer(&libc.GoBytes(out, 8)[0]))
	if rc != sqlite3.SQLITE_OK {
		err := c.errorOf(rc)
		_ = c.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	c.flag().Store(0)
	c.SetWait(timeout)
	sqlite3.Xsqlite3_busy_handler(c.tls, c.db, busyPointer(), c.control)
	return c, nil
}

// SetWait says how long locks are waited for from now on.
func (c *Conn) SetWait(timeout time.Duration) {
	c.steps().Store(int32(min(timeout/busyStep, math.MaxInt32)))
}

func (c *Conn) flag() *atomic.Int32 { return flagAt(c.control) }

func (c *Conn) steps() *atomic.Int32 { return flagAt(c.control + 4) }

func flagAt(p uintptr) *atomic.Int32 {
	return (*atomic.Int32)(unsafe.Pointer(&libc.GoBytes(p, 4)[0]))
}

// busyPointer is busyHandler as the translated C code calls it.
func busyPointer() uintptr {
	f := struct {
		f func(*libc.TLS, uintptr, int32) int32
	}{busyHandler}
	return *(*uintptr)(unsafe.Pointer(&f))
}

// busyHandler waits a moment for a lock and says whether to try again. Unlike
// SQLite's own it also ends when the connection is interrupted.
func busyHandler(tls *libc.TLS, control uintptr, count int32) int32 {
	if flagAt(control).Load() != 0 || count >= flagAt(control+4).Load() {
		return 0
	}
	sqlite3.Xsqlite3_sleep(tls, int32(busyStep/time.Millisecond))
	return 1
}

// Close gives up the connection, and the transaction that is open. It may be
// called twice. Statements have to be closed before.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tls == nil {
		return nil
	}
	var err error
	if c.db != 0 {
		if rc := sqlite3.Xsqlite3_close_v2(c.tls, c.db); rc != sqlite3.SQLITE_OK {
			err = c.errorOf(rc)
		}
	}
	libc.Xfree(c.tls, c.control)
	c.tls.Close()
	c.db, c.control, c.tls = 0, 0, nil
	return err
}

// Interrupt makes what the connection is doing fail with Interrupted, as soon
// as SQLite notices. It may be called at any time from any goroutine.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == 0 {
		return
	}
	tls := libc.NewTLS()
	defer tls.Close()
	c.flag().Store(1)
	sqlite3.Xsqlite3_interrupt(tls, c.db)
}

// Watch interrupts the connection when ctx ends, until the returned function
// is called.
func (c *Conn) Watch(ctx context.Context) (stop func()) {
	c.flag().Store(0)
	if ctx.Done() == nil {
		return func() {}
	}
	done := make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(done)
		c.Interrupt()
	})
	return func() {
		if !cancel() {
			<-done
		}
	}
}

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return sqlite3.Xsqlite3_get_autocommit(c.tls, c.db) == 0 }

// Changes is the number of rows that the last statement inserted, changed or deleted.
func (c *Conn) Changes() int64 { return sqlite3.Xsqlite3_changes64(c.tls, c.db) }

// errorOf is the error of the connection's last call.
func (c *Conn) errorOf(rc int32) error {
	if c.db == 0 {
		return &Error{Code: rc, Message: libc.GoString(sqlite3.Xsqlite3_errstr(c.tls, rc))}
	}
	code := sqlite3.Xsqlite3_extended_errcode(c.tls, c.db)
	if code&0xff != rc&0xff {
		code = rc
	}
	return &Error{Code: code, Message: libc.GoString(sqlite3.Xsqlite3_errmsg(c.tls, c.db))}
}

// Exec runs the statements of an SQL text, without reading rows.
func (c *Conn) Exec(sql string, args ...any) error {
	for sql != "" {
		s, tail, err := c.prepare(sql, 0)
		if err != nil {
			return err
		}
		sql = tail
		if s == nil {
			continue
		}
		err = s.run(args)
		s.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Query runs one statement and gives each of its rows to f.
func (c *Conn) Query(sql string, args []any, f func(s *Stmt) error) error {
	s, err := c.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.bindAll(args); err != nil {
		return err
	}
	for {
		row, err := s.Step()
		if err != nil || !row {
			return err
		}
		if err := f(s); err != nil {
			return err
		}
	}
}
