// Package pipe is a connection within one process, with a buffer, deadlines and
// half-close, as a socket has. It works in a testing/synctest bubble.
package pipe

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Buffer is how many bytes one direction holds before a write waits.
const Buffer = 256 << 10

// Addr is an address of an in-memory network.
type Addr string

// Network implements net.Addr.
func (Addr) Network() string { return "memory" }

// String implements net.Addr.
func (a Addr) String() string { return string(a) }

// Conn is one end of a pipe.
type Conn struct {
	in, out       *stream
	local, remote Addr
}

// New makes both ends of a connection.
func New(a, b Addr) (*Conn, *Conn) {
	ab, ba := newStream(), newStream()
	return &Conn{in: ba, out: ab, local: a, remote: b}, &Conn{in: ab, out: ba, local: b, remote: a}
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) { return c.in.read(p) }

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) { return c.out.write(p) }

// CloseWrite ends the direction out of this end; what was written still arrives.
func (c *Conn) CloseWrite() error {
	c.out.end(io.EOF, io.ErrClosedPipe)
	return nil
}

// Close implements net.Conn: the peer reads what was written, then io.EOF.
func (c *Conn) Close() error {
	c.in.discard(net.ErrClosed, syscall.EPIPE)
	c.out.end(io.EOF, net.ErrClosed)
	return nil
}

// CloseRead ends our own reading, and tells the peer nothing.
func (c *Conn) CloseRead() { c.in.discard(net.ErrClosed, nil) }

// Reset ends both directions at once; what is on the way is lost.
func (c *Conn) Reset() {
	c.in.discard(syscall.ECONNRESET, syscall.ECONNRESET)
	c.out.discard(syscall.ECONNRESET, syscall.ECONNRESET)
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	c.in.readDeadline.set(c.in, t)
	c.out.writeDeadline.set(c.out, t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.in.readDeadline.set(c.in, t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.out.writeDeadline.set(c.out, t)
	return nil
}

// stream is one direction.
type stream struct {
	mu                          sync.Mutex
	changed                     *sync.Cond
	data                        []byte
	head                        int
	readErr                     error // once data is drained
	writeErr                    error
	readDeadline, writeDeadline deadline
}

func newStream() *stream {
	s := &stream{}
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readDeadline.passed:
			return 0, os.ErrDeadlineExceeded
		case s.head < len(s.data):
			n := copy(p, s.data[s.head:])
			if s.head += n; s.head == len(s.data) {
				s.data, s.head = s.data[:0], 0
			}
			s.changed.Broadcast()
			return n, nil
		case s.readErr != nil:
			return 0, s.readErr
		case len(p) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		room := Buffer - (len(s.data) - s.head)
		switch {
		case s.writeErr != nil:
			return written, s.writeErr
		case s.writeDeadline.passed:
			return written, os.ErrDeadlineExceeded
		case room > 0 || len(p) == 0:
			n := min(room, len(p))
			s.compact(n)
			s.data = append(s.data, p[:n]...)
			written += n
			p = p[n:]
			s.changed.Broadcast()
			if len(p) == 0 {
				return written, nil
			}
		default:
			s.changed.Wait()
		}
	}
}

// compact moves what is unread to the front rather than growing.
func (s *stream) compact(n int) {
	if s.head > 0 && len(s.data)+n > cap(s.data) {
		s.data = append(s.data[:0], s.data[s.head:]...)
		s.head = 0
	}
}

// end lets what is there be read, and then gives readErr; the first end counts.
func (s *stream) end(readErr, writeErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readErr == nil {
		s.readErr = readErr
	}
	if s.writeErr == nil {
		s.writeErr = writeErr
	}
	s.stopTimers()
	s.changed.Broadcast()
}

// discard is end that loses what was not read.
func (s *stream) discard(readErr, writeErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.data, s.head = nil, 0
	s.readErr = readErr
	if s.writeErr == nil {
		s.writeErr = writeErr
	}
	s.stopTimers()
	s.changed.Broadcast()
}

func (s *stream) stopTimers() {
	s.readDeadline.stop()
	s.writeDeadline.stop()
}

// deadline belongs to its stream's mutex.
type deadline struct {
	timer  *time.Timer
	passed bool
	number uint64
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (d *deadline) set(s *stream, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	d.timer, d.passed = nil, false
	d.number++
	if !t.IsZero() {
		if wait := time.Until(t); wait <= 0 {
			d.passed = true
		} else {
			mine := d.number
			d.timer = time.AfterFunc(wait, func() { d.expire(s, mine) })
		}
	}
	s.changed.Broadcast()
}

// expire ends what waits, unless the deadline was set anew meanwhile.
func (d *deadline) expire(s *stream, mine uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.number == mine {
		d.passed = true
		s.changed.Broadcast()
	}
}
