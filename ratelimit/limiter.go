package ratelimit

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Limiter is a worker's side of the limit: it lets batches pass as leases open.
// Wait is for one goroutine at a time; all else may be called from others.
type Limiter struct {
	start time.Time
	on    atomic.Bool
	// wake tells a waiter that something has changed.
	wake chan struct{}
	// timer is the waiter's; it is kept, so that waiting takes no memory.
	timer *time.Timer

	mu    sync.Mutex
	lease Lease // the last received
	// soon is what the lease pays within soonSteps.
	soon  Amount
	heard time.Duration
	steps stepQueue
	uses  usage
	// returned is what has been leased and not used, to be reported.
	returned returns
	passed   Amount
	waited   time.Duration
	no       uint64
	sent     sentTimes
	// wants says that a batch waits, since when; waiting that one has waited since
	// the last report.
	since   time.Duration
	wants   bool
	waiting bool
	// urgent says that the next report should not wait: nothing that is leased
	// will do.
	urgent bool
	ask    Amount
	askNo  uint64
	// whole is the last record granted whole, by the ask of wholeNo, and when it
	// passed; wholeEnds is how long a grant of that kind holds.
	whole     Amount
	wholeNo   uint64
	wholeAt   time.Duration
	wholeEnds time.Duration
	floored   time.Duration // until when the floor has been used
}

// NewLimiter returns the limiter of a worker. One that is limited lets nothing
// pass before its first lease, another everything.
func NewLimiter(limited bool) *Limiter {
	l := &Limiter{start: time.Now(), wake: make(chan struct{}, 1), timer: time.NewTimer(time.Hour)}
	l.timer.Stop()
	l.on.Store(limited)
	return l
}

// On reports whether there is a limit.
func (l *Limiter) On() bool { return l.on.Load() }

// Wait lets a batch of true size a pass, at once or when leases have opened for
// it. It fails only with the context's error; the batch is not charged then.
func (l *Limiter) Wait(ctx context.Context, a Amount) error {
	if !l.on.Load() {
		return nil
	}
	l.mu.Lock()
	if l.take(l.now(), a) {
		l.mu.Unlock()
		return nil
	}
	return l.wait(ctx, a)
}

func (l *Limiter) now() time.Duration { return time.Since(l.start) }

// wait is called with the lock held, and gives it back.
func (l *Limiter) wait(ctx context.Context, a Amount) error {
	began, whole := l.now(), l.wholeNo
	l.since, l.wants, l.waiting = began, true, true
	l.urgent = l.steps.covers(began, a, l.lease.Limit) == never
	defer l.timer.Stop()
	var err error
	for now := began; err == nil; now = l.now() {
		if !l.on.Load() || l.take(now, a) {
			break
		}
		l.decide(now, a)
		l.timer.Reset(l.next(now, a) - now)
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-l.wake:
		case <-l.timer.C:
		}
		l.mu.Lock()
	}
	l.waited += l.now() - began
	l.wants, l.urgent, l.ask = false, l.wholeNo != whole, Amount{}
	l.mu.Unlock()
	return err
}

// take passes a on if what is open covers it, or it was granted whole.
func (l *Limiter) take(now time.Duration, a Amount) bool {
	limit := l.lease.Limit
	if limit.IsZero() {
		return false // not told yet
	}
	if !l.ask.IsZero() && l.lease.Whole == l.askNo {
		l.ask = Amount{}
		if now < l.wholeEnds {
			l.whole, l.wholeNo, l.wholeAt, l.urgent = a, l.askNo, now, true
			l.passed = l.passed.Add(a)
			return true
		}
	}
	if l.silent(now) {
		return l.takeFloor(now, a)
	}
	l.steps.expire(now, &l.returned)
	if a.exceeds(l.steps.open(now), limit) {
		return false
	}
	l.steps.take(now, a, limit, &l.uses)
	l.uses.note(now, a)
	l.passed = l.passed.Add(a)
	return true
}

// silent reports whether nothing has been heard for so long that the floor holds.
func (l *Limiter) silent(now time.Duration) bool {
	return l.lease.Seq > 0 && now-l.heard >= silentWindows*l.lease.Window
}

// takeFloor passes a on by the floor: not faster than it, and not more in a
// second, what was leased before included.
func (l *Limiter) takeFloor(now time.Duration, a Amount) bool {
	if a.exceeds(l.bound(), l.lease.Limit) || now < l.floorNext(now, a) {
		return false
	}
	l.floored = now
	l.uses.note(now, a)
	l.passed = l.passed.Add(a)
	return true
}

// floorNext is when the floor lets a pass, by what has passed before.
func (l *Limiter) floorNext(now time.Duration, a Amount) time.Duration {
	from := max(l.floored, l.heard+silentWindows*l.lease.Window)
	next := from
	for d := range dims {
		if l.lease.Limit.dim(d) == 0 {
			continue
		}
		floor := l.lease.Floor.dim(d)
		if floor == 0 || a.dim(d) > floor {
			return never
		}
		next = max(next, from+time.Duration(float64(a.dim(d))/float64(floor)*float64(time.Second)))
		next = max(next, l.uses.below(now, d, floor-a.dim(d)))
	}
	return next
}

// decide asks for a whole grant when no lease pays a soon.
func (l *Limiter) decide(now time.Duration, a Amount) {
	limit := l.lease.Limit
	if limit.IsZero() || !l.ask.IsZero() || !a.exceeds(l.bound(), limit) && !l.silent(now) {
		return
	}
	if a.exceeds(l.soon, limit) && a.exceeds(l.bound(), limit) {
		l.askNo++
		l.ask, l.urgent = a, true
	}
}

// soonOf is what a lease of these steps pays soon.
func soonOf(steps []Amount) (soon Amount) {
	for _, a := range steps {
		soon = soon.Add(a)
	}
	for d := range dims {
		soon.set(d, soon.dim(d)*soonSteps/int64(max(1, len(steps))))
	}
	return soon
}

// next is when it may be worth to look again.
func (l *Limiter) next(now time.Duration, a Amount) time.Duration {
	const lookAgain = time.Second
	if l.lease.Seq == 0 || l.lease.Limit.IsZero() {
		return now + lookAgain
	}
	if l.silent(now) {
		return min(max(l.floorNext(now, a), now+time.Millisecond), now+lookAgain)
	}
	return min(l.steps.covers(now, a, l.lease.Limit), l.heard+silentWindows*l.lease.Window)
}

// Grant takes a lease.
func (l *Limiter) Grant(lease Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lease.Epoch < l.lease.Epoch || lease.Epoch == l.lease.Epoch && lease.Seq <= l.lease.Seq {
		return // it has been overtaken
	}
	now := l.now()
	if lease.Hold && l.lease.Seq > 0 {
		// Older leases and the floor go on, with the new master's name.
		l.lease.Epoch, l.lease.Seq, l.lease.Floor = lease.Epoch, lease.Seq, lease.Floor
		return
	}
	if lease.Hold {
		lease.Floor = Amount{} // there was no master before that knows of it
	}
	if lease.Epoch != l.lease.Epoch {
		l.steps.clear()
		l.uses.n, l.returned.n = 0, 0
	}
	end := l.sent.at(lease.Answers, now) + leaseWindows*lease.Window
	l.wholeEnds = l.sent.at(lease.WholeAnswers, now) + leaseWindows*lease.Window
	l.lease, l.heard = lease, now
	if !lease.Limit.IsZero() {
		for k, a := range lease.Steps {
			open := now + time.Duration(k)*lease.Window/stepsPerWindow
			l.returned.add(lease.Seq, open, l.steps.add(step{seq: lease.Seq, opens: open, ends: min(open+lease.Window, end), left: a}))
		}
	}
	l.soon = soonOf(lease.Steps)
	l.lease.Steps = nil
	l.on.Store(!lease.Limit.IsZero())
	l.signal()
}

// signal wakes the waiter, if any.
func (l *Limiter) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}
