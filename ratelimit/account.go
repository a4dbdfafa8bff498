package ratelimit

import "time"

// ring is the number of steps that an account looks ahead: more than a second
// of the shortest.
const ring = 256

// account keeps the tokens of one limit. There are as many as the limit allows
// per second, and each that is used is away for a second: so no second can see
// more. A token is free, leased, or cooling until a step of time.
type account struct {
	limit int64
	step  time.Duration
	free  int64
	// owed tokens have been used before they were there: by a record that was
	// granted whole, or by a floor. What comes back pays them first.
	owed int64
	// hold, if not nil, gets what pays, until it is known when that was used.
	hold    *int64
	leased  int64
	cooling [ring]int64
	// ahead are the leased tokens by the step in which they open.
	ahead [ring]int64
	at    int64 // the last step whose tokens have come back
}

// second is the number of steps that a used token is away: a second, and what
// rounding to steps may take off.
func (a *account) second() int64 { return int64(time.Second/a.step) + 1 }

func (a *account) stepOf(t time.Duration) int64 { return int64(t / a.step) }

// begin makes the tokens of a limit, coming back evenly through a second.
func (a *account) begin(limit int64, now time.Duration) {
	*a = account{limit: limit, step: a.step, at: a.stepOf(now)}
	a.spread(limit)
}

// spread lets n tokens come back evenly through the next second.
func (a *account) spread(n int64) {
	steps := a.second() - 1
	for k := range steps {
		a.cooling[(a.at+1+k)%ring] += n*(k+1)/steps - n*k/steps
	}
}

// cap is what may lie free: two windows' worth, and never nothing.
func (a *account) cap() int64 {
	return max(1, int64(float64(a.limit)*(leaseWindows*stepsPerWindow*a.step).Seconds()))
}

// advance lets tokens come back until a step; each is called for every step
// that begins, after its tokens are there.
func (a *account) advance(to int64, each func(step int64)) {
	a.at = max(a.at, to-2*ring)
	for a.at < to {
		a.at++
		back := &a.cooling[a.at%ring]
		n := *back
		*back, a.ahead[(a.at-1)%ring] = 0, 0
		a.free += n
		a.pay()
		each(a.at)
		if over := a.free - a.cap(); over > 0 {
			a.free -= over
			a.spread(over)
		}
	}
}

// pay lets free tokens pay what is owed.
func (a *account) pay() {
	if n := min(a.free, a.owed); n > 0 {
		a.free, a.owed = a.free-n, a.owed-n
		if a.hold != nil {
			*a.hold += n
			a.leased += n
			return
		}
		a.use(n, a.at)
	}
}

// use makes n tokens cool that were used in a step.
func (a *account) use(n, step int64) {
	a.cooling[max(step+a.second(), a.at+1)%ring] += n
}

// charge uses n tokens now, there or not.
func (a *account) charge(n int64) {
	a.owed += n
	a.pay()
}

// used takes the worker's word that leased tokens were used at a time.
func (a *account) used(n int64, at time.Duration) {
	a.leased -= n
	a.use(n, min(a.stepOf(at), a.at))
}

// returned takes tokens back that may be used from a time on.
func (a *account) returned(n int64, from time.Duration) {
	a.leased -= n
	step := min(int64((from+a.step-1)/a.step), a.at+a.second())
	if step > a.at {
		a.cooling[step%ring] += n
		a.ahead[step%ring] = max(0, a.ahead[step%ring]-n)
		return
	}
	a.free += n
	a.pay()
}

// coming returns what comes back in a step ahead.
func (a *account) coming(step int64) int64 { return a.cooling[step%ring] }

// lease takes tokens for leases: n that come back by the step, or are free.
func (a *account) lease(n, step int64) {
	a.leased += n
	a.ahead[step%ring] += n
	c := &a.cooling[step%ring]
	late := min(n, *c)
	*c -= late
	a.free -= n - late
}

// change sets another limit. What cools keeps its times, in proportion.
func (a *account) change(limit int64, now time.Duration) {
	if a.limit == 0 || limit == 0 {
		leased := a.leased
		a.begin(limit, now)
		a.leased = leased
		return
	}
	scale := float64(limit) / float64(a.limit)
	a.limit = limit
	a.free = int64(float64(a.free) * scale)
	sum := a.free + a.leased
	for i := range a.cooling {
		a.cooling[i] = int64(float64(a.cooling[i]) * scale)
		sum += a.cooling[i]
	}
	if missing := limit - sum; missing >= 0 {
		a.spread(missing)
	} else {
		a.withdraw(-missing)
	}
}

// withdraw takes n tokens out for good, of those that come back last.
func (a *account) withdraw(n int64) {
	for k := a.second(); k > 0 && n > 0; k-- {
		c := &a.cooling[(a.at+k)%ring]
		m := min(*c, n)
		*c, n = *c-m, n-m
	}
	a.free -= n
}
