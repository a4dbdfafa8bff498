package zk

import (
	"context"
	"errors"
	"time"
)

// run owns the session's connections, from the first to the last.
func (s *Session) run(first *link) {
	for l := first; l != nil; l = s.reattach() {
		s.setLink(l)
		s.keep(l)
		s.setLink(nil)
		over := s.ctx.Err() != nil
		// A session that was not expired by the store is ended there, so that its
		// nodes do not outlive it for long.
		goodbye := over && !errors.Is(s.Err(), ErrExpired)
		s.running.Go(func() { l.close(goodbye) })
		if over {
			return
		}
	}
}

// keep renews the session until its connection is gone or the session has ended.
// It does so by a sync: a ping says no more than that one server lives.
func (s *Session) keep(l *link) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	if s.door.cfg.RenewedByOwner {
		timer.Stop()
	}
	for {
		select {
		case <-timer.C:
		case <-l.wire.gone:
			return
		case <-s.ctx.Done():
			return
		}
		// What has ended while the machine was suspended does not come back.
		if !s.Trusted() {
			return
		}
		start := s.door.cfg.Clock.Now()
		if err := s.renew(s.ctx, l, syncLink); err != nil {
			return
		}
		timer.Reset(max(0, s.pace().every-(s.door.cfg.Clock.Now()-start)))
	}
}

func (s *Session) pace() pace { return lease{timeout: s.timeout}.pace() }

// errNotRenewed says that a connection was given up since a sync took too long.
var errNotRenewed = errors.New("a sync was not answered in time")

// renew renews the session over one connection by a request that the store's
// leader answers. Without an answer the connection is closed.
func (s *Session) renew(ctx context.Context, l *link, request func(*link) (struct{}, error)) error {
	start := s.door.cfg.Clock.Now()
	limited, cancel := context.WithTimeoutCause(ctx, s.pace().within, errNotRenewed)
	defer cancel()
	_, err := do(limited, s, l, request)
	if err == nil {
		s.renewed(start)
		return nil
	}
	v, reason := judge(l, err)
	switch {
	case v == refused:
	case v == expired:
		s.stop(ErrExpired)
	case s.ctx.Err() != nil:
		// What is left of the connection says goodbye.
	case ctx.Err() == nil:
		_ = l.wire.Close()
		s.note(reason)
		return &retryError{reason}
	}
	return reason
}

// renewed takes over a request that was started at start and answered by the
// store's leader: every write is one, and a sync.
func (s *Session) renewed(start time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lease.renewed(start)
}

// retryError is a renewal that the next connection may answer.
type retryError struct{ reason error }

func (e *retryError) Error() string { return e.reason.Error() }
func (e *retryError) Unwrap() error { return e.reason }

// Renew renews the session once, for who has set [Config.RenewedByOwner]: when it
// returns nil, the store has heard of the session after the call's start, and
// trust is reckoned from there. It waits for a connection, and gives up one that
// does not answer for the next, until ctx or the session ends.
func (s *Session) Renew(ctx context.Context) error { return s.renewBy(ctx, syncLink) }

// RenewBy is [Session.Renew] by a transaction, whose refusal is the error: trust is
// then no greater, and the session lives. It is sent again on the next connection, so
// done twice it has to be as good as once.
func (s *Session) RenewBy(ctx context.Context, ops ...Op) error {
	requests, _, err := s.requests(ops)
	if err != nil {
		return &OpError{Op: "renew", Err: err}
	}
	return s.renewBy(ctx, func(l *link) (struct{}, error) {
		answers, err := l.conn.Multi(requests...)
		return struct{}{}, blame(ops, answers, err)
	})
}

func (s *Session) renewBy(ctx context.Context, request func(*link) (struct{}, error)) error {
	var dead *link
	for {
		l, err := s.connection(ctx, dead)
		if err != nil {
			return &OpError{Op: "renew", Err: err}
		}
		err = s.renew(ctx, l, request)
		switch {
		case err == nil:
			return nil
		case s.ctx.Err() != nil:
			return &OpError{Op: "renew", Err: s.Err()}
		case !errors.As(err, new(*retryError)):
			return &OpError{Op: "renew", Err: err}
		}
		dead = l
	}
}

// watchTrust ends the session when its trust has run out. Timers stand still while the
// machine is suspended, which trust does not: so the clock is asked now and then.
func (s *Session) watchTrust() {
	next := func() time.Duration { return min(s.left(), s.pace().every) }
	timer := time.NewTimer(next())
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return
		}
		if !s.Trusted() {
			return
		}
		timer.Reset(next())
	}
}

// reattach makes the next connection of the session, and returns nil when the
// session has ended. A new attempt is started, with the next server, before
// earlier ones are given up: what a network has swallowed is not waited for.
func (s *Session) reattach() *link {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	back := backoff{first: s.timeout / 96, most: min(time.Second, s.timeout/24)}
	found := make(chan *link)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			s.running.Go(func() { s.attempt(ctx, found) })
			timer.Reset(back.next())
		case l := <-found:
			return l
		case <-s.ctx.Done():
			return nil
		}
	}
}

// maxAttempt bounds an attempt that others do not wait for.
const maxAttempt = 2 * time.Second

// attempt tries one server.
func (s *Session) attempt(ctx context.Context, found chan<- *link) {
	as := identity{id: s.id, password: s.password, zxid: s.zxid.Load(), timeout: s.timeout}
	l, g, err := s.door.connect(ctx, as, &s.zxid, min(maxAttempt, s.timeout/3))
	switch {
	case err == nil && g.timeout == s.timeout:
		select {
		case found <- l:
		case <-ctx.Done():
			l.close(false)
		}
	case err == nil:
		// The servers do not agree; the lease is by what it was granted for.
		l.close(false)
		s.note(errors.New("a server has changed the session's timeout"))
	case errors.Is(err, ErrExpired):
		s.stop(ErrExpired)
	case errors.Is(err, ErrAuthFailed):
		s.stop(ErrAuthFailed)
	case ctx.Err() == nil:
		s.note(err)
	}
}
