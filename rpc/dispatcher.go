package rpc

import (
	"sync"
	"sync/atomic"
)

// maxWaiting is how many loops may wait at the endpoints that they ran last.
const maxWaiting = 1024

// dispatcher runs inboxes that have messages on loops. A loop that has nothing
// more to do waits where it was, for the next message there, or, when many do so
// already, among a few idle ones. An inbox that finds none is given a new one, so
// that handlers that block, however many, hold up only their own endpoints.
type dispatcher struct {
	keep    int
	waiting atomic.Int32

	mu     sync.Mutex
	idle   []*loop
	closed bool
}

// loop is one goroutine that runs inboxes.
type loop struct {
	d    *dispatcher
	next chan *inbox
	// batch is what was taken from an inbox. What lies before at is handled, and
	// what lies before settled is taken off the inbox's count.
	batch       []envelope
	at, settled int
	// one is a batch of one: a concurrent endpoint's, or the message for which a
	// waiting loop is woken.
	one [1]envelope
	// waits: it is an inbox's waiting loop.
	waits bool
	// from is the connection that gets credit for bytes handled.
	from  *channel
	bytes int64
	// ctx is the last handler's context, used again while endpoint and peer are
	// the same.
	ctx *handlerContext
}

// mayWait counts a loop that is to wait at an inbox.
func (d *dispatcher) mayWait() bool {
	if d.waiting.Add(1) <= maxWaiting {
		return true
	}
	d.waiting.Add(-1)
	return false
}

// wake gives an inbox to the loop that waits there, or, without one, to any.
func (d *dispatcher) wake(l *loop, in *inbox) {
	if l == nil {
		d.run(in)
		return
	}
	d.waiting.Add(-1)
	l.next <- in
}

// run gives an inbox to a loop. It has at most as many loops as its endpoint may
// have messages in work.
func (d *dispatcher) run(in *inbox) {
	d.mu.Lock()
	if n := len(d.idle); n > 0 {
		l := d.idle[n-1]
		d.idle = d.idle[:n-1]
		d.mu.Unlock()
		l.next <- in
		return
	}
	d.mu.Unlock()
	l := &loop{d: d, next: make(chan *inbox, 1)}
	go l.work(in)
}

// work runs inboxes until enough other loops are idle. The loop that a handler
// ends by runtime.Goexit is replaced by the inbox.
func (l *loop) work(in *inbox) {
	for in != nil {
		in.run(l)
		if l.waits {
			l.waits = false
		} else if !l.d.park(l) {
			return
		}
		in = <-l.next
	}
}

// park puts a loop among the idle ones; false: there are enough.
func (d *dispatcher) park(l *loop) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || len(d.idle) >= d.keep {
		return false
	}
	d.idle = append(d.idle, l)
	return true
}

// close ends the idle loops, and those that run as soon as they are done.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, l := range d.idle {
		l.next <- nil
	}
	d.idle = nil
}
