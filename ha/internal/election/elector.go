package election

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// Config is what an Elector is made from. Store and Marks have to be set.
type Config struct {
	Store coord.Store
	Marks Marks
	// Name is what the process calls itself.
	Name string
	// Timeout is the session timeout to ask for; 0: 10 s.
	Timeout time.Duration
	// Resync is how often the lock is read though nothing was heard; 0: 60 s.
	Resync         time.Duration
	FencedRenewals bool
	// Clock reckons trust; nil: BootTime.
	Clock Clock
	// Logger is told what happens; nil: nobody is.
	Logger *slog.Logger
	// BeforeGrant, if set, is called by each take-over before anybody is told of
	// it. Its error gives the lock back.
	BeforeGrant func(ctx context.Context, s coord.Session, term ha.Term) error
}

// WithDefaults returns the config with every zero replaced by its default.
func (c Config) WithDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Resync == 0 {
		c.Resync = time.Minute
	}
	if c.Clock == nil {
		c.Clock = BootTime()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Elector is a process's part in the election: the Core, a goroutine that runs
// it, and one more for each call and callback under way.
type Elector struct {
	cfg      Config
	core     *Core  // of the loop's goroutine
	instance string // names it among the contenders

	wake  chan struct{} // capacity 1
	ended chan struct{} // closed when the loop has ended
	work  sync.WaitGroup

	mu         sync.Mutex
	events     []Event
	started    bool
	stopping   bool
	view       view
	changed    chan struct{} // closed and made anew when view changes
	components map[string]*Component
	generation map[uint64]*generation // opening, open, or closing
	trouble    error                  // why the last attempt to open a session failed
}

// view is what others see of the core.
type view struct {
	state     State
	renewed   time.Duration
	trustEnd  time.Duration
	timeout   time.Duration
	competing bool
	link      *Link  // nil: the store cannot be relied on
	grant     *grant // nil: the process does not lead
}

// New returns an elector; Start starts it.
func New(cfg Config) *Elector {
	cfg = cfg.WithDefaults()
	return &Elector{
		cfg: cfg,
		core: NewCore(CoreConfig{
			Timeout: cfg.Timeout, Resync: cfg.Resync, FencedRenewals: cfg.FencedRenewals,
			NewGrant: func() ha.GrantID { return ha.GrantID(uuid.NewString()) }, Rand: rand.Float64,
		}),
		instance:   coord.Escape(cfg.Name) + "-" + uuid.NewString()[:8],
		wake:       make(chan struct{}, 1),
		ended:      make(chan struct{}),
		changed:    make(chan struct{}),
		components: map[string]*Component{},
		generation: map[uint64]*generation{},
	}
}

// Start joins; it returns at once, and a second call does nothing.
func (e *Elector) Start() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started {
		return
	}
	e.started = true
	e.events = append(e.events, Tick{})
	e.work.Go(e.loop)
}

// Stop leaves, and waits until all goroutines have ended or ctx does. It may be
// called twice, and before Start.
func (e *Elector) Stop(ctx context.Context) error {
	e.Start() // so that there is one way to end
	e.mu.Lock()
	e.stopping = true
	e.events = append(e.events, Stop{})
	e.signalLocked()
	e.mu.Unlock()
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// post queues an event. It never waits.
func (e *Elector) post(event Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.events = append(e.events, event)
	e.signalLocked()
}

func (e *Elector) signalLocked() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// Met tells of an epoch that was met anywhere.
func (e *Elector) Met(epoch ha.Epoch) { e.post(Met{Epoch: epoch}) }

// Refused tells of a write that was refused.
func (e *Elector) Refused(refusal *ha.FencedError) {
	e.post(Fenced{Grant: refusal.Term.Grant, Epoch: refusal.Epoch})
}

// State tells where in the election the process is.
func (e *Elector) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.view.state
}

// loop runs the core until it ends.
func (e *Elector) loop() {
	defer close(e.ended)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		if slices.ContainsFunc(e.take(), e.step) {
			return
		}
		if next, ok := e.core.Next(); ok {
			timer.Reset(max(0, next-e.cfg.Clock.Now()))
		} else {
			timer.Stop()
		}
		select {
		case <-e.wake:
		case <-timer.C:
			e.post(Tick{})
		}
	}
}

func (e *Elector) take() []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	events := e.events
	e.events = nil
	return events
}

// step takes in one event and begins what follows from it; true: it was the last.
func (e *Elector) step(event Event) bool {
	before := e.core.State()
	effects := e.core.Step(e.cfg.Clock.Now(), event)
	if after := e.core.State(); after != before {
		e.cfg.Logger.Info("election state", "from", before.String(), "to", after.String(), "process", e.cfg.Name)
	}
	e.mu.Lock()
	e.view.state, e.view.renewed, e.view.trustEnd = e.core.State(), e.core.Renewed(), e.core.TrustEnd()
	e.view.timeout = e.core.timeout()
	e.mu.Unlock()
	for _, effect := range effects {
		if _, last := effect.(End); last {
			return true
		}
		e.carryOut(effect)
	}
	return false
}

// update changes the view, and wakes those who wait for it.
func (e *Elector) update(change func(*view)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(&e.view)
	e.broadcastLocked()
}

func (e *Elector) broadcastLocked() {
	close(e.changed)
	e.changed = make(chan struct{})
}
