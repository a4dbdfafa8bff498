package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

// budget is how many messages an endpoint handles before others that are ready
// have their turn.
const budget = 256

// maxSpare bounds the queue memory that an idle inbox keeps, in envelopes.
const maxSpare = 12 << 10

// run handles what is queued until nothing is.
func (in *inbox) run(l *loop) {
	for in.round(l) {
	}
}

// round handles one batch, and goes on behind a handler that did not return.
func (in *inbox) round(l *loop) (more bool) {
	returned := false
	defer func() {
		if !returned {
			more = in.survive(l, recover())
		}
	}()
	if l.at < len(l.batch) || in.take(l) {
		in.handleBatch(l)
		more = true
	}
	returned = true
	return more
}

// survive accounts for the message whose handler panicked, or, without a
// reason, ended the goroutine: another loop then has to go on.
func (in *inbox) survive(l *loop, reason any) (more bool) {
	e := &l.batch[l.at]
	if reason != nil {
		in.failed(l, e, fmt.Errorf("%w: %v", errPanicked, reason), debug.Stack())
		in.handled(l, e)
		return true
	}
	in.failed(l, e, errExited, nil)
	in.handled(l, e)
	heir := &loop{d: l.d, next: make(chan *inbox, 1)}
	heir.batch, heir.at, heir.settled = l.batch, l.at, l.settled
	heir.from, heir.bytes = l.from, l.bytes
	go heir.work(in)
	return false
}

func (in *inbox) handleBatch(l *loop) {
	for l.at < len(l.batch) {
		e := &l.batch[l.at]
		in.handle(l, e)
		in.handled(l, e)
		if l.at-l.settled >= budget {
			in.mu.Lock()
			in.settle(l)
			in.mu.Unlock()
			l.grantCredit()
			runtime.Gosched()
		}
	}
}

// handled steps behind a message.
func (in *inbox) handled(l *loop, e *envelope) {
	l.at++
	if e.from != nil {
		if l.from != e.from {
			l.grantCredit()
			l.from = e.from
		}
		l.bytes += int64(e.size)
	}
}

// grantCredit lets the sender know what was handled.
func (l *loop) grantCredit() {
	if l.from != nil {
		l.from.consumed(l.bytes)
		l.from, l.bytes = nil, 0
	}
}

// settle takes what was handled off the count. It needs the lock.
func (in *inbox) settle(l *loop) {
	n := l.at - l.settled
	if n == 0 {
		return
	}
	var bytes int64
	part := l.batch[l.settled:l.at]
	for i := range part {
		bytes += int64(part[i].size)
	}
	clear(part)
	l.settled = l.at
	in.release(n, bytes)
}

// take gives the loop its next batch; false says that it has nothing more to do
// here.
func (in *inbox) take(l *loop) bool {
	l.grantCredit()
	in.mu.Lock()
	in.settle(l)
	in.giveBack(l)
	if in.phase == phaseStarting {
		in.mu.Unlock()
		if !in.begin() {
			return false
		}
		in.mu.Lock()
	}
	if in.head < len(in.queue) {
		in.fill(l)
		in.mu.Unlock()
		return true
	}
	if in.refusal != nil && in.active == 1 && in.phase == phaseRunning {
		in.mu.Unlock()
		in.finish()
		return false
	}
	in.active--
	if in.ep.Concurrency == 1 && in.refusal == nil && l.d.mayWait() {
		in.waiting, l.waits = l, true
	}
	in.mu.Unlock()
	return false
}

// giveBack keeps the memory of a batch for the next.
func (in *inbox) giveBack(l *loop) {
	if n := cap(l.batch); in.ep.Concurrency == 1 && n > 1 && n <= maxSpare {
		in.spare = l.batch[:0]
	}
	l.batch, l.at, l.settled = nil, 0, 0
}

// fill takes all that is queued, or, for one of several loops, one message.
func (in *inbox) fill(l *loop) {
	if in.ep.Concurrency == 1 {
		l.batch, in.queue, in.spare = in.queue, in.spare, nil
		return
	}
	l.one[0] = in.queue[in.head]
	l.batch = l.one[:1]
	in.queue[in.head] = envelope{}
	in.head++
	switch {
	case in.head == len(in.queue):
		in.queue, in.head = in.queue[:0], 0
	case in.head >= 1024 && in.head > len(in.queue)/2:
		n := copy(in.queue, in.queue[in.head:])
		clear(in.queue[n:])
		in.queue, in.head = in.queue[:n], 0
	}
}

// begin runs OnStart; false says that the endpoint has ended thereby.
func (in *inbox) begin() bool {
	err := in.callback("OnStart", func(ctx context.Context) error {
		if in.ep.OnStart == nil {
			return nil
		}
		return in.ep.OnStart(ctx, Ref{in.self})
	})
	if err != nil {
		in.abort(err)
		return false
	}
	in.mu.Lock()
	in.phase = phaseRunning
	more := in.claimMore(len(in.queue) - 1)
	in.mu.Unlock()
	for range more {
		in.env.dispatcher.run(in)
	}
	return true
}

// abort ends an endpoint whose OnStart has failed: its asks get the cause.
func (in *inbox) abort(cause error) {
	in.env.forget(in)
	in.mu.Lock()
	if in.refusal == nil {
		in.refusal = notFound(in.name)
	}
	rest := in.queue
	in.queue, in.phase = nil, phaseStopped
	in.messages, in.bytes = 0, 0
	in.letIn()
	in.mu.Unlock()
	in.report(cause)
	dropped := 0
	for i := range rest {
		e := &rest[i]
		switch e.kind {
		case kindAsk:
			addresseeOf(e).fail(newFailure(in.name, fmt.Errorf("start endpoint: %w", cause)))
		case kindTell:
			if dropped++; e.from != nil {
				e.from.link.refused(failure{endpoint: in.name, code: codeNotFound}, 1)
			}
		}
		if e.from != nil {
			e.from.consumed(int64(e.size))
		}
	}
	in.env.dropped(in.name, dropped, cause)
	in.end()
}

// finish runs OnStop and ends the endpoint.
func (in *inbox) finish() {
	err := in.callback("OnStop", func(ctx context.Context) error {
		if in.ep.OnStop == nil {
			return nil
		}
		return in.ep.OnStop(ctx)
	})
	if err != nil {
		in.env.log.Error("stop endpoint", "endpoint", in.name, "error", err)
	}
	in.mu.Lock()
	in.phase = phaseStopped
	in.mu.Unlock()
	in.env.forget(in)
	in.end()
}

func (in *inbox) end() {
	in.later.abandon()
	in.cancel()
	close(in.done)
}

// handle gives one message to its handler.
func (in *inbox) handle(l *loop, e *envelope) {
	switch e.kind {
	case kindTell:
		h := in.handlers.tellFor(e.msg)
		if h == nil {
			in.failed(l, e, fmt.Errorf("%w %s, sent one-way", ErrUnsupported, e.messageName()), nil)
			return
		}
		if err := h.tell(l.contextFor(in, e), e, in.env); err != nil {
			in.failed(l, e, err, nil)
		}
	case kindAsk:
		in.handleAsk(l, e)
	case kindFault:
		in.report(e.value.(*HandlerError))
	default:
		in.handleEvent(e)
	}
}

func (in *inbox) handleAsk(l *loop, e *envelope) {
	if e.expired(time.Now) {
		// Nobody waits: it is not begun.
		addresseeOf(e).fail(failure{endpoint: in.name, code: codeTimeout})
		in.env.count.expired.Add(1)
		return
	}
	h, resp := in.handlers.askFor(e.msg)
	if h == nil {
		addresseeOf(e).fail(newFailure(in.name, fmt.Errorf("%w %s", ErrUnsupported, e.messageName())))
		return
	}
	if err := h.ask(l.contextFor(in, e), e, in, resp); err != nil {
		in.failed(l, e, err, nil)
	}
}

func (in *inbox) handleEvent(e *envelope) {
	ev := e.value.(event)
	err := in.callback(e.messageName(), func(ctx context.Context) error {
		switch e.kind {
		case kindConnected:
			return in.ep.OnConnected(ctx, ev.addr)
		case kindDisconnected:
			return in.ep.OnDisconnected(ctx, ev.addr)
		default:
			return in.ep.OnNetworkError(ctx, ev.addr, ev.err)
		}
	})
	if err != nil {
		in.report(err)
	}
}

// failed tells the asker and OnError of a handler's failure.
func (in *inbox) failed(_ *loop, e *envelope, err error, stack []byte) {
	if e.kind == kindAsk && !e.answered {
		f := newFailure(in.name, err)
		if e.expired(time.Now) && errors.Is(err, context.DeadlineExceeded) {
			f.code = codeTimeout
		}
		addresseeOf(e).fail(f)
	}
	in.report(&HandlerError{
		Endpoint: in.name, Message: e.messageName(), Err: err, Stack: stack, Panicked: errors.Is(err, errPanicked),
	})
}

// report hands an error to OnError; one in OnError itself is logged.
func (in *inbox) report(err error) {
	if in.ep.OnError == nil {
		in.env.log.Error("handler error", "endpoint", in.name, "error", err)
		return
	}
	own := in.callback("OnError", func(ctx context.Context) error { return in.ep.OnError(ctx, err) })
	if own != nil {
		in.env.log.Error("error while handling an error", "endpoint", in.name, "error", own, "handled", err)
	}
}

// callback runs one of the rare callbacks on a goroutine of its own, so that it
// may end as it likes. An error is a HandlerError.
func (in *inbox) callback(name string, f func(ctx context.Context) error) error {
	ctx := &handlerContext{Context: in.ctx, in: in, peer: &in.env.local}
	problem := &HandlerError{Endpoint: in.name, Message: name, Err: errExited}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				problem.Err = fmt.Errorf("%w: %v", errPanicked, r)
				problem.Panicked, problem.Stack = true, debug.Stack()
			}
		}()
		problem.Err = f(ctx)
	}()
	<-done
	if problem.Err == nil {
		return nil
	}
	return problem
}
