package ratelimit

import "time"

// reportsPerWindow is how often a worker reports at least.
const reportsPerWindow = 4

// sentTimes remembers when the last reports were sent.
type sentTimes struct {
	times [64]time.Duration
	last  uint64
}

func (s *sentTimes) note(no uint64, now time.Duration) {
	s.times[no%uint64(len(s.times))] = now
	s.last = no
}

// at is when the report was sent. The first lease answers none and is counted
// from its arrival; of a report too old to be known the lease is over.
func (s *sentTimes) at(no uint64, now time.Duration) time.Duration {
	switch {
	case no == 0:
		return now
	case no > s.last || s.last-no >= uint64(len(s.times)):
		return now - time.Hour
	}
	return s.times[no%uint64(len(s.times))]
}

// Report returns what the ledger should hear, if there is something new or it is
// time. What it holds counts as sent.
func (l *Limiter) Report() (r Report, due bool) {
	if !l.on.Load() {
		return Report{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	idle := l.giveBack(now)
	if !l.urgent && !l.due(now) {
		return Report{}, false
	}
	l.no++
	l.sent.note(l.no, now)
	r = Report{
		No: l.no, Epoch: l.lease.Epoch, Seq: l.lease.Seq, Used: l.uses.report(now),
		Returned: l.returned.report(now), Passed: l.passed, Idle: idle, Owed: l.owed(now),
		Whole: l.wholeNo, WholeAge: now - l.wholeAt,
	}
	if l.ask.IsZero() {
		r.Waiting = l.wants || l.waiting && !idle
	} else {
		r.Ask, r.AskNo = l.ask, l.askNo
	}
	l.waiting, l.urgent = l.wants, false
	return r, true
}

// owed is what of the last whole record a second has not paid.
func (l *Limiter) owed(now time.Duration) (owed Amount) {
	for d := range dims {
		if n := l.lease.Limit.dim(d); n > 0 {
			paid := int64(float64(n) * (now - l.wholeAt).Seconds())
			owed.set(d, max(0, l.whole.dim(d)-paid))
		}
	}
	return owed
}

const (
	// idleSteps is the number of steps without a batch after which a worker gives
	// back what it does not seem to need.
	idleSteps = 4
	// idlePart of what it has used in the last window it keeps.
	idlePart = 4
)

// giveBack returns what has ended, and, when no batch comes, most of the rest.
// It reports whether none comes.
func (l *Limiter) giveBack(now time.Duration) (idle bool) {
	l.steps.expire(now, &l.returned)
	if l.wants {
		return false
	}
	window := l.lease.Window
	recent, last := l.uses.since(now - window)
	if now-last < idleSteps*window/stepsPerWindow {
		return false
	}
	for d := range dims {
		recent.set(d, recent.dim(d)/idlePart)
	}
	if l.steps.keep(now, recent, &l.returned) {
		l.urgent = true
	}
	return true
}

// due reports whether the last report is long ago.
func (l *Limiter) due(now time.Duration) bool {
	return l.no == 0 || now-l.sent.at(l.no, now) >= max(l.lease.Window, 100*time.Millisecond)/reportsPerWindow
}

// State is how a limiter stands.
type State struct {
	// Limit is the job's, zero for none.
	Limit Amount
	// Passed is what it has let pass while there was a limit.
	Passed Amount
	// Waited is the time for which batches have waited.
	Waited time.Duration
}

// State returns how the limiter stands. A batch that waits now counts.
func (l *Limiter) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Limit: l.lease.Limit, Passed: l.passed, Waited: l.waited}
	if l.wants {
		s.Waited += l.now() - l.since
	}
	return s
}

// Bound is the most that a batch should hold while there is a limit, so that it
// goes evenly; a batch holds one record at least. ok is false without a limit.
func (l *Limiter) Bound() (most Amount, ok bool) {
	if !l.on.Load() {
		return Amount{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bound(), !l.lease.Limit.IsZero()
}

// batchesPerSecond of a worker are what a limit is cut into.
const batchesPerSecond = 200

// bound is limit ÷ (200 × parallelism) and at least 1; 0 where nothing is limited.
func (l *Limiter) bound() (most Amount) {
	for d := range dims {
		if limit := l.lease.Limit.dim(d); limit > 0 {
			most.set(d, max(1, limit/int64(batchesPerSecond*max(1, l.lease.Parallelism))))
		}
	}
	return most
}
