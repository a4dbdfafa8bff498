package zk

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Session is one session with the store: one id, and the ephemeral nodes that
// belong to it. It outlives connections, never itself: once it has ended, for
// whatever reason, everything on it fails with [ErrSessionEnded], and nothing is
// ever sent for it again but its end. Its methods may be called by many
// goroutines at once.
type Session struct {
	door     *door
	root     rooted
	id       int64
	password []byte
	timeout  time.Duration
	zxid     atomic.Int64
	// told is called after each change of the connection.
	told func()

	// ctx ends with the session.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup
	strays  strays

	mu    sync.Mutex
	lease lease
	// link is the connection, nil while there is none.
	link *link
	// changed is closed and replaced when link changes.
	changed chan struct{}
	// trouble is why there is no connection.
	trouble error
}

// Open makes one session, without a [Client] that would make the next. It tries
// all servers in turn, with back-off, until ctx ends. Whoever has it closes it.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	d := newDoor(&cfg)
	back := d.backoff()
	var trouble error
	for {
		s, err := d.session(ctx, back.rounds, func() {})
		if err == nil {
			return s, nil
		}
		if errors.Is(err, ErrAuthFailed) {
			return nil, &OpError{Op: "connect", Err: err}
		}
		// An attempt that ctx has cut short says nothing of the server.
		if trouble == nil || !over(ctx) {
			trouble = err
		}
		if ctx.Err() == nil && !endsRound(err) {
			continue
		}
		if back.wait(ctx) != nil {
			return nil, &OpError{Op: "connect", Err: &waitError{cause(ctx), trouble}}
		}
	}
}

// over says that ctx has ended, or ought to have: who waits until its deadline by
// another clock may hear of it first.
func over(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(deadline)
}

// session asks one server for a session, after some rounds over all of them. told
// is called after each change of its connection.
func (d *door) session(ctx context.Context, rounds int, told func()) (*Session, error) {
	// Its trust starts no later than this.
	start := d.cfg.Clock.Now()
	s := &Session{door: d, root: rooted(d.cfg.Chroot), told: told, changed: make(chan struct{})}
	l, g, err := d.connect(ctx, identity{timeout: d.cfg.SessionTimeout}, &s.zxid, d.cfg.connectWithin(rounds))
	if err != nil {
		return nil, err
	}
	s.id, s.password, s.timeout = g.id, g.password, g.timeout
	s.lease, s.link = lease{start: start, timeout: g.timeout}, l
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	s.running.Go(s.watchTrust)
	s.running.Go(func() { s.run(l) })
	return s, nil
}

// Close ends the session, in the store too if that can be reached, so that its
// ephemeral nodes go at once. When it returns, within 3 s, nothing of the session
// runs any more. It may be called again.
func (s *Session) Close() {
	s.stop(ErrStopped)
	s.running.Wait()
}

// ID is the store's number for the session: the Owner of its ephemeral nodes.
func (s *Session) ID() int64 { return s.id }

// Timeout is how long the store keeps the session it does not hear of.
func (s *Session) Timeout() time.Duration { return s.timeout }

// Done is closed when the session has ended, at the latest when it can no longer
// be trusted not to have expired: on a machine that was suspended, up to T/6 after it
// wakes.
func (s *Session) Done() <-chan struct{} { return s.ctx.Done() }

// Err is nil while the session stands, then [ErrSessionEnded] with the reason.
func (s *Session) Err() error { return context.Cause(s.ctx) }

// Context ends with the session; its cause is [Session.Err].
func (s *Session) Context() context.Context { return s.ctx }

// Trusted says whether the session cannot have expired, by the clock at this
// moment. It is exact also where Done comes late, and ends the session then: ask it
// before what a suspended machine must not do.
func (s *Session) Trusted() bool {
	if s.ctx.Err() != nil {
		return false
	}
	if s.left() > 0 {
		return true
	}
	s.stop(ErrTrustEnded)
	return false
}

// TrustedUntil is when trust ends unless it is renewed, by the client's clock.
func (s *Session) TrustedUntil() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.end()
}

// Connected says whether there is a connection at this moment.
func (s *Session) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link != nil && s.ctx.Err() == nil
}

func (s *Session) left() time.Duration {
	now := s.door.cfg.Clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lease.left(now)
}

// stop ends the session; the first reason counts.
func (s *Session) stop(reason error) {
	s.cancel(ended(reason))
}

// bound is a context that ends with the session too, for its reason.
func (s *Session) bound(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	return ctx, func(err error) {
		stop()
		cancel(err)
	}
}

// connection waits for one that is not dead.
func (s *Session) connection(ctx context.Context, dead *link) (*link, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, s.waited(ctx)
		}
		if !s.Trusted() {
			return nil, s.Err()
		}
		s.mu.Lock()
		l, changed := s.link, s.changed
		s.mu.Unlock()
		if l != nil && l != dead && !l.isGone() {
			return l, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		case <-s.ctx.Done():
		}
	}
}

// waited says what was waited for in vain.
func (s *Session) waited(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil && s.trouble != nil {
		return &waitError{cause(ctx), s.trouble}
	}
	return cause(ctx)
}

// setLink replaces the connection and tells those who wait for one.
func (s *Session) setLink(l *link) {
	s.mu.Lock()
	s.link = l
	if l != nil {
		s.trouble = nil
	}
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.told()
}

func (s *Session) note(trouble error) {
	s.mu.Lock()
	s.trouble = trouble
	s.mu.Unlock()
	s.door.cfg.Logger.Debug("no connection to ZooKeeper yet", "error", trouble)
}

// waitError is a context's end during which something else was the trouble.
type waitError struct{ cause, trouble error }

func (e *waitError) Error() string {
	return e.cause.Error() + ", without a connection: " + e.trouble.Error()
}

func (e *waitError) Unwrap() []error { return []error{e.cause, e.trouble} }
