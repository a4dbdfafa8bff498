package memstore

import (
	"context"
	"sync"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// Client is one process's way to a server, which faults can happen to. It
// implements coord.Store.
type Client struct {
	server *Server

	mu       sync.Mutex
	cut      bool
	healed   chan struct{} // closed by Heal
	drops    int           // replies of writes to be lost
	sessions map[*session]bool
	opens    int
}

var _ coord.Store = (*Client)(nil)

// Client returns a new way to the server.
func (s *Server) Client() *Client {
	return &Client{server: s, healed: make(chan struct{}), sessions: map[*session]bool{}}
}

// Cut loses everything in both directions from now on, without a word.
func (c *Client) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
}

// Heal ends a Cut. What was under way is lost; sessions that the server has not
// ended go on.
func (c *Client) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.cut {
		return
	}
	c.cut = false
	close(c.healed)
	c.healed = make(chan struct{})
	for s := range c.sessions {
		s.reconnected()
	}
}

// DropReplies has the server carry out the next n writes, and loses their
// replies.
func (c *Client) DropReplies(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drops = n
}

// Expire has the server end all sessions of this client.
func (c *Client) Expire() {
	c.mu.Lock()
	var ids []uint64
	for s := range c.sessions {
		ids = append(ids, s.id)
	}
	c.mu.Unlock()
	for _, id := range ids {
		c.server.end(id)
	}
}

// Opens is how many sessions were opened.
func (c *Client) Opens() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opens
}

// pass lets a call through, or fails by the end of ctx. sent says that the server
// may have got it.
func (c *Client) pass(ctx context.Context, over <-chan struct{}) error {
	c.mu.Lock()
	cut, healed := c.cut, c.healed
	c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return ha.ErrUnavailable
	}
	if !cut {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-healed:
	case <-over:
	}
	return ha.ErrUnavailable
}

// reply says whether the answer to a write arrives.
func (c *Client) reply() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		return ha.ErrAmbiguous
	}
	if c.drops > 0 {
		c.drops--
		return ha.ErrAmbiguous
	}
	return nil
}

// Open implements coord.Store.
func (c *Client) Open(ctx context.Context) (coord.Session, error) {
	if err := c.pass(ctx, nil); err != nil {
		return nil, err
	}
	s := &session{
		client: c, changed: make(chan struct{}, 1), over: make(chan struct{}),
		closed: make(chan struct{}),
	}
	id, err := c.server.open(s)
	if err != nil {
		return nil, err
	}
	s.id = id
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions[s] = true
	c.opens++
	return s, nil
}
