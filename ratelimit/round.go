package ratelimit

import (
	"math"
	"slices"
	"time"
)

// pace bounds how fast what was left unused may be made up for: a step opens at
// most so much of the limit.
const pace = 1.25

// opening is what each step of a window may open.
type opening [stepsPerWindow]int64

// round leases the next window to all.
func (l *Ledger) round() {
	elapsed := max(l.now-l.lastRound, l.cfg.Window)
	l.lastRound, l.lastEarly = l.now, l.now
	l.demands = l.demands[:0]
	for _, w := range l.workers {
		if l.now-w.reportedAt > l.cfg.Window {
			w.waiting = false
		}
		wants := w.waiting || !w.used.IsZero() || !w.ask.IsZero()
		l.setActive(w, wants)
		w.tell = true
		if w.ask.IsZero() {
			used := w.used
			for d := range dims {
				used.set(d, int64(float64(used.dim(d))*l.cfg.Window.Seconds()/elapsed.Seconds()))
				if w.idle {
					used.set(d, used.dim(d)/idlePart)
				}
			}
			l.demands = append(l.demands, Demand{Worker: w.id, Used: used, Waiting: w.waiting, Passed: w.passed})
		}
		w.used = Amount{}
	}
	l.lease(stepsPerWindow)
}

// early leases what has become free, before the window is over, to workers that
// wait; at once to those that have nothing left.
func (l *Ledger) early() {
	steps := int((l.lastRound + l.cfg.Window - l.now) / l.accounts[0].step)
	rest := l.now-l.lastEarly >= 2*l.accounts[0].step && steps > 0 && !l.owes() && !l.unchecked()
	some, much := l.free()
	l.demands = l.demands[:0]
	tell := false
	for _, w := range l.workers {
		wants := w.ask.IsZero() && (some && w.waiting && w.spent() || much && w.waiting)
		if rest && wants && l.room(steps) {
			l.setActive(w, true)
			l.demands = append(l.demands, Demand{Worker: w.id, Waiting: true, Passed: w.passed})
			w.tell = true
		}
		tell = tell || w.tell
	}
	if len(l.demands) > 0 {
		l.lastEarly = l.now
	}
	if tell {
		l.lease(max(1, steps))
	}
}

// free reports whether there are tokens of all that is limited, and whether
// there are as many as two steps of the limit open.
func (l *Ledger) free() (some, much bool) {
	some, much = true, true
	for d := range l.accounts {
		a := &l.accounts[d]
		some = some && (a.limit == 0 || a.free > 0)
		much = much && (a.limit == 0 || a.free > int64(float64(a.limit)*2*a.step.Seconds()))
	}
	return some, some && much
}

// unchecked reports whether the policy is one whose parts are not held to the
// limit: the model's.
func (l *Ledger) unchecked() bool {
	_, ok := l.cfg.Policy.(Model)
	return ok
}

// room reports whether the next steps may open as much as a step of the limit.
func (l *Ledger) room(steps int) bool {
	for d := range l.accounts {
		a := &l.accounts[d]
		if open := l.open(d, steps); a.limit > 0 && float64(open[steps-1]) < max(1, float64(a.limit)*a.step.Seconds()) {
			return false
		}
	}
	return true
}

// owes reports whether anything is owed.
func (l *Ledger) owes() bool {
	for d := range l.accounts {
		if a := &l.accounts[d]; a.limit > 0 && a.owed > 0 {
			return true
		}
	}
	return false
}

// lease splits what the next steps may open among the demands, and sends a lease
// to each worker that is to be told something.
func (l *Ledger) lease(steps int) {
	l.parts = append(l.parts[:0], make([]Amount, len(l.demands))...)
	var open [dims]opening
	var free Amount
	hold := l.now < l.holdUntil
	if !hold {
		for d := range l.accounts {
			open[d] = l.open(d, steps)
			free.set(d, open[d][steps-1])
		}
		l.cfg.Policy.Split(free, l.cfg.Window, l.cfg.Limit, l.demands, l.parts)
	}
	unchecked := l.unchecked()
	for _, w := range l.workers {
		if !w.tell {
			continue
		}
		g := l.tell(w, hold)
		i := slices.IndexFunc(l.demands, func(d Demand) bool { return d.Worker == w.id })
		if i < 0 || hold {
			continue
		}
		if unchecked {
			g.Steps = even(l.parts[i], steps)
			continue
		}
		part := Amount{Bytes: min(l.parts[i].Bytes, free.Bytes), Records: min(l.parts[i].Records, free.Records)}
		free = free.Sub(part)
		g.Steps = l.take(w, part, &open, steps)
	}
}

// tell adds a lease for the worker that opens nothing yet.
func (l *Ledger) tell(w *worker, hold bool) *Lease {
	w.seq++
	w.tell = false
	l.grants = append(l.grants, Grant{Worker: w.id, Lease: Lease{
		Epoch: l.cfg.Epoch, Seq: w.seq, Answers: w.no, Limit: l.cfg.Limit,
		Parallelism: max(l.cfg.Parallelism, len(l.workers)), Floor: w.told,
		Hold: hold, Window: l.cfg.Window, Whole: w.whole, WholeAnswers: w.answered,
	}})
	if !hold {
		if w.until == never { // it may get this lease and then hear nothing more
			w.until = l.now + (silentWindows-1)*l.cfg.Window
		}
		w.leases = append(w.leases, given{seq: w.seq, at: l.now})
	}
	return &l.grants[len(l.grants)-1].Lease
}

// take gives the worker its part: of each step as much as the step has of the
// whole.
func (l *Ledger) take(w *worker, part Amount, open *[dims]opening, steps int) []Amount {
	if part.IsZero() {
		return nil
	}
	out := make([]Amount, steps)
	for d := range dims {
		total, n := open[d][steps-1], part.dim(d)
		if total == 0 || n == 0 {
			continue
		}
		before := int64(0)
		for k := range steps {
			upTo := share(n, open[d][k], total)
			out[k].set(d, upTo-before)
			l.accounts[d].lease(upTo-before, l.accounts[d].at+int64(k))
			before = upTo
		}
		w.served += float64(n) / float64(l.cfg.Limit.dim(d))
	}
	w.leases[len(w.leases)-1].left = part
	return out
}

// share is n × of ÷ total, without overflow.
func share(n, of, total int64) int64 {
	if of == total {
		return n
	}
	return min(n, int64(float64(n)*(float64(of)/float64(total))))
}

func even(part Amount, steps int) []Amount {
	out := make([]Amount, steps)
	for k := range out {
		for d := range dims {
			n := part.dim(d)
			out[k].set(d, n/int64(steps))
			if k == 0 {
				out[k].set(d, n/int64(steps)+n%int64(steps))
			}
		}
	}
	return out
}

// open finds what the next steps may open, summed up: what comes back by then,
// without what is owed and what floors may take, and not faster than pace.
func (l *Ledger) open(d, steps int) (open opening) {
	a := &l.accounts[d]
	if a.limit == 0 {
		return open
	}
	carry, opened, floors := a.free-a.owed, int64(0), 0.0
	perStep := pace * float64(a.limit) * a.step.Seconds()
	ahead := int64(0) // what opens by leases that are out
	for k := range steps {
		step := a.at + int64(k)
		if k > 0 {
			carry += a.coming(step)
			floors += l.floorsAt(time.Duration(step)*a.step, d) * a.step.Seconds()
		}
		ahead += a.ahead[step%ring]
		n := max(0, min(carry-int64(floors)-opened, int64(math.Ceil(perStep*float64(k+1)))-ahead-opened))
		opened += n
		open[k] = opened
	}
	return open
}

// floorsAt is the sum of the floors that may be in use at a time.
func (l *Ledger) floorsAt(at time.Duration, d int) (sum float64) {
	for _, w := range l.workers {
		if w.mayBeSilent(at) {
			sum += float64(w.reserve(d))
		}
	}
	return sum
}

// tellOff tells workers that there is no limit: those that have not heard it.
func (l *Ledger) tellOff() {
	for _, w := range l.workers {
		if !w.tell {
			continue
		}
		for _, g := range w.leases {
			l.lapse(g)
		}
		l.passed(w, l.now)
		w.leases = w.leases[:0]
		l.tell(w, false)
		w.leases = w.leases[:0]
	}
}
