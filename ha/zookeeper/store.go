package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// store implements coord.Store.
type store struct {
	client  zk.Config
	options Options
	layout  layout
}

func newStore(cfg ha.Config, options Options) (*store, error) {
	s := &store{client: client(cfg, options), options: options, layout: newLayout(options)}
	if err := s.client.WithDefaults().Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ha.ErrConfig, err)
	}
	return s, nil
}

// Open implements coord.Store.
func (s *store) Open(ctx context.Context) (coord.Session, error) {
	within := min(s.options.ConnectionTimeout, max(s.client.SessionTimeout, time.Second))
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	opened, err := zk.Open(ctx, s.client)
	if err != nil {
		return nil, s.explain(err)
	}
	c := &session{
		Session: opened, layout: s.layout, options: s.options,
		changed: make(chan struct{}, 1), published: map[coord.Key]bool{},
	}
	for _, path := range []string{s.layout.lock(), s.layout.epoch()} {
		c.watching.Go(func() { c.observe(path) })
	}
	return c, nil
}

// explain says what it is that cannot be reached.
func (s *store) explain(err error) error {
	if errors.Is(err, zk.ErrAuthFailed) {
		return fmt.Errorf("ZooKeeper: %w: %w", ha.ErrForbidden, err)
	}
	return fmt.Errorf("ZooKeeper at %v: %w: %w", s.client.Servers, ha.ErrUnavailable, err)
}

// session implements coord.Session.
type session struct {
	*zk.Session
	layout  layout
	options Options

	changed  chan struct{}
	watching sync.WaitGroup

	mu sync.Mutex
	// published are the records of leaders that go with the session.
	published map[coord.Key]bool
	// witness is a node of ours among the latch's, "" while there is none.
	witness string
	// closed: no more watches are started.
	closed bool
}

var _ coord.Session = (*session)(nil)

// Lease implements coord.Session.
func (s *session) Lease() coord.Lease {
	return coord.Lease{Timeout: s.Timeout(), Margin: s.Timeout() / 4}
}

// Over implements coord.Session.
func (s *session) Over() <-chan struct{} { return s.Done() }

// Changed implements coord.Session.
func (s *session) Changed() <-chan struct{} { return s.changed }

// observe signals whenever a node of the election may have changed, as long as
// the session lives.
func (s *session) observe(path string) {
	for s.Err() == nil {
		for _, err := range s.Observe(s.Context(), path) {
			if err == nil {
				coord.Wake(s.changed)
			}
		}
		// Only a node that may not be read ends it before the session.
		coord.Pause(s.Context(), s.options.RetryWait)
	}
}

// Watch implements coord.Session.
func (s *session) Watch(ctx context.Context, key coord.Key) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.Err() != nil {
		return nil, coord.ErrSessionOver
	}
	signals := make(chan struct{}, 1)
	s.watching.Go(func() {
		defer close(signals)
		for ctx.Err() == nil && s.Err() == nil {
			s.follow(ctx, key, signals)
			coord.Pause(ctx, s.options.RetryWait)
		}
	})
	return signals, nil
}

func (s *session) follow(ctx context.Context, key coord.Key, signals chan struct{}) {
	path := s.layout.key(key)
	if key.Name == "" {
		for _, err := range s.ObserveChildren(ctx, path) {
			if err == nil {
				coord.Wake(signals)
			}
		}
		return
	}
	for _, err := range s.Observe(ctx, path) {
		if err == nil {
			coord.Wake(signals)
		}
	}
}

// Renew implements coord.Session.
func (s *session) Renew(ctx context.Context, fence ha.Term) error {
	if fence.IsZero() {
		return s.failure(s.Session.Renew(ctx))
	}
	checks := s.fence(fence)
	err := s.RenewBy(ctx, checks[0], zk.SetOp(s.layout.guard(fence.Grant), nil, zk.AnyVersion))
	return s.refusal(ctx, fence, len(checks), err)
}

// Close implements coord.Session.
func (s *session) Close(context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Session.Close()
	s.watching.Wait()
	return nil
}
