package ratelimit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Config says how a ledger works.
type Config struct {
	// Limit is the job's, zero for none.
	Limit Amount
	// Parallelism is the number of workers that there may be.
	Parallelism int
	// Window is the length of a lease's opening, 100 to 500 ms.
	Window time.Duration
	// Epoch is the master's; leases carry it.
	Epoch uint64
	// Policy splits what is free; nil is Fair.
	Policy Policy
}

// WithDefaults fills what is zero: one worker, windows of 100 ms, Fair.
func (c Config) WithDefaults() Config {
	if c.Parallelism == 0 {
		c.Parallelism = 1
	}
	if c.Window == 0 {
		c.Window = 100 * time.Millisecond
	}
	if c.Policy == nil {
		c.Policy = Fair{}
	}
	return c
}

// The bounds of a window: a shorter one has more steps in a second than an account
// looks ahead, a longer one lets too much pass in a burst.
const (
	minWindow = 100 * time.Millisecond
	maxWindow = 500 * time.Millisecond
)

// Validate returns all that is wrong with the configuration, its defaults filled.
func (c Config) Validate() error {
	c = c.WithDefaults()
	errs := []error{c.Limit.Validate()}
	if c.Parallelism < 1 {
		errs = append(errs, fmt.Errorf("a parallelism of %d is less than 1", c.Parallelism))
	}
	if c.Window < minWindow || c.Window > maxWindow {
		errs = append(errs, fmt.Errorf("a window of %s is not within %s and %s", c.Window, minWindow, maxWindow))
	}
	return errors.Join(errs...)
}

// Ledger holds a job's limit. It is a pure state machine: events go in with the
// time since any fixed moment, grants come out of Grants. It belongs to one
// goroutine. The package comment says what it guarantees.
type Ledger struct {
	cfg      Config
	now      time.Duration
	accounts [dims]account
	workers  []*worker
	// holdUntil is when a new master may lease.
	holdUntil time.Duration
	lastRound time.Duration
	lastEarly time.Duration
	// debtor is the worker whose record is paid for.
	debtor *worker
	begun  bool
	// changed says that the limit is another one than at first.
	changed bool
	grants  []Grant
	// kept for their memory
	demands []Demand
	parts   []Amount
}

// NewLedger returns the ledger of a job that starts, or of one whose old
// master's leases are dead for sure. It panics where cfg is not valid.
func NewLedger(cfg Config) *Ledger {
	if err := cfg.Validate(); err != nil {
		panic("ratelimit: " + err.Error())
	}
	l := &Ledger{cfg: cfg.WithDefaults()}
	for d := range l.accounts {
		l.accounts[d].step = l.cfg.Window / stepsPerWindow
		l.accounts[d].begin(l.cfg.Limit.dim(d), 0)
	}
	return l
}

// Adopt begins as the ledger of a new master: the workers may hold leases of
// the one before, or be at their floors. It comes first, at the time 0.
func (l *Ledger) Adopt(workers ...int) {
	l.holdUntil = leaseWindows * l.cfg.Window
	for _, id := range workers {
		l.Join(id)
	}
	for _, w := range l.workers {
		w.floor, w.until = w.told, 0
	}
}

// Join makes a worker known. One that is known stays as it is.
func (l *Ledger) Join(id int) {
	i, found := l.find(id)
	if found {
		return
	}
	w := &worker{id: id, until: never, told: l.floorFor(), tell: l.changed || !l.cfg.Limit.IsZero()}
	l.workers = slices.Insert(l.workers, i, w)
}

// Leave forgets a worker that is sure to pass nothing on any more.
func (l *Ledger) Leave(id int) {
	i, found := l.find(id)
	if !found {
		return
	}
	for _, g := range l.workers[i].leases {
		l.lapse(g)
	}
	l.passed(l.workers[i], l.now)
	l.workers = slices.Delete(l.workers, i, i+1)
}

func (l *Ledger) find(id int) (int, bool) {
	return slices.BinarySearchFunc(l.workers, id, func(w *worker, id int) int { return cmp.Compare(w.id, id) })
}

// floorFor is the floor of one more worker: limit ÷ parallelism, as far as
// those of the others leave it.
func (l *Ledger) floorFor() (floor Amount) {
	for d := range dims {
		left := l.cfg.Limit.dim(d)
		for _, w := range l.workers {
			left -= w.reserve(d)
		}
		floor.set(d, max(0, min(left, l.cfg.Limit.dim(d)/int64(l.cfg.Parallelism))))
	}
	return floor
}

// lapse ends a lease: what is left of it may have been used until now.
func (l *Ledger) lapse(g given) {
	for d := range l.accounts {
		a := &l.accounts[d]
		a.used(g.left.dim(d), l.now)
	}
}

// Limit returns the limit, and Change sets it.
func (l *Ledger) Limit() Amount { return l.cfg.Limit }

// Change sets the limit of a running job; zero ends it. One that is not valid
// changes nothing.
func (l *Ledger) Change(limit Amount) error {
	if err := limit.Validate(); err != nil {
		return err
	}
	l.cfg.Limit, l.changed = limit, true
	for d := range l.accounts {
		l.accounts[d].change(limit.dim(d), l.now)
	}
	for _, w := range l.workers {
		w.told = Amount{}
	}
	for _, w := range l.workers {
		for d := range dims {
			w.told.set(d, limit.dim(d)/int64(max(l.cfg.Parallelism, len(l.workers))))
		}
		w.tell = true
	}
	l.lastRound = l.now - l.cfg.Window
	return nil
}

// Report takes a worker's report that came at a time.
func (l *Ledger) Report(now time.Duration, id int, r Report) {
	i, found := l.find(id)
	if !found || r.No <= l.workers[i].no {
		return
	}
	w := l.workers[i]
	w.no, w.passed = r.No, r.Passed
	l.advance(now)
	// Who reports has a limiter that is on.
	w.tell = w.tell || l.cfg.Limit.IsZero()
	w.waiting, w.idle, w.reportedAt = r.Waiting, r.Idle, l.now
	l.asked(w, r)
	if r.Epoch != l.cfg.Epoch {
		// What it used was another master's; what it owes is the job's.
		for d := range l.accounts {
			l.accounts[d].owed = max(l.accounts[d].owed, r.Owed.dim(d))
		}
		return
	}
	w.acked(r.Seq, l.cfg.Window)
	if r.Whole == w.whole {
		l.passed(w, l.now-r.WholeAge)
	}
	for _, u := range r.Used {
		for d := range l.accounts {
			l.accounts[d].used(w.take(u.Seq, d, u.Amount.dim(d)), l.now-u.Age)
		}
		w.used = w.used.Add(u.Amount)
	}
	for _, b := range r.Returned {
		for d := range l.accounts {
			l.accounts[d].returned(w.take(b.Seq, d, b.Amount.dim(d)), l.now+b.Opens)
		}
	}
}

// Tick tells the time. It comes several times in a window.
func (l *Ledger) Tick(now time.Duration) {
	if now < l.now {
		return
	}
	l.advance(now)
	if l.cfg.Limit.IsZero() {
		l.tellOff()
		return
	}
	l.answerAsks()
	if !l.begun || l.now-l.lastRound >= l.cfg.Window {
		l.begun = true
		l.round()
	} else {
		l.early()
	}
}

// advance takes the accounts to a time.
func (l *Ledger) advance(now time.Duration) {
	l.now = max(l.now, now)
	if l.cfg.Limit.IsZero() {
		return
	}
	l.expire()
	for d := range l.accounts {
		a := &l.accounts[d]
		a.advance(a.stepOf(l.now), func(step int64) { l.takeFloors(a, d, step) })
	}
}

// Grants returns the leases to send, once.
func (l *Ledger) Grants() []Grant {
	out := l.grants
	l.grants = nil
	return out
}

// expire lets leases end after two windows.
func (l *Ledger) expire() {
	for _, w := range l.workers {
		n := 0
		for n < len(w.leases) && l.now >= w.leases[n].at+leaseWindows*l.cfg.Window {
			l.lapse(w.leases[n])
			n++
		}
		w.leases = slices.Delete(w.leases, 0, n)
		if l.now >= w.heldAt+leaseWindows*l.cfg.Window {
			l.passed(w, l.now)
		}
	}
}

// takeFloors uses, for workers that may be silent, what their floors let pass in
// a step.
func (l *Ledger) takeFloors(a *account, d int, step int64) {
	at := time.Duration(step) * a.step
	for _, w := range l.workers {
		if !w.mayBeSilent(at) {
			w.rest[d] = 0
			continue
		}
		w.rest[d] += float64(w.reserve(d)) * a.step.Seconds()
		n := int64(w.rest[d])
		w.rest[d] -= float64(n)
		a.charge(n)
	}
}
