package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// Send posts a one-way message. It never waits: nil says that the message is in
// the queue of the endpoint, or of the connection to its process; [ErrFull] that
// there is no room, and nothing was sent. What one goroutine sends to one endpoint
// arrives in this order or not at all.
func Send[T any](ref Ref, msg T) error {
	t := ref.target
	if t == nil {
		return errNoRef
	}
	m, err := messageOf[T](t.env.registry)
	if err != nil {
		return err
	}
	if t.out == nil {
		value, size, err := enclose(m, msg)
		if err != nil {
			return fmt.Errorf("encode message %s: %w", m.name, err)
		}
		if in := t.inbox.Load(); in != nil && in.offerTell(m, value, size) {
			return nil
		}
		return t.offer(&envelope{kind: kindTell, msg: m, value: value, size: size})
	}
	if b, ok := any(&msg).(*Bytes); ok {
		return t.out.tell(t, m, *b)
	}
	scratch := t.env.scratch()
	defer t.env.release(scratch)
	if *scratch, err = m.codec.(typed[T]).append((*scratch)[:0], msg); err != nil {
		return fmt.Errorf("encode message %s: %w", m.name, err)
	}
	return t.out.tell(t, m, *scratch)
}

// SendWait is Send that waits for room as long as ctx allows.
func SendWait[T any](ctx context.Context, ref Ref, msg T) error {
	for {
		err := Send(ref, msg)
		if err == nil || !errors.Is(err, ErrFull) {
			return err
		}
		vacancy := ref.target.vacancy()
		if vacancy == nil {
			continue
		}
		select {
		case <-vacancy:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", err, context.Cause(ctx))
		}
	}
}

// sizeOf is what a message counts in a queue.
func sizeOf(data []byte) uint32 { return uint32(len(data) + wire.Overhead) }

// Ask sends a request and waits for its reply: until the deadline of ctx, or
// Config.AskTimeout when it has none. The deadline goes with the request, so that
// one whose asker has given up is not begun. The request is sent at most once.
//
// The error says what happened: a [RemoteError] when the handler failed, and else
// one of the errors of this package. After [ErrTimeout], [ErrDisconnected] and
// the end of ctx the request may have been handled, after the others it has not.
func Ask[Resp, Req any](ctx context.Context, ref Ref, req Req) (resp Resp, err error) {
	t := ref.target
	if t == nil {
		return resp, errNoRef
	}
	m, err := messageOf[Req](t.env.registry)
	if err != nil {
		return resp, err
	}
	want, err := messageOf[Resp](t.env.registry)
	if err != nil {
		return resp, err
	}
	a := newAsk(ctx, t)
	if t.out == nil {
		e := envelope{kind: kindAsk, msg: m, call: a.c, id: a.gen}
		if e.value, e.size, err = enclose(m, req); err == nil {
			err = a.local(&e)
		}
	} else if b, ok := any(&req).(*Bytes); ok {
		err = a.remote(m, *b)
	} else {
		scratch := t.env.scratch()
		if *scratch, err = m.codec.(typed[Req]).append((*scratch)[:0], req); err == nil {
			err = a.remote(m, *scratch)
		}
		t.env.release(scratch)
	}
	if err != nil {
		a.withdraw()
	} else if err = a.wait(); err == nil {
		resp, err = unpackReply[Resp](want, &a.c.result, t)
		a.c.recycle()
	}
	if observe := t.env.cfg.Hooks.AskDone; observe != nil {
		observe(ref, time.Since(a.began), err)
	}
	return resp, err
}

func unpackReply[Resp any](want *message, got *parcel, t *target) (resp Resp, err error) {
	if got.msg != want {
		name := "unknown here"
		if got.msg != nil {
			name = got.msg.name
		}
		return resp, fmt.Errorf("ask %s: %w: %s rather than %s", t.name, errWrongReply, name, want.name)
	}
	resp, err = unpack[Resp](got, t.env)
	if err != nil {
		return resp, fmt.Errorf("ask %s: %w: %w", t.name, ErrMalformed, err)
	}
	return resp, nil
}

// ask is one Ask on its way.
type ask struct {
	ctx context.Context
	t   *target
	c   *call
	gen uint64
	// deadline is the context's; zero: the call's own timeout is the bound.
	deadline time.Time
	began    time.Time
}

func newAsk(ctx context.Context, t *target) ask {
	a := ask{ctx: ctx, t: t}
	var limited bool
	a.deadline, limited = ctx.Deadline()
	a.c = t.env.newCall(t.name, !limited)
	a.gen = a.c.generation()
	if t.env.cfg.Hooks.AskDone != nil {
		a.began = time.Now()
	}
	return a
}

// local posts the request to an endpoint of this process.
func (a *ask) local(e *envelope) error {
	if !a.deadline.IsZero() {
		e.deadline = a.deadline.UnixNano()
	}
	for {
		if a.ctx.Err() != nil {
			return contextError(a.ctx, a.t.name)
		}
		err := a.t.offer(e)
		if err == nil || !errors.Is(err, ErrFull) {
			return err
		}
		if err := a.room(err); err != nil {
			return err
		}
	}
}

// remote puts the request into the outbox of its process.
func (a *ask) remote(m *message, data []byte) error {
	for {
		if a.ctx.Err() != nil {
			return contextError(a.ctx, a.t.name)
		}
		var millis uint64
		if !a.deadline.IsZero() {
			millis = uint64(max(1, time.Until(a.deadline).Milliseconds()))
		}
		err := a.t.out.ask(a.t, m, data, a.c, millis)
		if err == nil || !errors.Is(err, ErrFull) {
			return err
		}
		if err := a.room(err); err != nil {
			return err
		}
	}
}

// room waits until there may be room in the queue; full is what it says when
// there is none in time.
func (a *ask) room(full error) error {
	vacancy := a.t.vacancy()
	if vacancy == nil {
		return nil
	}
	select {
	case <-vacancy:
		return nil
	case <-a.ctx.Done():
		return fmt.Errorf("%w: %w", full, contextError(a.ctx, a.t.name))
	case <-a.c.done:
		// The timeout; nothing else has the call yet.
		return fmt.Errorf("%w: %w", full, a.c.err)
	}
}

// withdraw ends an ask that nobody else has got hold of.
func (a *ask) withdraw() {
	if a.c.settle(a.gen) {
		a.c.recycle()
	}
}

// wait waits for the answer; nil leaves it in the call.
func (a *ask) wait() error {
	if ended := a.ctx.Done(); ended == nil {
		<-a.c.done
	} else {
		select {
		case <-a.c.done:
		case <-ended:
			if a.c.settle(a.gen) {
				if a.t.out != nil {
					a.t.out.giveUp(a.c)
				}
				return contextError(a.ctx, a.t.name)
			}
			// An answer came first; it is here at once.
			<-a.c.done
		}
	}
	err := a.c.err
	if err == nil {
		return nil
	}
	if a.t.out != nil && errors.Is(err, ErrTimeout) {
		a.t.out.giveUp(a.c)
		return err
	}
	a.c.recycle()
	return err
}
