package heartbeat

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Services are a process's heartbeats: made once from the configuration, they are
// behind all its managers and senders, with one goroutine and one timer for all
// their targets.
type Services struct {
	cfg   Config
	clock func() time.Duration
	// base is the moment at which the clock was zero.
	base        time.Time
	log         *slog.Logger
	generations atomic.Uint64
	// tickEvery divides the interval into slots.
	tickEvery int64
	slots     int
	awake     awake

	mu     sync.Mutex
	groups []*group
	// phase is where Start and Stop have come to.
	phase  phase
	cancel context.CancelFunc
	done   chan struct{}
}

type phase uint8

const (
	phaseNew phase = iota
	phaseStarted
	phaseStopped
)

// An interval has so many slots, unless they were shorter than a timer can tell.
const (
	maxSlots = 100
	minTick  = time.Millisecond
)

// New makes services, and starts nothing.
func New(cfg Config) (*Services, error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("heartbeat services: %w", err)
	}
	s := &Services{cfg: cfg, clock: cfg.Clock, base: time.Now(), log: cfg.Logger, done: make(chan struct{})}
	if s.clock == nil {
		s.clock = func() time.Duration { return time.Since(s.base) }
	} else {
		s.base = s.base.Add(-s.clock())
	}
	s.slots = max(1, min(maxSlots, int(cfg.Interval/minTick)))
	s.tickEvery = int64(cfg.Interval) / int64(s.slots)
	s.awake.init(s.now(), s.tickEvery, int64(cfg.Interval)/10)
	return s, nil
}

// Config is the configuration, with its defaults.
func (s *Services) Config() Config { return s.cfg }

// Start starts to send and to watch; until Stop, or the end of ctx.
func (s *Services) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.phase {
	case phaseStarted:
		return errStarted
	case phaseStopped:
		return ErrStopped
	}
	s.phase = phaseStarted
	ctx, s.cancel = context.WithCancel(ctx)
	s.awake.init(s.now(), s.tickEvery, int64(s.cfg.Interval)/10)
	go s.sweep(ctx)
	return nil
}

// Stop ends all managers and senders and waits for the sweeper. No listener is
// called after it when it is called on its owner's loop, or the loop has ended;
// elsewhere a call that has begun is not waited for. It may be called twice, and
// before Start.
func (s *Services) Stop() {
	s.mu.Lock()
	started := s.phase == phaseStarted || s.cancel != nil
	s.phase = phaseStopped
	groups := slices.Clone(s.groups)
	if started {
		s.cancel()
	}
	s.mu.Unlock()
	for _, g := range groups {
		g.stop()
	}
	if started {
		<-s.done
	}
}

// Now is the services' clock: what [Fence] is given.
func (s *Services) Now() time.Duration { return s.clock() }

// Awake is the services' clock without the time for which this process was
// stalled: stopped by a signal, paused with its machine, or starved. It is the time
// to judge others by; [Witnesses] are given it.
func (s *Services) Awake() time.Duration { return s.awake.at(s.now()) }

// Stalled is for how long this process has been stalled since Start.
func (s *Services) Stalled() time.Duration { return s.awake.stalled() }

// now is the clock's time in nanoseconds.
func (s *Services) now() int64 { return int64(s.clock()) }

func (s *Services) timeOf(now int64) time.Time { return s.base.Add(time.Duration(now)) }

func (s *Services) join(g *group) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase == phaseStopped {
		return ErrStopped
	}
	s.groups = append(slices.Clip(s.groups), g)
	return nil
}

func (s *Services) leave(g *group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = slices.DeleteFunc(slices.Clone(s.groups), func(o *group) bool { return o == g })
}

// sweep is the one goroutine: it wakes once per slot.
func (s *Services) sweep(ctx context.Context) {
	defer close(s.done)
	timer := time.NewTimer(s.awake.wait(s.now()))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		now := s.now()
		stall, ticks := s.awake.observe(now)
		if stall > 0 {
			s.log.Warn("this process was stalled: heartbeat deadlines are moved", "stall", time.Duration(stall))
		}
		s.mu.Lock()
		groups := s.groups
		s.mu.Unlock()
		for _, g := range groups {
			g.tick(now, stall, ticks)
		}
		timer.Reset(s.awake.wait(s.now()))
	}
}
