package ratelimit_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// A master dies and workers are cut off, at different times and for different
// spans: nothing but the limit passes, whoever knows whatever, and with a master
// that all can hear again the limit is used.
func TestLimitHoldsAcrossMasters(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 4, 16} {
		for _, size := range []int64{100, 10_000, 2_000_000} {
			for _, skewed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%d B/skewed=%t", n, size, skewed), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { failOver(t, n, size, skewed) })
				})
			}
		}
	}
}

func failOver(t *testing.T, n int, size int64, skewed bool) {
	const end = 25 * time.Second
	b := bound{of: bytesOf, limit: 4_000_000, record: size, begin: 12 * time.Second, end: end}
	s := newSim(t, ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: b.limit}, Epoch: 1})
	for i := range n {
		// Skewed, all but one begin to want just when nobody hears the master.
		from := time.Duration(0)
		if skewed && i > 0 {
			from = 5*time.Second + 300*time.Millisecond
		}
		s.read(i, size, from, end)
	}
	at := func(when time.Duration, do func()) {
		s.work.Go(func() {
			if s.until(when) {
				s.with(do)
			}
		})
	}
	at(2*time.Second, func() { s.cut[n-1] = true })
	at(4*time.Second, func() { s.cut[n-1] = false })
	at(5*time.Second, func() { s.dead = true })
	// The new master is heard by half of them first.
	at(8*time.Second-time.Millisecond, func() {
		for i := range n / 2 {
			s.cut[i] = true
		}
	})
	s.work.Go(func() {
		if s.until(8 * time.Second) {
			s.newMaster()
		}
	})
	at(10*time.Second, func() { clear(s.cut) })
	s.end(end)
	s.check(t, b)
}

// While nobody hears a master, each worker has its floor: all of them together
// have the limit.
func TestFloorsHoldWithoutAMaster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := bound{of: bytesOf, limit: 4_000_000, record: 100, begin: 5 * time.Second, end: 20 * time.Second}
		s := newSim(t, ratelimit.Config{Parallelism: 4, Limit: ratelimit.Amount{Bytes: b.limit}})
		for i := range 4 {
			s.read(i, 100, 0, 20*time.Second)
		}
		s.work.Go(func() {
			s.until(3 * time.Second)
			s.with(func() { s.dead = true })
		})
		s.end(20 * time.Second)
		s.check(t, b)
	})
}

// The limit changes while the job runs: up, down, off and on again.
func TestLimitChangesWhileRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size = 100
		s := newSim(t, ratelimit.Config{Parallelism: 4, Limit: ratelimit.Amount{Bytes: 1_000_000}})
		for i := range 4 {
			s.read(i, size, 0, 40*time.Second)
		}
		limits := []int64{1_000_000, 8_000_000, 500_000, 2_000_000}
		for i, limit := range limits {
			if i > 0 {
				s.change(ratelimit.Amount{Bytes: limit})
			}
			s.until(time.Duration(i+1) * 10 * time.Second)
		}
		s.end(40 * time.Second)
		for i, limit := range limits {
			// A second after the change only the new limit counts, and before that
			// never more than the larger.
			from, to := time.Duration(i)*10*time.Second, time.Duration(i+1)*10*time.Second
			larger := limit
			if i > 0 {
				larger = max(limit, limits[i-1])
			}
			for _, span := range []struct {
				from  time.Duration
				limit int64
			}{{from, larger}, {from + time.Second, limit}} {
				var part []pass
				sum := int64(0)
				for _, p := range s.passed {
					if p.at > span.from && p.at < to {
						part = append(part, p)
						sum += p.bytes
					}
				}
				if _, err := (bound{of: bytesOf, limit: span.limit, record: size}).atMost(part, time.Second); err != nil {
					t.Errorf("limit %d from %s: %v", limit, span.from, err)
				}
				if share := float64(sum) / float64(limit) / (to - span.from).Seconds(); span.limit == limit && share < 0.98 {
					t.Errorf("limit %d from %s: only %.4f of it passed", limit, span.from, share)
				}
			}
		}
	})
}

// A limit that ends lets everything pass at once, also what waits; set again,
// it holds.
func TestLimitEndsAndComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, ratelimit.Config{Parallelism: 1, Limit: ratelimit.Amount{Bytes: 1}})
		l := s.limiters[0]
		s.until(time.Second)
		began := s.now()
		s.work.Go(func() {
			s.until(began + 3*time.Second)
			s.change(ratelimit.Amount{})
		})
		for range 3 { // the first is granted whole
			if err := l.Wait(t.Context(), ratelimit.Amount{Bytes: 1000, Records: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if took := s.now() - began; took < 3*time.Second || took > 3*time.Second+2*simTick {
			t.Errorf("passed after %s", took)
		}
		if l.On() {
			t.Error("the limiter is on")
		}
		s.change(ratelimit.Amount{Records: 10})
		s.until(s.now() + time.Second)
		b := bound{of: recordsOf, limit: 10, record: 1, begin: s.now() + time.Second, end: s.now() + 13*time.Second}
		s.passed = nil
		s.read(0, 50, s.now(), b.end)
		s.end(b.end)
		s.check(t, b)
	})
}

// One byte per second: a record of ten passes, and pays for ten seconds.
func TestOneBytePerSecond(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			b := bound{of: bytesOf, limit: 1, record: 10, end: 100 * time.Second}
			s := newSim(t, ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: 1}})
			for i := range n {
				s.read(i, 10, 0, b.end)
			}
			s.end(b.end)
			s.check(t, b)
			if len(s.passed) < 9 || len(s.passed) > 11 {
				t.Errorf("%d records of 10 bytes in 100 seconds at 1 B/s", len(s.passed))
			}
		})
	}
}

// Both limits hold together: whichever a batch meets first.
func TestBothLimitsHold(t *testing.T) {
	t.Parallel()
	for size, binding := range map[int64]bound{
		100:    {of: recordsOf, limit: 1000, record: 1},
		10_000: {of: bytesOf, limit: 1_000_000, record: 10_000},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSim(t, ratelimit.Config{Parallelism: 4, Limit: ratelimit.Amount{Bytes: 1_000_000, Records: 1000}})
			for i := range 4 {
				s.read(i, size, 0, simTime)
			}
			s.end(simTime)
			binding.end = simTime
			s.check(t, binding)
			for _, b := range []bound{{of: recordsOf, limit: 1000, record: 1}, {of: bytesOf, limit: 1_000_000, record: size}} {
				if _, err := b.atMost(s.passed, time.Second); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
