// Package heartbeattest has a coordination store in memory for tests of the
// counter heartbeat. It works in a testing/synctest bubble.
package heartbeattest

import (
	"context"
	"fmt"
	"maps"
	"sync"
)

// Counters are the workers' numbers. They satisfy heartbeat.CounterWriter and
// heartbeat.CounterReader. Methods may be called at any time from any goroutine.
type Counters[W ~string] struct {
	mu     sync.Mutex
	values map[W]uint64
	writes map[W]int
	// readError and writeError are what calls end with; nil: they succeed.
	readError, writeError error
	// released is closed when calls that hang may go on; nil: none hangs.
	released chan struct{}
}

// NewCounters makes an empty store.
func NewCounters[W ~string]() *Counters[W] {
	return &Counters[W]{values: map[W]uint64{}, writes: map[W]int{}}
}

// Write sets a worker's number.
func (c *Counters[W]) Write(ctx context.Context, worker W, value uint64) error {
	if err := c.admit(ctx, func() error { return c.writeError }); err != nil {
		return fmt.Errorf("write counter of %s: %w", worker, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values[worker] = value
	c.writes[worker]++
	return nil
}

// ReadAll returns all numbers.
func (c *Counters[W]) ReadAll(ctx context.Context) (map[W]uint64, error) {
	if err := c.admit(ctx, func() error { return c.readError }); err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.values), nil
}

// Remove forgets a worker.
func (c *Counters[W]) Remove(worker W) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, worker)
}

// FailReads and FailWrites let calls end with an error; nil: they succeed again.
func (c *Counters[W]) FailReads(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readError = err
}

// FailWrites is FailReads for writes.
func (c *Counters[W]) FailWrites(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeError = err
}

// Hang lets calls wait while it is on, as long as their contexts allow.
func (c *Counters[W]) Hang(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case on && c.released == nil:
		c.released = make(chan struct{})
	case !on && c.released != nil:
		close(c.released)
		c.released = nil
	}
}

// Writes is how often a worker's number was set.
func (c *Counters[W]) Writes(worker W) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes[worker]
}

func (c *Counters[W]) admit(ctx context.Context, fault func() error) error {
	c.mu.Lock()
	released, err := c.released, fault()
	c.mu.Unlock()
	if released != nil {
		select {
		case <-released:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return err
}
