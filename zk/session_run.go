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
		start := s.door.cfg.Clock.Now()
		if err := s.renew(s.ctx, l); err != nil {
			return
		}
		timer.Reset(max(0, s.pace().every-(s.door.cfg.Clock.Now()-start)))
	}
}

func (s *Session) pace() pace { return lease{timeout: s.timeout}.pace() }

// errNotRenewed says that a connection was given up since a sync took too long.
var errNotRenewed = errors.New("a sync was not answered in time")

// renew renews the session over one connection, which is closed when it cannot.
// A renewal is a sync, which only the store's leader answers: a ping says no more
// than that one server lives.
func (s *Session) renew(ctx context.Context, l *link) error {
	start := s.door.cfg.Clock.Now()
	limited, cancel := context.WithTimeoutCause(ctx, s.pace().within, errNotRenewed)
	defer cancel()
	_, err := do(limited, s, l, syncLink)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lease.renewed(start)
		return nil
	}
	v, reason := judge(l, err)
	switch {
	case v == expired:
		s.stop(ErrExpired)
	case s.ctx.Err() != nil:
		// What is left of the connection says goodbye.
	case ctx.Err() == nil:
		_ = l.wire.Close()
		s.note(reason)
	}
	return reason
}

// Renew renews the session once, for who has set [Config.RenewedByOwner]: when it
// returns nil, the store has heard of the session after the call's start, and
// trust is reckoned from there. It waits for a connection, and gives up one that
// does not answer for the next, until ctx or the session ends.
func (s *Session) Renew(ctx context.Context) error {
	var dead *link
	for {
		l, err := s.connection(ctx, dead)
		if err != nil {
			return &OpError{Op: "renew", Err: err}
		}
		if err = s.renew(ctx, l); err == nil {
			return nil
		}
		if s.ctx.Err() != nil {
			return &OpError{Op: "renew", Err: s.Err()}
		}
		dead = l
	}
}

// watchTrust ends the session when its trust has run out.
func (s *Session) watchTrust() {
	timer := time.NewTimer(s.left())
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
		timer.Reset(s.left())
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

// attempt tries one server.
func (s *Session) attempt(ctx context.Context, found chan<- *link) {
	as := identity{id: s.id, password: s.password, zxid: s.zxid.Load(), timeout: s.timeout}
	l, g, err := s.door.connect(ctx, as, &s.zxid)
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
