package rpc

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// Call is an ask whose answer is given by [Call.Reply] or [Call.Fail], once, from
// any goroutine. A Call that is let go without an answer fails its ask with
// [ErrNoReply], and OnError is told: when the endpoint has stopped, or, in an Env
// that is started, a second after the garbage collector has found it.
type Call[Resp any] struct {
	token *token
}

// token is what only the handler holds, so that letting it go is noticed.
type token struct {
	state *pendingReply
}

// pendingReply is an ask that a handler has taken to answer later.
type pendingReply struct {
	in       *inbox
	to       addressee
	resp     *message
	request  string
	answered atomic.Bool
}

func newCall[Resp any](in *inbox, to addressee, resp *message, request string) Call[Resp] {
	s := &pendingReply{in: in, to: to, resp: resp, request: request}
	in.later.add(s)
	t := &token{state: s}
	runtime.AddCleanup(t, (*pendingReply).dropped, s)
	return Call[Resp]{token: t}
}

// Reply answers. The error is [ErrAnswered] when it has been answered before or
// nobody waits any more, and otherwise says that resp could not be encoded, or
// that the connection is lost.
func (c Call[Resp]) Reply(resp Resp) error {
	s := c.token.state
	if !s.take() {
		return s.twice()
	}
	sent, err := answer(s.in.env, s.to, s.resp, resp)
	if err != nil {
		s.to.fail(newFailure(s.in.name, err))
		return err
	}
	if !sent {
		return fmt.Errorf("%w: nobody waits for it any more", ErrAnswered)
	}
	return nil
}

// Fail answers with an error, as a handler that returns it.
func (c Call[Resp]) Fail(err error) error {
	s := c.token.state
	if !s.take() {
		return s.twice()
	}
	if !s.to.fail(newFailure(s.in.name, err)) {
		return fmt.Errorf("%w: nobody waits for it any more", ErrAnswered)
	}
	return nil
}

// take decides who answers.
func (s *pendingReply) take() bool {
	if !s.answered.CompareAndSwap(false, true) {
		return false
	}
	s.in.later.remove(s)
	return true
}

// twice reports an answer too many to the endpoint also: the caller may not look.
func (s *pendingReply) twice() error {
	err := fmt.Errorf("answer %s: %w", s.request, ErrAnswered)
	s.in.fault(s.request, err)
	return err
}

// abandon fails an ask that nobody will answer.
func (s *pendingReply) abandon() {
	if s.take() {
		err := fmt.Errorf("answer %s: %w", s.request, ErrNoReply)
		s.to.fail(newFailure(s.in.name, err))
		s.in.fault(s.request, err)
	}
}

// dropped is called by the runtime, from outside of everything: the janitor does
// the rest.
func (s *pendingReply) dropped() {
	if !s.answered.Load() {
		s.in.env.janitor.leave(s)
	}
}
