package zk

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// closeType is the type of a request that ends the session.
const closeType uint32 = 0xfffffff5 // -11

// hole is what the library is given when it asks for a second connection: a
// server that greets it, and answers nothing but its goodbye, at once. Without one
// the library's Close waits for a second, or for good: it counts on fewer answers
// to a request than a failed write and a flush at the same time give.
type hole struct {
	// greeting is the one of the connection that was lost.
	greeting []byte

	mu      sync.Mutex
	greeted bool
	closed  bool
	// answers is what was not read yet; changed wakes the reader.
	answers []byte
	changed *sync.Cond
}

func newHole(greeting []byte) *hole {
	h := &hole{greeting: greeting}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// Write takes a whole message, as the library writes them.
func (h *hole) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.greeted:
		h.greeted = true
		h.answers = append(h.answers, h.greeting...)
	case len(p) == 12 && binary.BigEndian.Uint32(p[8:]) == closeType:
		// A length, the request's number, no transaction, no error.
		h.answers = binary.BigEndian.AppendUint32(h.answers, 16)
		h.answers = append(h.answers, p[4:8]...)
		h.answers = append(h.answers, make([]byte, 12)...)
	}
	h.changed.Broadcast()
	return len(p), nil
}

// Read waits for an answer.
func (h *hole) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.answers) == 0 {
		if h.closed {
			return 0, io.EOF
		}
		h.changed.Wait()
	}
	n := copy(p, h.answers)
	h.answers = h.answers[n:]
	return n, nil
}

// Close lets Read end.
func (h *hole) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.changed.Broadcast()
	return nil
}

func (*hole) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*hole) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*hole) SetDeadline(time.Time) error      { return nil }
func (*hole) SetReadDeadline(time.Time) error  { return nil }
func (*hole) SetWriteDeadline(time.Time) error { return nil }
