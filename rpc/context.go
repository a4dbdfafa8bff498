package rpc

import (
	"context"
	"sync"
	"time"
)

// handlerKey finds the handlerContext in a context derived from it.
type handlerKey struct{}

// handlerContext is what a handler gets: it ends when the Env gives up waiting
// for its endpoint, and knows who sent the message. It never changes.
type handlerContext struct {
	context.Context
	in   *inbox
	peer *Peer
}

// Value implements context.Context.
func (c *handlerContext) Value(key any) any {
	if _, ok := key.(handlerKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// Sender is the process that the message came from which the handler of this
// context handles; ok is false in any other context.
func Sender(ctx context.Context) (peer Peer, ok bool) {
	c, ok := ctx.Value(handlerKey{}).(*handlerContext)
	if !ok {
		return Peer{}, false
	}
	peer = *c.peer
	if peer.Local {
		peer.Addr = c.in.env.Addr()
	}
	return peer, true
}

// Self is the endpoint whose handler this context was given to; ok is false in
// any other context.
func Self(ctx context.Context) (ref Ref, ok bool) {
	c, ok := ctx.Value(handlerKey{}).(*handlerContext)
	if !ok {
		return Ref{}, false
	}
	return Ref{c.in.self}, true
}

// inHandlerOf says whether ctx was given to a handler of this Env.
func inHandlerOf(ctx context.Context, env *Env) (*inbox, bool) {
	c, ok := ctx.Value(handlerKey{}).(*handlerContext)
	if !ok || c.in.env != env {
		return nil, false
	}
	return c.in, true
}

// askContext is the context of an ask whose asker waits until a deadline. Its
// timer is made when somebody looks.
type askContext struct {
	*handlerContext
	deadline time.Time
	once     sync.Once
	timed    context.Context
	cancel   context.CancelFunc
}

func (c *askContext) watch() context.Context {
	c.once.Do(func() {
		c.timed, c.cancel = context.WithDeadline(c.Context, c.deadline)
		context.AfterFunc(c.timed, c.cancel)
	})
	return c.timed
}

// Deadline implements context.Context.
func (c *askContext) Deadline() (time.Time, bool) { return c.deadline, true }

// Done implements context.Context.
func (c *askContext) Done() <-chan struct{} { return c.watch().Done() }

// Err implements context.Context.
func (c *askContext) Err() error { return c.watch().Err() }

// contextFor is the context for a message's handler.
func (l *loop) contextFor(in *inbox, e *envelope) context.Context {
	peer := &in.env.local
	if e.from != nil {
		peer = &e.from.link.peer
	}
	if l.ctx == nil || l.ctx.in != in || l.ctx.peer != peer {
		l.ctx = &handlerContext{Context: in.ctx, in: in, peer: peer}
	}
	if e.deadline != 0 {
		return &askContext{handlerContext: l.ctx, deadline: time.Unix(0, e.deadline)}
	}
	return l.ctx
}
