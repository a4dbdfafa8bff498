package rpc

import (
	"context"
	"sync"
)

// phase is where an inbox stands; it only grows.
type phase uint8

const (
	// phaseStarting: OnStart has not returned; messages are queued.
	phaseStarting phase = iota
	// phaseRunning: messages are handled; of a closing one, the last.
	phaseRunning
	// phaseStopped: OnStop has run, or OnStart has failed.
	phaseStopped
)

// inbox is the queue of one endpoint. It is on a loop (or, for a concurrent
// endpoint, on several) exactly while there is something to do: a message that
// finds it idle puts it there once.
type inbox struct {
	env      *Env
	name     string
	ep       Endpoint
	handlers handlerTable
	self     *target
	ctx      context.Context
	cancel   context.CancelFunc
	done     chan struct{}
	later    laterSet

	maxBytes    int64
	maxMessages int

	mu    sync.Mutex
	phase phase
	// refusal is what posts get once the inbox is closing; nil before.
	refusal error
	// queue[head:] waits. spare is the memory of a batch that was handled.
	queue []envelope
	head  int
	spare []envelope
	// messages and bytes are what is queued or in work.
	messages int
	bytes    int64
	// active is how many loops are at work here; waiting is one that is not, and
	// was the last: it stays with a sequential endpoint.
	active  int
	waiting *loop
	// space is closed when a sender that waits may look again; nil: none waits.
	space chan struct{}
}

// start puts OnStart on a loop.
func (in *inbox) start() {
	in.mu.Lock()
	in.active++
	in.mu.Unlock()
	in.env.dispatcher.run(in)
}

// post queues an envelope whatever the bounds: of a remote sender, whose credit
// was counted, or an event.
func (in *inbox) post(e envelope) error {
	in.mu.Lock()
	if err := in.refusal; err != nil {
		in.mu.Unlock()
		return err
	}
	in.push(&e)
	l, wake := in.claim()
	in.mu.Unlock()
	if wake {
		in.env.dispatcher.wake(l, in)
	}
	return nil
}

// postAll is post for several at once. When it succeeds, the caller has an empty
// list, with other memory as a rule: a queue that is empty is exchanged for it.
// When it fails, all are still the caller's.
func (in *inbox) postAll(batch *[]envelope) error {
	list := *batch
	in.mu.Lock()
	if err := in.refusal; err != nil {
		in.mu.Unlock()
		return err
	}
	var bytes int64
	for i := range list {
		bytes += int64(list[i].size)
	}
	if len(in.queue) == 0 && in.ep.Concurrency == 1 {
		memory := in.queue
		if cap(memory) == 0 {
			memory, in.spare = in.spare, nil
		}
		in.queue, *batch = list, memory[:0]
	} else {
		in.queue = append(in.queue, list...)
		clear(list)
		*batch = list[:0]
	}
	n := len(list)
	in.messages += n
	in.bytes += bytes
	l, wake := in.claim()
	more := 0
	if wake {
		more = in.claimMore(n - 1)
	}
	in.mu.Unlock()
	if wake {
		in.env.dispatcher.wake(l, in)
	}
	for range more {
		in.env.dispatcher.run(in)
	}
	return nil
}

// offerTell is offer for a one-way message, without more ado: when it says no,
// offer says why. What the queue's memory holds behind its end is zero, so that
// only what a one-way message has need be written.
func (in *inbox) offerTell(m *message, value any, size uint32) bool {
	in.mu.Lock()
	n := len(in.queue)
	if in.refusal != nil || in.full() || in.waiting != nil || n == cap(in.queue) {
		in.mu.Unlock()
		return false
	}
	in.queue = in.queue[:n+1]
	e := &in.queue[n]
	e.msg, e.value, e.size = m, value, size
	in.messages++
	in.bytes += int64(size)
	_, wake := in.claim()
	in.mu.Unlock()
	if wake {
		in.env.dispatcher.run(in)
	}
	return true
}

// offer queues a local sender's message, unless the inbox is full.
func (in *inbox) offer(e *envelope) error {
	in.mu.Lock()
	switch {
	case in.refusal != nil:
		err := in.refusal
		in.mu.Unlock()
		return err
	case in.full():
		in.mu.Unlock()
		return &FullError{Queue: "inbox of " + in.name}
	}
	l, wake := in.claim()
	if l != nil {
		// It waits for just this message.
		in.messages++
		in.bytes += int64(e.size)
		l.one[0] = *e
		l.batch = l.one[:1]
	} else {
		in.push(e)
	}
	in.mu.Unlock()
	if wake {
		in.env.dispatcher.wake(l, in)
	}
	return nil
}

func (in *inbox) full() bool { return in.messages >= in.maxMessages || in.bytes >= in.maxBytes }

func (in *inbox) push(e *envelope) {
	in.queue = append(in.queue, *e)
	in.messages++
	in.bytes += int64(e.size)
}

// claim says whether one more loop has to be brought here, and counts it. The
// one that waits here is handed over, if there is one.
func (in *inbox) claim() (l *loop, wake bool) {
	if l = in.waiting; l != nil {
		in.waiting = nil
		in.active++
		return l, true
	}
	most := in.ep.Concurrency
	if in.phase == phaseStarting {
		most = 1
	}
	if in.active >= most {
		return nil, false
	}
	in.active++
	return nil, true
}

// claimMore counts up to n loops more, for a concurrent endpoint.
func (in *inbox) claimMore(n int) (more int) {
	for more < n {
		if _, wake := in.claim(); !wake {
			break
		}
		more++
	}
	return more
}

// vacancy is closed when there may be room again; nil when there is now.
func (in *inbox) vacancy() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.refusal != nil || !in.full() {
		return nil
	}
	if in.space == nil {
		in.space = make(chan struct{})
	}
	return in.space
}

// release takes what was handled off the count and lets waiting senders in once
// half is free.
func (in *inbox) release(messages int, bytes int64) {
	in.messages -= messages
	in.bytes -= bytes
	if in.space != nil && in.messages <= in.maxMessages/2 && in.bytes <= in.maxBytes/2 {
		in.letIn()
	}
}

func (in *inbox) letIn() {
	if in.space != nil {
		close(in.space)
		in.space = nil
	}
}

// stop lets what was accepted be handled, and refuses the rest with an error.
func (in *inbox) stop(refusal error) {
	in.mu.Lock()
	if in.refusal != nil {
		in.mu.Unlock()
		return
	}
	in.refusal = refusal
	in.letIn()
	var l *loop
	wake := in.active == 0
	if wake {
		l, _ = in.claim()
	}
	in.mu.Unlock()
	if wake {
		in.env.dispatcher.wake(l, in)
	}
}

// size is the queue's length and bytes, those in work included.
func (in *inbox) size() (messages int, bytes int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.messages, in.bytes
}

// fault hands an error that was found outside of a handler to OnError.
func (in *inbox) fault(message string, err error) {
	e := envelope{kind: kindFault, value: &HandlerError{Endpoint: in.name, Message: message, Err: err}}
	if in.post(e) != nil {
		in.env.log.Error("endpoint fault", "endpoint", in.name, "message", message, "error", err)
	}
}
