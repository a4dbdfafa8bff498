package zk

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoffGrowsToItsCapWithFullJitter(t *testing.T) {
	t.Parallel()
	const first, most = 10 * time.Millisecond, 100 * time.Millisecond
	var seen [8]struct{ least, most time.Duration }
	for range 500 {
		b := backoff{first: first, most: most}
		limit := first
		for i := range seen {
			d := b.next()
			if d < 0 || d > limit {
				t.Fatalf("wait %d is %s, outside of 0 to %s", i, d, limit)
			}
			if seen[i].least == 0 || d < seen[i].least {
				seen[i].least = d
			}
			seen[i].most = max(seen[i].most, d)
			limit = min(2*limit, most)
		}
	}
	// Jitter is full: waits fall everywhere between nothing and the limit.
	last := seen[len(seen)-1]
	if last.least > most/10 || last.most < most*9/10 {
		t.Errorf("500 waits at the cap are between %s and %s: not all over 0 to %s", last.least, last.most, most)
	}
}

func TestBackoffEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errMute)
		defer cancel()
		start := time.Now()
		if err := pause(ctx, time.Hour); !errors.Is(err, errMute) {
			t.Errorf("error is %v, want the context's cause", err)
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("it took %s", got)
		}
	})
}
