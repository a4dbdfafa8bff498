package zk

import (
	"context"
	"math/rand/v2"
	"time"
)

// backoff is a growing wait with full jitter: each is drawn between zero and a
// limit that doubles, up to most.
type backoff struct {
	first, most time.Duration
	limit       time.Duration
	// rounds is how many waits were drawn.
	rounds int
}

// next draws the wait before the next attempt.
func (b *backoff) next() time.Duration {
	b.rounds++
	b.limit = min(max(2*b.limit, b.first), b.most)
	return rand.N(b.limit + 1)
}

// wait waits for the next attempt, or until ctx ends.
func (b *backoff) wait(ctx context.Context) error { return pause(ctx, b.next()) }

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return cause(ctx)
	}
}
