package heartbeat

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// CounterBeat is the worker's side of the counter heartbeat. Once per interval it
// asks the worker's own message loop to count, and writes the number: a worker
// whose loop stands still does not beat.
type CounterBeat[W ~string] struct {
	store   CounterWriter[W]
	worker  W
	cfg     CounterConfig
	clock   func() time.Duration
	run     Executor
	written func(began time.Duration, err error)
	log     *slog.Logger
	loop    background
	// due is a number to be written; retime says that the interval has changed.
	due    chan uint64
	retime chan struct{}

	// value belongs to the owner's loop.
	value uint64

	mu    sync.Mutex
	every time.Duration
	// beat: a number is asked for.
	beat    bool
	results []counterResult
}

type counterResult struct {
	began time.Duration
	err   error
}

// NewCounterBeat makes a worker's counter, and starts nothing. run is the worker's
// message loop, on which written is told of each write: when it was begun, on the
// services' clock, and how it ended. [Fence] wants to know. None of them may be
// missing.
func NewCounterBeat[W ~string](
	s *Services, store CounterWriter[W], worker W, run Executor, written func(began time.Duration, err error),
) (*CounterBeat[W], error) {
	err := missing(
		needServices(s), needLoop(run),
		need{there(store), "there is no store to write to"},
		need{worker != "", "the worker's name is empty: whose counter would it be?"},
		need{written != nil, "nobody is told how a write ended: a worker that cannot write has to know"},
	)
	if err != nil {
		return nil, notMade("counter", string(worker), err)
	}
	return &CounterBeat[W]{
		store: store, worker: worker, cfg: s.cfg.Counter, clock: s.clock, run: run, written: written,
		log: s.cfg.Logger, due: make(chan uint64, 1), retime: make(chan struct{}, 1),
		every: s.cfg.Counter.Interval,
		// Wherever the worker counted before its restart, it is somewhere else now.
		value: uint64(rand.Uint32()) << 24,
	}, nil
}

// SetWorkers tells how many workers write to the store, from which the interval
// follows; see [CounterConfig.Every].
func (c *CounterBeat[W]) SetWorkers(n int) {
	every := c.cfg.Every(n)
	c.mu.Lock()
	changed := c.every != every
	c.every = every
	c.mu.Unlock()
	if changed {
		select {
		case c.retime <- struct{}{}:
		default:
		}
	}
}

// Every is the present interval.
func (c *CounterBeat[W]) Every() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.every
}

// Start starts to write, at once and then once per interval.
func (c *CounterBeat[W]) Start(ctx context.Context) error { return c.loop.start(ctx, c.write) }

// Stop ends it and waits for a write that is on its way. It may be called twice,
// and before Start.
func (c *CounterBeat[W]) Stop() { c.loop.stop() }

func (c *CounterBeat[W]) write(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	every, next := c.Every(), c.clock()
	// Workers that were started together beat apart from the second time on.
	gap := rand.Float64()
	for {
		select {
		case <-timer.C:
			c.mu.Lock()
			c.beat = true
			c.mu.Unlock()
			c.run(c.turn)
			wait := scaled(every, gap)
			gap = 1
			next = c.clock() + wait
			timer.Reset(wait)
		case <-c.retime:
			// Who is halfway through the old interval is so through the new one: workers
			// that beat apart still do, and never all at once because they became fewer.
			was, now := every, c.clock()
			every = c.Every()
			wait := scaled(max(0, next-now), float64(every)/float64(was))
			next = now + wait
			timer.Reset(wait)
		case value := <-c.due:
			c.writeOnce(ctx, value)
		case <-ctx.Done():
			return
		}
	}
}

func scaled(d time.Duration, by float64) time.Duration { return time.Duration(float64(d) * by) }

func (c *CounterBeat[W]) writeOnce(ctx context.Context, value uint64) {
	writing, cancel := context.WithTimeout(ctx, c.Every())
	defer cancel()
	began := c.clock()
	err := c.store.Write(writing, c.worker, value)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.log.Warn("heartbeat counter could not be written", "worker", string(c.worker), "error", err)
	}
	c.mu.Lock()
	c.results = append(c.results, counterResult{began, err})
	c.mu.Unlock()
	c.run(c.turn)
}

// turn runs on the owner's loop.
func (c *CounterBeat[W]) turn() {
	c.mu.Lock()
	beat, results := c.beat, c.results
	c.beat, c.results = false, nil
	c.mu.Unlock()
	for _, r := range results {
		c.written(r.began, r.err)
	}
	if !beat {
		return
	}
	c.value++
	select {
	case <-c.due: // One that was not written yet is of no use any more.
	default:
	}
	c.due <- c.value
}
