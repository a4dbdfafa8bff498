package database

import (
	"context"
	"math"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/leatdata/leat/connector"
)

// Crowd is the writers of this process that may want the same rows, as those
// of an upsert do. They work side by side, until a deadlock ends one: the
// transactions of its split are then made while nobody else's is open, so that
// deadlocks end no split for good (exactness rule 8). What waits here holds
// nothing in the database.
type Crowd struct {
	sem *semaphore.Weighted

	mu      sync.Mutex
	clashed map[connector.SplitID]bool
}

// everybody is more than there are writers.
const everybody = math.MaxInt32

// NewCrowd returns one without writers.
func NewCrowd() *Crowd {
	return &Crowd{sem: semaphore.NewWeighted(everybody), clashed: map[connector.SplitID]bool{}}
}

// Enter waits until a writer of the split may begin a transaction. It returns
// what has to be called once after its end.
func (c *Crowd) Enter(ctx context.Context, split connector.SplitID) (leave func(), err error) {
	c.mu.Lock()
	n := int64(1)
	if c.clashed[split] {
		n = everybody
	}
	c.mu.Unlock()
	if err := c.sem.Acquire(ctx, n); err != nil {
		return nil, connector.E(connector.Retryable, err)
	}
	return func() { c.sem.Release(n) }, nil
}

// Clashed notes that a deadlock has ended a transaction of the split.
func (c *Crowd) Clashed(split connector.SplitID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clashed[split] = true
}
