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
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	limit := l.lease.Limit
	if !l.on.Load() {
		return Report{}, false
	}
	l.returned = l.returned.Add(l.steps.expire(now))
	if !l.urgent && !l.due(now) {
		return Report{}, false
	}
	l.no++
	l.sent.note(l.no, now)
	r = Report{
		No: l.no, Epoch: l.lease.Epoch, Seq: l.lease.Seq, Used: l.uses.report(now, nil),
		Returned: l.returned, Passed: l.passed, Waiting: l.waiting && l.ask.IsZero(),
	}
	if !l.ask.IsZero() {
		r.Ask, r.AskNo = l.ask, l.askNo
	}
	for d := range dims {
		if n := limit.dim(d); n > 0 {
			paid := int64(float64(n) * (now - l.wholeAt).Seconds())
			r.Owed.set(d, max(0, l.whole.dim(d)-paid))
		}
	}
	l.returned, l.waiting, l.urgent = Amount{}, l.wants, false
	return r, true
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
