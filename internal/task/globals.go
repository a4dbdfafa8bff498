package task

import (
	"context"
	"sync"

	"github.com/leatdata/leat/connector"
)

// Globals are the sums over all subtasks of a job, as the collector has told
// them last.
type Globals struct {
	mu      sync.Mutex
	round   uint64
	sum     connector.FormatState
	changed chan struct{}
}

func newGlobals() *Globals { return &Globals{changed: make(chan struct{})} }

// Set takes the sums of a round. One that is not newer is dropped.
func (g *Globals) Set(round uint64, sum connector.FormatState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if round <= g.round {
		return
	}
	g.round, g.sum = round, sum
	close(g.changed)
	g.changed = make(chan struct{})
}

// Value returns the sums and their round, 0 before the first.
func (g *Globals) Value() (uint64, connector.FormatState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.round, g.sum
}

// Wait returns the sums of a round after the given one, once there is one.
func (g *Globals) Wait(ctx context.Context, after uint64) (uint64, connector.FormatState, error) {
	for {
		g.mu.Lock()
		round, sum, changed := g.round, g.sum, g.changed
		g.mu.Unlock()
		if round > after {
			return round, sum, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return round, sum, ctx.Err()
		}
	}
}
