package rpc

import (
	"fmt"
	"sync"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// outState is where an outbox stands.
type outState uint8

const (
	// outIdle: no connection; the next message starts one, where that is ours to do.
	outIdle outState = iota
	// outConnecting: what is sent is queued.
	outConnecting
	// outConnected: a writer sends what is queued.
	outConnected
	// outClosed: the Env is stopping, or the peer's own connection is gone.
	outClosed
)

// maxTargets is how many endpoints have a number on one connection before all
// numbers are forgotten and given anew.
const maxTargets = 4096

// outbox is the queue to one process. It holds ready frames, one behind the
// other, that a writer takes all at once. A session is the time from an attempt
// at a connection to the connection's end: with it ends everything that waits.
type outbox struct {
	env  *Env
	addr Addr
	// dials says that connections are ours to make.
	dials bool
	full  *FullError

	mu   sync.Mutex
	wake *sync.Cond // of the writer

	state   outState
	refusal error // once closed
	link    *link // while connected

	// buf is what is queued; writing is how much the writer has in hand.
	buf     []byte
	spare   []byte
	writing int
	// stale says that buf may hold asks that nobody waits for.
	stale bool
	// draining: the writer says goodbye when the queue is empty.
	draining bool
	calls    slab
	// space is closed when a sender that waits may look again.
	space chan struct{}
	// crowded: one of them waits for the queue, not for credit.
	crowded bool

	// The numbers given in this session.
	session uint64
	// targets have the numbers from base on.
	base     uint32
	targets  []*target
	types    []uint32 // by message index: number+1
	typesNow uint32
	window   int64
	maxFrame int

	// failures in a row decide how long to wait before the next attempt.
	failures int
	retryAt  time.Time
}

func newOutbox(env *Env, addr Addr) *outbox {
	o := &outbox{
		env: env, addr: addr, dials: addr[0] != '@',
		full: &FullError{Queue: fmt.Sprintf("outbox to %s", addr)}, types: make([]uint32, len(env.registry.all)),
	}
	o.wake = sync.NewCond(&o.mu)
	o.resetSession()
	return o
}

// tell queues a one-way message.
func (o *outbox) tell(t *target, m *message, data []byte) error {
	o.mu.Lock()
	if err := o.admit(t, m, len(data)); err != nil {
		o.mu.Unlock()
		return err
	}
	o.define(t, m, len(data))
	o.buf = wire.AppendTell(o.buf, t.index, o.types[m.index]-1, data)
	o.kick()
	o.mu.Unlock()
	return nil
}

// ask queues a request; nil hands its call over.
func (o *outbox) ask(t *target, m *message, data []byte, c *call, millis uint64) error {
	o.mu.Lock()
	if err := o.admit(t, m, len(data)); err != nil {
		o.mu.Unlock()
		return err
	}
	o.define(t, m, len(data))
	o.buf = wire.AppendAsk(o.buf, o.calls.add(c), millis, t.index, o.types[m.index]-1, data)
	o.kick()
	o.mu.Unlock()
	return nil
}

// admit says whether a message may be queued.
func (o *outbox) admit(t *target, m *message, size int) error {
	switch {
	case o.state == outClosed:
		return o.refusal
	case o.env.closing.Load():
		return stoppedAt(o.env.Addr())
	case o.state == outIdle && !o.dials:
		return &LinkError{Addr: o.addr, Err: fmt.Errorf("%w: it does not listen, and is not connected", ErrDisconnected)}
	case size > o.maxFrame-frameRoom:
		return fmt.Errorf("%w: %s of %d bytes, at most %d", ErrTooLarge, m.name, size, o.maxFrame-frameRoom)
	case o.fullFor(t):
		return o.full
	}
	return nil
}

// frameRoom is what a frame may need beside its payload.
const frameRoom = 64

func (o *outbox) fullFor(t *target) bool {
	return len(o.buf)+o.writing >= o.env.cfg.OutboxBytes || t.session == o.session && t.credit <= 0
}

// define makes sure that the peer knows the numbers of a target and a type, and
// takes the message's bytes off the target's credit.
func (o *outbox) define(t *target, m *message, size int) {
	if t.session != o.session {
		if len(o.targets) == maxTargets {
			o.buf = wire.AppendPlain(o.buf, wire.Version, wire.Forget, nil)
			o.session = o.env.sessions.Add(1)
			o.base += maxTargets
			clear(o.targets)
			o.targets = o.targets[:0]
		}
		t.session, t.index, t.credit = o.session, o.base+uint32(len(o.targets)), o.window
		o.targets = append(o.targets, t)
		o.buf = wire.AppendDefine(o.buf, wire.Target, t.index, t.name)
	}
	t.credit -= int64(size + wire.Overhead)
	o.defineType(m)
}

func (o *outbox) defineType(m *message) {
	if o.types[m.index] == 0 {
		o.buf = wire.AppendDefine(o.buf, wire.Type, o.typesNow, m.name)
		o.typesNow++
		o.types[m.index] = o.typesNow
	}
}

// kick gets what was queued on its way.
func (o *outbox) kick() {
	switch {
	case o.state == outConnected:
		o.wake.Signal()
	case o.state == outIdle && o.dials:
		o.state = outConnecting
		o.env.spawn(o.connect)
	}
}

// vacancy is closed when there may be room again; nil when there is now.
func (o *outbox) vacancy(t *target) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state == outClosed || !o.fullFor(t) {
		return nil
	}
	if o.space == nil {
		o.space = make(chan struct{})
	}
	o.crowded = o.crowded || len(o.buf)+o.writing >= o.env.cfg.OutboxBytes
	return o.space
}

func (o *outbox) letIn() {
	if o.space != nil {
		close(o.space)
		o.space, o.crowded = nil, false
	}
}

// giveUp forgets an ask whose asker does not wait any more.
func (o *outbox) giveUp(c *call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls.drop(c) && len(o.buf) > 0 {
		o.stale = true
	}
}

// resetSession starts the numbers anew.
func (o *outbox) resetSession() {
	o.session = o.env.sessions.Add(1)
	clear(o.targets)
	o.base, o.targets = 0, o.targets[:0]
	clear(o.types)
	o.typesNow = 0
	o.window, o.maxFrame = wire.InitialWindow, o.env.cfg.MaxFrame
}

// endSession empties the queue. What it returns has to be failed, without the
// lock.
func (o *outbox) endSession(next outState) (rest []waiting, lost int) {
	lost = countTells(o.buf)
	rest = o.calls.takeAll()
	o.buf, o.stale, o.writing = o.buf[:0], false, 0
	o.link = nil
	o.state = next
	o.resetSession()
	o.letIn()
	o.wake.Broadcast()
	return rest, lost
}

// attach makes a connection the outbox's own; one it had before has ended.
func (o *outbox) attach(l *link) bool {
	o.mu.Lock()
	if o.state == outClosed {
		o.mu.Unlock()
		return false
	}
	var rest []waiting
	var unsent int
	if o.link != nil {
		rest, unsent = o.endSession(outIdle)
	}
	o.link, o.state = l, outConnected
	more := int64(l.peerWindow) - o.window
	o.window = int64(l.peerWindow)
	for _, t := range o.targets {
		t.credit += more
	}
	o.maxFrame = min(o.maxFrame, l.peerMaxFrame)
	tooLarge, lost := o.sift()
	o.letIn()
	o.mu.Unlock()
	failAll(rest, &LinkError{Addr: o.addr, Err: fmt.Errorf("%w: %w", ErrDisconnected, errSuperseded)})
	failAll(tooLarge, fmt.Errorf("%w for %s: at most %d bytes", ErrTooLarge, o.addr, l.peerMaxFrame))
	o.env.dropped(string(o.addr), unsent, errSuperseded)
	o.env.dropped(string(o.addr), lost, ErrTooLarge)
	return true
}

// sift takes out of the queue what must not be sent: asks that nobody waits for
// any more, and what is too large for the peer.
func (o *outbox) sift() (tooLarge []waiting, lost int) {
	kept := o.buf[:0]
	for rest := o.buf; len(rest) > 0; {
		f, size, err := wire.Cut(rest, wire.Version, o.env.cfg.MaxFrame)
		if err != nil || size == 0 {
			panic(fmt.Sprintf("rpc: outbox holds no whole frame: %v", err))
		}
		keep := true
		switch f.Kind {
		case wire.Ask:
			m, _ := wire.ParseAsk(f.Body)
			waits := o.calls.has(m.ID)
			if keep = waits && size-4 <= o.maxFrame; keep {
				break
			}
			o.refund(m)
			if waits {
				tooLarge = append(tooLarge, o.calls.take(m.ID))
			}
		case wire.Tell:
			if keep = size-4 <= o.maxFrame; !keep {
				m, _ := wire.ParseTell(f.Body)
				o.refund(m)
				lost++
			}
		}
		if keep {
			kept = append(kept, rest[:size]...)
		}
		rest = rest[size:]
	}
	o.buf, o.stale = kept, false
	return tooLarge, lost
}

// refund gives back the credit of a message that is not sent.
func (o *outbox) refund(m wire.Message) {
	if t := o.numbered(m.Target); t != nil {
		t.credit += int64(sizeOf(m.Payload))
	}
}

// numbered is the target with a number; nil when it is forgotten.
func (o *outbox) numbered(number uint32) *target {
	if i := number - o.base; number >= o.base && int(i) < len(o.targets) {
		return o.targets[i]
	}
	return nil
}

// countTells is how many one-way messages a queue holds.
func countTells(buf []byte) (n int) {
	for len(buf) > 0 {
		f, size, err := wire.Cut(buf, wire.Version, 1<<30)
		if err != nil || size == 0 {
			return n
		}
		if f.Kind == wire.Tell {
			n++
		}
		buf = buf[size:]
	}
	return n
}

func failAll(list []waiting, err error) {
	for _, w := range list {
		w.call.fail(w.generation, err)
	}
}
