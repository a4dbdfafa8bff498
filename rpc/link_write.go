package rpc

import (
	"runtime"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// gatherBelow is how small a write has to be for the writer to let others run
// first, that they may add to it: under load that saves most system calls.
const gatherBelow = 16 << 10

// maxKept bounds the buffers that an idle outbox keeps.
const maxKept = 1 << 20

// farewell is how long a peer may take to close after our goodbye.
const farewell = time.Second

// write is the connection's one writer: it takes all frames that are queued and
// sends them in one piece.
func (l *link) write() error {
	for {
		chunk, last, ok := l.next()
		if !ok {
			<-l.ended
			return l.cause
		}
		if last {
			return l.sayGoodbye(chunk)
		}
		if _, err := l.conn.Write(chunk); err != nil {
			return err
		}
		l.written(chunk)
	}
}

// next waits for frames; not ok: the connection has ended. last says that nothing
// more will come, because the Env stops.
func (l *link) next() (chunk []byte, last, ok bool) {
	o := l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	gathered := false
	for {
		switch {
		case l.closed || o.link != l:
			return nil, false, false
		case len(o.buf) == 0 && !o.draining:
			o.wake.Wait()
			gathered = false
		case len(o.buf) < gatherBelow && !gathered:
			gathered = true
			o.mu.Unlock()
			runtime.Gosched()
			o.mu.Lock()
		default:
			if o.stale {
				o.sift()
			}
			if len(o.buf) == 0 && !o.draining {
				continue // All of it was stale.
			}
			chunk, o.buf, o.spare = o.buf, o.spare, nil
			o.writing = len(chunk)
			return chunk, o.draining, true
		}
	}
}

// written gives the buffer back and lets in the senders that wait for room; those
// that wait for credit do not care.
func (l *link) written(chunk []byte) {
	o := l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.link != l {
		return
	}
	if cap(chunk) <= maxKept {
		o.spare = chunk[:0]
	}
	o.writing = 0
	if o.crowded && len(o.buf) < o.env.cfg.OutboxBytes {
		o.letIn()
	}
}

// sayGoodbye ends our direction and leaves the other to the peer, so that what
// it has not read yet is not lost by a reset.
func (l *link) sayGoodbye(chunk []byte) error {
	chunk = l.env.bodies.Append(chunk, wire.Version, wire.Goodbye, nil, wire.GoodbyeBody{Reason: "env stopped"})
	if _, err := l.conn.Write(chunk); err != nil {
		return err
	}
	if err := l.conn.SetReadDeadline(time.Now().Add(farewell)); err != nil {
		return err
	}
	<-l.ended
	return l.cause
}
