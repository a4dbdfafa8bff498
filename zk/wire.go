package zk

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
)

// wire is the connection under the library's: the first messages were exchanged
// before, so the library's request for a session is dropped here, and the
// store's answer is given to it once more. It follows the newest transaction in
// the replies, which the next connection has to name, and tells when it is closed.
type wire struct {
	net.Conn
	// seen is the session's newest transaction.
	seen *atomic.Int64

	// writing keeps whole messages whole.
	writing sync.Mutex
	asked   bool
	// greeting and scan belong to the reader.
	greeting []byte
	scan     replyScanner

	once sync.Once
	gone chan struct{}
}

func newWire(conn net.Conn, g greeting, seen *atomic.Int64) *wire {
	return &wire{Conn: conn, greeting: g.frame, seen: seen, gone: make(chan struct{})}
}

// Write passes on all but the library's first message, which it writes whole.
func (w *wire) Write(p []byte) (int, error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	if !w.asked {
		w.asked = true
		return len(p), nil
	}
	n, err := w.Conn.Write(p)
	w.failed(err)
	return n, err
}

// Read gives the store's answer to our request for a session, then what comes.
func (w *wire) Read(p []byte) (int, error) {
	if len(w.greeting) > 0 {
		n := copy(p, w.greeting)
		w.greeting = w.greeting[n:]
		return n, nil
	}
	n, err := w.Conn.Read(p)
	w.scan.scan(p[:n], w.saw)
	w.failed(err)
	return n, err
}

// failed closes the connection before the library tells anybody that it is lost:
// whoever hears of it finds it gone.
func (w *wire) failed(err error) {
	if err != nil {
		_ = w.Close()
	}
}

func (w *wire) saw(zxid int64) {
	for {
		old := w.seen.Load()
		if zxid <= old || w.seen.CompareAndSwap(old, zxid) {
			return
		}
	}
}

// goodbye asks the store to end the session: it then ends the connection. The
// message is a length, a number that no request of the library has, and the type.
func (w *wire) goodbye() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.asked = true
	frame := binary.BigEndian.AppendUint32(nil, 8)
	frame = binary.BigEndian.AppendUint32(frame, 0xffffff00)
	frame = binary.BigEndian.AppendUint32(frame, closeType)
	_, _ = w.Conn.Write(frame)
}

// Close ends the connection; it may be called again.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.gone) })
	return w.Conn.Close()
}

// replyScanner finds the transaction's number in a stream of messages, each a
// length, then for a reply the request's number and the transaction's.
type replyScanner struct {
	head [16]byte
	have int
	// skip is what is left of the present message's body.
	skip int64
}

// scan takes the next piece of the stream, and calls saw for each reply in it.
func (s *replyScanner) scan(p []byte, saw func(zxid int64)) {
	for len(p) > 0 {
		if s.skip > 0 {
			n := min(s.skip, int64(len(p)))
			s.skip -= n
			p = p[n:]
			continue
		}
		n := copy(s.head[s.have:s.want()], p)
		s.have += n
		p = p[n:]
		if s.have < s.want() {
			continue
		}
		if s.have == len(s.head) {
			xid := int32(binary.BigEndian.Uint32(s.head[4:]))
			if zxid := int64(binary.BigEndian.Uint64(s.head[8:])); xid >= 0 && zxid > 0 {
				saw(zxid)
			}
		}
		s.skip = s.size() - int64(s.have-4)
		s.have = 0
	}
}

// size is the length of the present message, once that is known.
func (s *replyScanner) size() int64 { return int64(binary.BigEndian.Uint32(s.head[:])) }

// want is how much of the head is needed: the length, and with it the numbers,
// when the message is long enough to hold them.
func (s *replyScanner) want() int {
	if s.have >= 4 && s.size() >= int64(len(s.head)-4) {
		return len(s.head)
	}
	return 4
}
