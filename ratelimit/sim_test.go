package ratelimit_test

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// simTick is how often the driver of a simulation looks at its limiters.
const simTick = 5 * time.Millisecond

// sim is a ledger with its workers in a synctest bubble: real limiters, and
// goroutines that want to pass records on.
type sim struct {
	t        *testing.T
	start    time.Time
	config   ratelimit.Config
	ledger   *ratelimit.Ledger
	born     time.Duration // of the present ledger
	limiters []*ratelimit.Limiter

	mu     sync.Mutex
	passed []pass
	// cut workers hear nothing and are not heard; dead says that there is no master.
	cut  map[int]bool
	dead bool

	// speed is how fast a reader can read at most, in bytes per second; 0 is no bound.
	speed int64

	work sync.WaitGroup
	stop context.CancelFunc
	ctx  context.Context
}

// pass is a batch that a limiter let pass.
type pass struct {
	at      time.Duration
	worker  int
	bytes   int64
	records int64
}

func newSim(t *testing.T, cfg ratelimit.Config) *sim {
	s := idleSim(t, cfg)
	s.work.Go(s.drive)
	return s
}

// idleSim is a simulation that nobody drives yet.
func idleSim(t *testing.T, cfg ratelimit.Config) *sim {
	s := &sim{t: t, start: time.Now(), config: cfg, ledger: ratelimit.NewLedger(cfg), cut: map[int]bool{}}
	s.ctx, s.stop = context.WithCancel(t.Context())
	for i := range cfg.Parallelism {
		s.limiters = append(s.limiters, ratelimit.NewLimiter(true))
		s.ledger.Join(i)
	}
	return s
}

func (s *sim) now() time.Duration { return time.Since(s.start) }

// drive carries reports and leases until the end.
func (s *sim) drive() {
	ticker := time.NewTicker(simTick)
	defer ticker.Stop()
	for {
		s.exchange()
		select {
		case <-ticker.C:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *sim) exchange() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range s.limiters {
		if r, due := l.Report(); due && !s.dead && !s.cut[i] {
			s.ledger.Report(s.now()-s.born, i, r)
		}
	}
	if s.dead {
		return
	}
	s.ledger.Tick(s.now() - s.born)
	for _, g := range s.ledger.Grants() {
		if !s.cut[g.Worker] {
			s.limiters[g.Worker].Grant(g.Lease)
		}
	}
}

// with runs f between two exchanges.
func (s *sim) with(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// change sets another limit.
func (s *sim) change(limit ratelimit.Amount) {
	s.with(func() {
		if err := s.ledger.Change(limit); err != nil {
			s.t.Error(err)
		}
	})
}

// newMaster puts a new ledger in place of the old one, as a new leader does.
func (s *sim) newMaster() {
	s.with(func() {
		s.config.Epoch++
		s.born, s.dead = s.now(), false
		s.ledger = ratelimit.NewLedger(s.config)
		ids := make([]int, s.config.Parallelism)
		for i := range ids {
			ids[i] = i
		}
		s.ledger.Adopt(ids...)
	})
}

// read lets a worker pass on as much as it may from one time to another: records
// of a size, as many to a batch as the limiter bounds.
func (s *sim) read(worker int, size int64, from, to time.Duration) {
	s.work.Go(func() {
		if !s.until(from) {
			return
		}
		ctx, cancel := context.WithTimeout(s.ctx, to-s.now())
		defer cancel()
		for ctx.Err() == nil {
			most, _ := s.limiters[worker].Bound()
			n := int64(1)
			if size > 0 && most.Bytes > 0 {
				n = most.Bytes / size
			}
			if most.Records > 0 && (size == 0 || most.Bytes == 0 || most.Records < n) {
				n = most.Records
			}
			n = max(1, n)
			if s.speed > 0 && !s.until(s.now()+time.Duration(n*size)*time.Second/time.Duration(s.speed)) {
				return
			}
			if s.limiters[worker].Wait(ctx, ratelimit.Amount{Bytes: n * size, Records: n}) != nil {
				return
			}
			s.mu.Lock()
			s.passed = append(s.passed, pass{s.now(), worker, n * size, n})
			s.mu.Unlock()
		}
	})
}

// until waits for a time, and reports false at the end of the simulation.
func (s *sim) until(at time.Duration) bool {
	timer := time.NewTimer(at - s.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// end waits for a time and stops everything.
func (s *sim) end(at time.Duration) {
	s.until(at)
	s.stop()
	s.work.Wait()
	synctest.Wait()
}

// bound is what a limit says of windows.
type bound struct {
	of    func(pass) int64
	limit int64
	// record is the size of the largest record.
	record int64
	// begin is where windows with demand begin, end where they end.
	begin, end time.Duration
}

// atMost returns the worst window of a length: what passed in it over what may.
func (b bound) atMost(passed []pass, window time.Duration) (worst float64, err error) {
	sum, first := int64(0), 0
	most := int64(float64(b.limit) * window.Seconds())
	for _, p := range passed {
		sum += b.of(p)
		for passed[first].at <= p.at-window {
			sum -= b.of(passed[first])
			first++
		}
		worst = max(worst, float64(sum)/float64(most))
		if sum > most+b.record && err == nil {
			err = fmt.Errorf("%d passed in the %s until %s, %.4f of the limit, %d too many", sum, window, p.at, float64(sum)/float64(most), sum-most-b.record)
		}
	}
	return worst, err
}

// atLeast returns the worst window of 10 s in which there was demand.
func (b bound) atLeast(passed []pass) (worst float64, err error) {
	const window = 10 * time.Second
	worst = 1
	upTo := make([]int64, len(passed)+1) // what the first so many batches are
	for i, p := range passed {
		upTo[i+1] = upTo[i] + b.of(p)
	}
	until := func(at time.Duration) int64 {
		return upTo[sort.Search(len(passed), func(i int) bool { return passed[i].at > at })]
	}
	for from := b.begin; from+window <= b.end; from += 50 * time.Millisecond {
		sum := b.record + until(from+window) - until(from)
		share := float64(sum) / (float64(b.limit) * window.Seconds())
		worst = min(worst, share)
		if share < 0.98 && err == nil {
			err = fmt.Errorf("only %.4f of the limit passed in the 10 s from %s", share, from)
		}
	}
	return worst, err
}

func bytesOf(p pass) int64   { return p.bytes }
func recordsOf(p pass) int64 { return p.records }

// check holds what a limit promises.
func (s *sim) check(t *testing.T, b bound) {
	t.Helper()
	one, err := b.atMost(s.passed, time.Second)
	if err != nil {
		t.Error(err)
	}
	ten, err := b.atMost(s.passed, 10*time.Second)
	if err != nil {
		t.Error(err)
	}
	least, err := b.atLeast(s.passed)
	if err != nil {
		t.Error(err)
	}
	t.Logf("%d batches; at most %.4f of the limit in 1 s, %.4f in 10 s; at least %.4f in 10 s", len(s.passed), one, ten, least)
}
