package heartbeat

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// CounterWatch is the master's side of the counter heartbeat: it reads all
// counters once per check period and tells its owner, on the owner's loop, what
// they show. A read that fails, and one that the owner was too busy to look at,
// count for nobody.
type CounterWatch[W ~string] struct {
	store  CounterReader[W]
	cfg    CounterConfig
	run    Executor
	told   func([]CounterEvent[W])
	log    *slog.Logger
	loop   background
	number atomic.Int64

	// tally belongs to the owner's loop.
	tally *CounterTally[W]

	mu     sync.Mutex
	latest map[W]uint64
}

// NewCounterWatch makes a watch over a store's counters, and starts nothing. told
// is called on the owner's message loop, which is run. None of them may be missing.
func NewCounterWatch[W ~string](
	s *Services, store CounterReader[W], run Executor, told func([]CounterEvent[W]),
) (*CounterWatch[W], error) {
	err := missing(
		needServices(s), needLoop(run),
		need{there(store), "there is no store to read from"},
		need{told != nil, "nobody is told what the counters show"},
	)
	if err != nil {
		return nil, notMade("counters' watch", "", err)
	}
	tally, err := NewCounterTally[W](s.cfg.Counter)
	if err != nil {
		return nil, notMade("counters' watch", "", err)
	}
	return &CounterWatch[W]{
		store: store, cfg: s.cfg.Counter, run: run, told: told, log: s.cfg.Logger, tally: tally,
	}, nil
}

// Expect starts to count a worker that has registered; on the owner's loop.
func (c *CounterWatch[W]) Expect(worker W) { c.tally.Expect(worker) }

// Workers is how many counters move. Masters tell it to the workers, with the
// answer to a registration and with heartbeats, for [CounterBeat.SetWorkers].
func (c *CounterWatch[W]) Workers() int { return int(c.number.Load()) }

// Start starts to read, at once and then once per check period.
func (c *CounterWatch[W]) Start(ctx context.Context) error { return c.loop.start(ctx, c.watch) }

// Stop ends it and waits for a read that is on its way. It may be called twice, and
// before Start.
func (c *CounterWatch[W]) Stop() { c.loop.stop() }

func (c *CounterWatch[W]) watch(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		// The period runs from the read's begin; one that takes longer has failed.
		timer.Reset(c.cfg.CheckPeriod)
		reading, cancel := context.WithTimeout(ctx, c.cfg.CheckPeriod)
		counters, err := c.store.ReadAll(reading)
		if err == nil {
			err = reading.Err()
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			c.log.Warn("heartbeat counters could not be read: this read counts for nobody", "error", err)
			continue
		}
		c.mu.Lock()
		c.latest = counters
		c.mu.Unlock()
		c.run(c.turn)
	}
}

// turn runs on the owner's loop.
func (c *CounterWatch[W]) turn() {
	c.mu.Lock()
	counters := c.latest
	c.latest = nil
	c.mu.Unlock()
	if counters == nil {
		return
	}
	events := c.tally.Read(counters)
	c.number.Store(int64(c.tally.Workers()))
	if len(events) > 0 {
		c.told(events)
	}
}
