package heartbeat

import (
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// loop is a component's message loop: it runs what it is given, one after the
// other, and can be kept busy.
type loop struct {
	mu    sync.Mutex
	queue []func()
	wake  chan struct{}
	end   chan struct{}
	ended chan struct{}
	// inside is 1 while something runs.
	inside atomic.Int32
}

func newLoop(t testing.TB) *loop {
	l := &loop{wake: make(chan struct{}, 1), end: make(chan struct{}), ended: make(chan struct{})}
	go l.serve()
	t.Cleanup(func() {
		close(l.end)
		<-l.ended
	})
	return l
}

func (l *loop) run(f func()) {
	l.mu.Lock()
	l.queue = append(l.queue, f)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

func (l *loop) serve() {
	defer close(l.ended)
	for {
		l.mu.Lock()
		var f func()
		if len(l.queue) > 0 {
			f = l.queue[0]
			l.queue = l.queue[1:]
		}
		l.mu.Unlock()
		if f == nil {
			select {
			case <-l.wake:
				continue
			case <-l.end:
				return
			}
		}
		l.inside.Add(1)
		f()
		l.inside.Add(-1)
	}
}

// do runs f on the loop and waits for it.
func (l *loop) do(f func()) {
	done := make(chan struct{})
	l.run(func() {
		defer close(done)
		f()
	})
	<-done
}

// busy keeps the loop from handling anything for d.
func (l *loop) busy(d time.Duration) { l.run(func() { pass(d) }) }

// pass lets bubble time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }

// loss is a timeout that was reported, and when.
type loss struct {
	id ID
	Loss
	at time.Duration
}

// owner is a listener that remembers.
type owner struct {
	*loop
	t     testing.TB
	began time.Time

	mu       sync.Mutex
	losses   []loss
	reports  []string
	payload  func(id ID) *string
	onLost   func(id ID, l Loss)
	asked    int
	outsider bool
}

func newOwner(t testing.TB) *owner {
	return &owner{loop: newLoop(t), t: t, began: time.Now()}
}

// Timeout implements Listener.
func (o *owner) Timeout(id ID, l Loss) {
	o.checkLoop()
	o.mu.Lock()
	o.losses = append(o.losses, loss{id, l, time.Since(o.began)})
	onLost := o.onLost
	o.mu.Unlock()
	if onLost != nil {
		onLost(id, l)
	}
}

// ReportPayload implements Listener.
func (o *owner) ReportPayload(id ID, payload *string) {
	o.checkLoop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.reports = append(o.reports, string(id)+":"+*payload)
}

// RetrievePayload implements Listener.
func (o *owner) RetrievePayload(id ID) *string {
	o.checkLoop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	if o.payload == nil {
		return nil
	}
	return o.payload(id)
}

// checkLoop fails unless exactly one thing runs on the loop: this call.
func (o *owner) checkLoop() {
	if n := o.inside.Load(); n != 1 {
		o.mu.Lock()
		o.outsider = true
		o.mu.Unlock()
		o.t.Errorf("a listener was called while %d things ran on its owner's loop", n)
	}
}

// sends sets what goes with heartbeats.
func (o *owner) sends(payload func(id ID) *string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.payload = payload
}

// whenLost sets what the owner does about a loss.
func (o *owner) whenLost(f func(id ID, l Loss)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onLost = f
}

func (o *owner) lost() []loss {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.losses)
}

func (o *owner) reported() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.reports)
}

func (o *owner) wantLost(ids ...ID) {
	o.t.Helper()
	var got []ID
	for _, l := range o.lost() {
		got = append(got, l.id)
	}
	slices.Sort(got)
	slices.Sort(ids)
	if !slices.Equal(got, ids) {
		o.t.Fatalf("lost are %v, want %v", got, ids)
	}
}

// unstarted makes services without their sweeper, which counters do not need.
func unstarted(t testing.TB, cfg Config) *Services {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start makes services and starts them; they end with the test.
func start(t testing.TB, cfg Config) *Services {
	t.Helper()
	s := unstarted(t, cfg)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

type (
	passive = Manager[string, string]
	active  = Sender[string, string]
)

func newPassive(t testing.TB, s *Services, own ID) (*passive, *owner) {
	t.Helper()
	o := newOwner(t)
	m, err := NewManager(s, own, Listener[string, string](o), o.run)
	if err != nil {
		t.Fatal(err)
	}
	return m, o
}

func newActive(t testing.TB, s *Services, own ID) (*active, *owner) {
	t.Helper()
	o := newOwner(t)
	m, err := NewSender(s, own, Listener[string, string](o), o.run)
	if err != nil {
		t.Fatal(err)
	}
	return m, o
}

func monitor(t testing.TB, m *passive, id ID, target Target[string]) *Monitor {
	t.Helper()
	mon, err := m.Monitor(id, target)
	if err != nil {
		t.Fatal(err)
	}
	return mon
}

// line is a way for beats that can be cut.
type line struct {
	cut   atomic.Bool
	beats atomic.Int64
	to    func(Beat[string])
}

// Send implements Target.
func (l *line) Send(b Beat[string]) error {
	l.beats.Add(1)
	if !l.cut.Load() {
		l.to(b)
	}
	return nil
}

// onto delivers beats to a manager on its owner's loop.
func onto(m *passive, o *owner) *line {
	return &line{to: func(b Beat[string]) { o.run(func() { m.Receive(b) }) }}
}

// nowhere is a target that takes beats and lets them vanish.
func nowhere() *line { return &line{to: func(Beat[string]) {}} }

// duo is a master and a worker that monitor each other.
type duo struct {
	master, worker         *owner
	sender                 *active
	manager                *passive
	toWorker, toMaster     *line
	ofWorker, ofMaster     *Monitor
	services, workerServed *Services
}

func newDuo(t testing.TB, cfg Config) *duo {
	t.Helper()
	d := &duo{services: start(t, cfg), workerServed: start(t, cfg)}
	d.sender, d.master = newActive(t, d.services, "master")
	d.manager, d.worker = newPassive(t, d.workerServed, "worker")
	d.toWorker, d.toMaster = onto(d.manager, d.worker), onto(d.sender.Manager, d.master)
	d.ofWorker = monitor(t, d.sender.Manager, "worker", d.toWorker)
	d.ofMaster = monitor(t, d.manager, "master", d.toMaster)
	return d
}

// bubble runs a test in one.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

// shifted is the process's clock with stalls that are made up.
type shifted struct {
	base time.Time
	by   atomic.Int64
}

func newShifted() *shifted { return &shifted{base: time.Now()} }

func (c *shifted) now() time.Duration { return time.Since(c.base) + time.Duration(c.by.Load()) }

// jump is a stall as those see it who wake from it: time has passed, and nothing
// has run.
func (c *shifted) jump(d time.Duration) { c.by.Add(int64(d)) }
