package ratelimit_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

const simTime = 13 * time.Second

// shapes are how readers want: each begins the reading of n workers, and says
// from when to when there is demand all the time.
func shapes() map[string]func(s *sim, n int, size int64) (begin, end time.Duration) {
	const end = simTime
	return map[string]func(s *sim, n int, size int64) (time.Duration, time.Duration){
		"even": func(s *sim, n int, size int64) (time.Duration, time.Duration) {
			for i := range n {
				s.read(i, size, 0, end)
			}
			return 0, end
		},
		// One wants all, the others a little now and then.
		"skewed": func(s *sim, n int, size int64) (time.Duration, time.Duration) {
			s.read(0, size, 0, end)
			for i := 1; i < n; i++ {
				for at := time.Duration(i) * 37 * time.Millisecond; at < end; at += 900 * time.Millisecond {
					s.read(i, size, at, at+20*time.Millisecond)
				}
			}
			return 0, end
		},
		// Each stalls for a second of three, at other times than the next.
		"stalling": func(s *sim, n int, size int64) (time.Duration, time.Duration) {
			for i := range n {
				for at := -time.Duration(i) * 3 * time.Second / time.Duration(n); at < end; at += 3 * time.Second {
					s.read(i, size, max(0, at), min(end, at+2*time.Second))
				}
			}
			if n == 1 {
				return 0, 2 * time.Second
			}
			return 0, end
		},
		// One after the other ends.
		"finishing": func(s *sim, n int, size int64) (time.Duration, time.Duration) {
			for i := range n {
				s.read(i, size, 0, end-time.Duration(i)*11*time.Second/time.Duration(n))
			}
			return 0, end
		},
		// One after the other begins.
		"starting": func(s *sim, n int, size int64) (time.Duration, time.Duration) {
			for i := range n {
				s.read(i, size, time.Duration(i)*11*time.Second/time.Duration(n), end)
			}
			return 0, end
		},
	}
}

// TestLimitHolds shows for each shape of demand, number of workers and size of
// records: no second and no ten seconds see more than the limit and one record
// more, and any ten seconds with demand at least 0.98 of it.
func TestLimitHolds(t *testing.T) {
	t.Parallel()
	for name, begin := range shapes() {
		for _, n := range []int{1, 4, 16} {
			for _, size := range []int64{0, 100, 10_000, 2_000_000} {
				t.Run(fmt.Sprintf("%s/%d/%d B", name, n, size), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						b := bound{of: bytesOf, limit: 4_000_000, record: size}
						cfg := ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: b.limit}}
						if size == 0 {
							b = bound{of: recordsOf, limit: 40_000, record: 1}
							cfg.Limit = ratelimit.Amount{Records: b.limit}
						}
						s := newSim(t, cfg)
						b.begin, b.end = begin(s, n, size)
						s.end(simTime)
						s.check(t, b)
					})
				})
			}
		}
	}
}
