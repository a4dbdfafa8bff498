package zk

import (
	"context"
	"errors"
	"sync"
)

// Cache keeps what a node holds at hand, through lost connections and sessions.
type Cache struct {
	client *Client
	path   string
	ctx    context.Context
	cancel context.CancelFunc
	run    sync.WaitGroup

	mu      sync.Mutex
	started bool
	node    Node
	known   bool
	changed chan struct{}
}

// NewCache makes a cache of the node at path. It starts nothing.
func NewCache(client *Client, path string) *Cache {
	c := &Cache{client: client, path: path, changed: make(chan struct{})}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Start starts the cache and does not wait for the node. It runs until Stop, or
// until ctx ends. It can be started once.
func (c *Cache) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ctx.Err() != nil:
		return ErrStopped
	case c.started:
		return errors.New("zk: the cache was started before")
	}
	c.started = true
	unlink := context.AfterFunc(ctx, c.cancel)
	c.run.Go(func() {
		defer unlink()
		c.follow()
	})
	return nil
}

// Stop ends the cache and waits for it. It may be called again, and before Start.
func (c *Cache) Stop() {
	c.cancel()
	c.run.Wait()
}

// Get returns the node as it was last seen. Known says that it is watched at this
// moment: nothing older than a lost connection hides a change. The channel is
// closed when either changes.
func (c *Cache) Get() (node Node, known bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.node, c.known, c.changed
}

// Await returns the node once it is known.
func (c *Cache) Await(ctx context.Context) (Node, error) {
	for {
		node, known, changed := c.Get()
		if known {
			return node, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Node{}, &OpError{Op: "await", Path: c.path, Err: cause(ctx)}
		case <-c.ctx.Done():
			return Node{}, &OpError{Op: "await", Path: c.path, Err: ErrStopped}
		}
	}
}

func (c *Cache) follow() {
	back := c.client.door.backoff()
	for {
		s, err := c.client.Session(c.ctx)
		if err != nil {
			c.forget()
			return
		}
		for node, err := range s.Watch(c.ctx, c.path) {
			if err == nil {
				c.set(node)
			}
		}
		c.forget()
		// A session that ended gives way to the next; a node that may not be read is
		// asked for again.
		if back.wait(c.ctx) != nil {
			return
		}
	}
}

func (c *Cache) set(node Node) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.node, c.known = node, true
	c.wakeLocked()
}

func (c *Cache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known {
		c.known = false
		c.wakeLocked()
	}
}

func (c *Cache) wakeLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}
