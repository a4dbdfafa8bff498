package rpc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// link is one connection after its handshake: a reader, a writer, and a clock
// that finds a silent peer. It ends as a whole, and with it the outbox's session.
type link struct {
	env  *Env
	out  *outbox
	conn net.Conn
	peer Peer
	// addr is what endpoints are told: where we have dialled, or what a dialler
	// says that it is.
	addr Addr
	// private: the outbox is of this connection only, for replies.
	private bool
	// number and source tell a dialler's connections apart.
	number uint64
	source *source

	peerWindow   int
	peerMaxFrame int
	since        time.Time

	heard atomic.Bool
	once  sync.Once
	// cause is why it ended; valid once ended is closed.
	cause error
	ended chan struct{}
	// The writer's: closed belongs to the outbox's mutex.
	closed bool
}

// run carries a connection until its end.
func (l *link) run() {
	l.since = time.Now()
	l.env.connected(l)
	var others sync.WaitGroup
	l.env.track(l)
	// The end is deferred: it has to come about whatever ends the reader.
	defer func() {
		others.Wait()
		clean := errors.Is(l.cause, errPeerClosed) || errors.Is(l.cause, errGoodbye) || errors.Is(l.cause, errSuperseded)
		l.out.lost(l, l.cause, clean)
		l.env.untrack(l)
		l.env.disconnected(l)
	}()
	others.Go(func() { l.guard(l.write) })
	others.Go(func() { l.guard(l.keepAlive) })
	l.guard(l.read)
}

// guard runs one of a connection's goroutines: however it ends, the connection
// ends with it.
func (l *link) guard(f func() error) {
	err := errExited
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errPanicked, r)
			l.env.log.Error("connection panic", "addr", string(l.addr), "panic", r, "stack", string(debug.Stack()))
		}
		l.close(err)
	}()
	err = f()
}

// close ends the connection; the first reason counts.
func (l *link) close(cause error) {
	l.once.Do(func() {
		l.cause = cause
		_ = l.conn.Close()
		l.out.mu.Lock()
		l.closed = true
		l.out.wake.Broadcast()
		l.out.mu.Unlock()
		close(l.ended)
	})
}

// keepAlive asks a peer that is silent for a sign of life, and gives up one that
// gives none.
func (l *link) keepAlive() error {
	ticker := time.NewTicker(l.env.cfg.KeepAlive / 3)
	defer ticker.Stop()
	silent := 0
	for {
		select {
		case <-ticker.C:
		case <-l.ended:
			return l.cause
		}
		if l.heard.Swap(false) {
			silent = 0
			continue
		}
		if silent++; silent > 3 {
			return within(l.env.cfg.KeepAlive, ErrSilent)
		}
		l.control(wire.AppendPlain(nil, wire.Version, wire.Ping, nil))
	}
}

// control queues a frame of the protocol itself. A peer that reads nothing is
// not waited for without bound.
func (l *link) control(frame []byte) {
	o := l.out
	o.mu.Lock()
	overrun := false
	if o.link == l {
		if overrun = len(o.buf)+o.writing > 2*o.env.cfg.OutboxBytes; !overrun {
			o.buf = append(o.buf, frame...)
			o.wake.Signal()
		}
	}
	o.mu.Unlock()
	if overrun {
		l.close(fmt.Errorf("%w: it reads nothing", ErrSilent))
	}
}

// reply queues an answer. sent is false when the connection is gone, and with it
// the asker's hope.
func (l *link) reply(id uint64, m *message, data []byte) (sent bool, err error) {
	o := l.out
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.link != l:
		return false, nil
	case len(data) > o.maxFrame-frameRoom:
		return false, fmt.Errorf("%w: reply %s of %d bytes, at most %d", ErrTooLarge, m.name, len(data), o.maxFrame-frameRoom)
	case len(o.buf)+o.writing+len(data) > o.env.cfg.OutboxBytes && len(o.buf)+o.writing > 0:
		return false, fmt.Errorf("reply %s: %w", m.name, o.full)
	}
	o.defineType(m)
	o.buf = wire.AppendReply(o.buf, id, o.types[m.index]-1, data)
	o.wake.Signal()
	return true, nil
}

// maxText bounds the text of a failure.
const maxText = 4 << 10

// fail queues a failure.
func (l *link) fail(id uint64, f failure) bool {
	f.text = f.text[:min(len(f.text), maxText)]
	f.reason = f.reason[:min(len(f.reason), maxName)]
	prefix := binary.BigEndian.AppendUint64(nil, id)
	l.control(l.env.bodies.Append(nil, wire.Version, wire.Failure, prefix, f.body()))
	select {
	case <-l.ended:
		return false
	default:
		return true
	}
}

// refused lets the peer know of one-way messages that had no endpoint to go to.
func (l *link) refused(f failure, messages int) {
	if messages == 0 {
		return
	}
	body := wire.FailureBody{Code: f.code, Text: f.endpoint, Lost: uint32(messages)}
	prefix := binary.BigEndian.AppendUint64(nil, wire.NoAsk)
	l.control(l.env.bodies.Append(nil, wire.Version, wire.Failure, prefix, body))
}

// grant queues credit for a target of the peer's.
func (l *link) grant(index uint32, bytes int64) {
	l.control(wire.AppendCredit(nil, index, uint64(bytes)))
}

// ending makes an orderly end of the reader's errors.
func ending(err error) error {
	if errors.Is(err, io.EOF) {
		return errPeerClosed
	}
	return err
}
