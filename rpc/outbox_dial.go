package rpc

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// connect makes the connection that a session has been waiting for, and runs it.
func (o *outbox) connect() {
	ctx := o.env.halting
	if !o.pause(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, o.env.cfg.ConnectTimeout)
	l, err := o.env.dial(ctx, o)
	cancel()
	if err != nil {
		o.failed(err)
		return
	}
	if !o.attach(l) {
		_ = l.conn.Close()
		return
	}
	o.mu.Lock()
	again := o.failures > 0
	o.mu.Unlock()
	if again {
		o.env.log.Info("connected again", "addr", string(o.addr))
		o.env.reconnected(o.addr)
	}
	l.run()
}

// pause waits as long as the failures before demand; false: the Env stops.
func (o *outbox) pause(ctx context.Context) bool {
	o.mu.Lock()
	wait := time.Until(o.retryAt)
	o.mu.Unlock()
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// failed ends a session whose connection did not come up.
func (o *outbox) failed(cause error) {
	o.mu.Lock()
	if o.state == outClosed {
		o.mu.Unlock()
		return
	}
	o.backOff()
	first := o.failures == 1
	rest, lost := o.endSession(outIdle)
	o.mu.Unlock()
	err := &LinkError{Addr: o.addr, Lost: lost, Err: cause}
	failAll(rest, &LinkError{Addr: o.addr, Err: cause})
	o.tellFailure(err, first)
}

// lost ends the session of a connection that was up. clean says that the peer
// ended it in order.
func (o *outbox) lost(l *link, cause error, clean bool) {
	o.mu.Lock()
	if o.link != l {
		o.mu.Unlock()
		return
	}
	next := outIdle
	if o.state == outClosed || l.private {
		next = outClosed
		if o.refusal == nil {
			o.refusal = &LinkError{Addr: o.addr, Err: fmt.Errorf("%w: %w", ErrDisconnected, cause)}
		}
	}
	if o.failures = 0; time.Since(l.since) < o.env.cfg.BackoffMax {
		// Whoever closes at once what he has accepted is not asked in a circle.
		o.backOff()
	}
	rest, lost := o.endSession(next)
	o.mu.Unlock()
	failAll(rest, &LinkError{Addr: o.addr, Err: fmt.Errorf("%w: %w", ErrDisconnected, cause)})
	if !clean || lost > 0 {
		o.tellFailure(&LinkError{Addr: o.addr, Lost: lost, Err: fmt.Errorf("%w: %w", ErrDisconnected, cause)}, true)
	}
}

// tellFailure logs the first failure of a row, and announces every one.
func (o *outbox) tellFailure(err *LinkError, first bool) {
	o.env.dropped(string(o.addr), err.Lost, err)
	if first && !o.env.isStopping() {
		o.env.log.Warn("connection failed", "addr", string(o.addr), "error", err)
	} else {
		o.env.log.Debug("connection failed", "addr", string(o.addr), "error", err)
	}
	o.env.announce(kindNetworkError, o.addr, err)
}

// backOff puts the next attempt off: twice as long after each failure, with
// jitter.
func (o *outbox) backOff() {
	o.failures++
	wait := o.env.cfg.BackoffMin
	for range min(o.failures-1, 30) {
		if wait *= 2; wait >= o.env.cfg.BackoffMax {
			wait = o.env.cfg.BackoffMax
			break
		}
	}
	wait = wait/2 + rand.N(wait/2+1)
	o.retryAt = time.Now().Add(wait)
}

// shut ends an outbox when the Env stops: what is queued on a connection is
// still sent, and everything else fails.
func (o *outbox) shut(refusal error) {
	o.mu.Lock()
	if o.state == outClosed {
		o.mu.Unlock()
		return
	}
	var rest []waiting
	var lost int
	if o.link == nil {
		rest, lost = o.endSession(outClosed)
	} else {
		rest = o.calls.takeAll()
		o.state = outClosed
		o.draining, o.stale = true, true
	}
	o.refusal = refusal
	o.letIn()
	o.wake.Broadcast()
	o.mu.Unlock()
	failAll(rest, refusal)
	o.env.dropped(string(o.addr), lost, refusal)
}
