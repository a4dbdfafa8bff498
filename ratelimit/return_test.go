package ratelimit_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// TestUnusedPartsComeBackWithinAWindow lets all readers but one end, or stall for a
// second, at once: within a window the one that is left passes nearly all of the
// limit, and what the others had of leases is lost to nobody. One that begins while
// others use all has its fair part within a window too.
func TestUnusedPartsComeBackWithinAWindow(t *testing.T) {
	t.Parallel()
	const limit, window = 4_000_000, 100 * time.Millisecond
	for _, n := range []int{4, 16} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const ended, back, end = 3 * time.Second, 4 * time.Second, 6 * time.Second
				s := newSim(t, ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: limit}})
				s.read(0, 100, 0, end)
				for i := 1; i < n; i++ {
					s.read(i, 100, 0, ended)
					s.read(i, 100, back, end)
				}
				s.end(end)
				// part is what a worker passed of the limit.
				part := func(worker int, from, to time.Duration) float64 {
					sum := int64(0)
					for _, p := range s.passed {
						if p.worker == worker && p.at > from && p.at <= to {
							sum += p.bytes
						}
					}
					return float64(sum) / limit / (to - from).Seconds()
				}
				even := 1 / float64(n)
				if before := part(0, time.Second, ended); before < 0.95*even || before > 1.05*even {
					t.Errorf("while all read, one passes %.3f of the limit, even is %.3f", before, even)
				}
				if alone := part(0, ended+window, back); alone < 0.98 || alone > 1.02 {
					t.Errorf("a window after the others have ended, the one that is left passes %.3f of the limit", alone)
				}
				for i := range n {
					if again := part(i, back+window, back+window+time.Second); again < 0.9*even || again > 1.1*even {
						t.Errorf("a window after all read again, worker %d passes %.3f of the limit, even is %.3f", i, again, even)
					}
				}
			})
		})
	}
}
