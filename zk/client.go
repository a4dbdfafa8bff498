package zk

import (
	"context"
	"errors"
	"sync"
)

// Client keeps a session with the store: when one has ended, it makes the next.
type Client struct {
	cfg  Config
	door *door
	// ctx ends when the client is stopped.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	mu      sync.Mutex
	started bool
	session *Session
	// changed is closed and replaced when the state may have changed.
	changed chan struct{}
	// trouble is why there is no session; fatal says that there will be none.
	trouble error
	fatal   error
}

// State is what has become of a client.
type State int

// The states of a client.
const (
	// StateConnecting: there is no session.
	StateConnecting State = iota
	// StateConnected: there is a session, and a connection.
	StateConnected
	// StateSuspended: there is a session, and no connection.
	StateSuspended
	// StateStopped: the client was stopped, or its credentials are not accepted.
	StateStopped
)

// String names the state.
func (s State) String() string {
	switch s {
	case StateConnecting:
		return "connecting"
	case StateConnected:
		return "connected"
	case StateSuspended:
		return "suspended"
	case StateStopped:
		return "stopped"
	default:
		return "unknown"
	}
}

// New makes a client. It starts nothing.
func New(cfg Config) (*Client, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	c := &Client{cfg: cfg, changed: make(chan struct{})}
	c.door = newDoor(&c.cfg)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c, nil
}

// Start starts the client and does not wait for a session: the store need not be
// there yet. The client runs until Stop, or until ctx ends. It can be started
// once.
func (c *Client) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return ErrStopped
	case c.started:
		return errors.New("zk: the client was started before")
	}
	c.started = true
	unlink := context.AfterFunc(ctx, func() { c.cancel(ErrStopped) })
	c.running.Go(func() {
		defer unlink()
		c.run()
	})
	if c.cfg.OnState != nil {
		c.running.Go(c.notify)
	}
	return nil
}

// Stop ends the session, with its ephemeral nodes if the store can be reached,
// and returns when nothing of the client runs any more: within 3 s, and OnState's
// last call. It may be called again, and before Start.
func (c *Client) Stop() {
	c.cancel(ErrStopped)
	c.running.Wait()
}

// Session returns the session that stands, connected or not, or waits for one.
// When it waits in vain, the error says what the trouble is.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	for {
		c.mu.Lock()
		s, changed, fatal := c.session, c.changed, c.fatal
		c.mu.Unlock()
		switch {
		case fatal != nil:
			return nil, &OpError{Op: "connect", Err: fatal}
		case c.ctx.Err() != nil:
			return nil, &OpError{Op: "connect", Err: ErrStopped}
		case s != nil && s.Trusted():
			return s, nil
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, &OpError{Op: "connect", Err: c.waited(ctx)}
		}
	}
}

// waited says what was waited for in vain.
func (c *Client) waited(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trouble == nil {
		return cause(ctx)
	}
	return &waitError{cause(ctx), c.trouble}
}

// State is the present state.
func (c *Client) State() State {
	c.mu.Lock()
	s, fatal := c.session, c.fatal
	c.mu.Unlock()
	switch {
	case fatal != nil || c.ctx.Err() != nil:
		return StateStopped
	case s == nil || !s.Trusted():
		return StateConnecting
	case s.Connected():
		return StateConnected
	default:
		return StateSuspended
	}
}

// tell wakes those who wait for a change.
func (c *Client) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// notify tells OnState of each state that is still the present one when it is
// its turn.
func (c *Client) notify() {
	last := State(-1)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if now := c.State(); now != last {
			c.cfg.OnState(now)
			last = now
			continue
		}
		if last == StateStopped {
			return
		}
		select {
		case <-changed:
		case <-c.ctx.Done():
		}
	}
}
