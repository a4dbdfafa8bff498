package ratelimit

import "time"

// A record that no lease pays soon is granted whole: it passes at once, and
// what comes back pays for it before anything else is leased. There is one such
// debt at a time, so that no second sees more than the limit and one record.

// soonSteps is the number of a lease's steps within which it pays soon.
const soonSteps = 2

// asked takes the ask of a report. One that a fair lease pays soon is no ask,
// but a batch that waits.
func (l *Ledger) asked(w *worker, r Report) {
	w.ask, w.askNo = r.Ask, r.AskNo
	if w.askNo != 0 && w.askNo == w.whole { // the answer was lost
		w.ask, w.tell = Amount{}, true
	}
	if r.Waiting || !w.ask.IsZero() {
		l.setActive(w, true)
	}
	if !w.ask.IsZero() && l.small(w.ask) {
		w.ask, w.waiting = Amount{}, true
	}
}

// small reports whether an even share of the limit pays an amount soon.
func (l *Ledger) small(ask Amount) bool {
	active := int64(0)
	for _, w := range l.workers {
		if w.active {
			active++
		}
	}
	var soon Amount
	for d := range l.accounts {
		a := &l.accounts[d]
		soon.set(d, int64(float64(a.limit)*(soonSteps*a.step).Seconds())/max(1, active))
	}
	return !ask.exceeds(soon, l.cfg.Limit)
}

// setActive notes whether the worker wants anything. One that begins to is
// served from now on like those that wanted all the time.
func (l *Ledger) setActive(w *worker, active bool) {
	if active && !w.active {
		least, some := 0.0, false
		for _, o := range l.workers {
			if o.active && (!some || o.served < least) {
				least, some = o.served, true
			}
		}
		w.served = max(w.served, least)
	}
	w.active = active
}

// answerAsks grants records whole, each worker in its turn, by what it has been
// served: what there are tokens for, and one that comes to owe the rest.
func (l *Ledger) answerAsks() {
	for l.now >= l.holdUntil {
		w := l.turn()
		if w == nil {
			return
		}
		paid := l.pays(w.ask)
		if !paid && (l.debtor != nil || l.owes()) {
			return
		}
		l.passed(w, l.now) // what it had before has passed, or else it would not ask
		w.holding, w.heldAt = true, l.now
		for d := range l.accounts {
			a, n := &l.accounts[d], w.ask.dim(d)
			if a.limit == 0 {
				continue
			}
			w.held[d] = min(n, max(0, a.free))
			a.free, a.leased = a.free-w.held[d], a.leased+w.held[d]
			a.owed += n - w.held[d]
			w.served += float64(n) / float64(a.limit)
			if !paid {
				a.hold, l.debtor = &w.held[d], w
			}
		}
		w.whole, w.answered, w.ask, w.tell = w.askNo, w.no, Amount{}, true
	}
}

// pays reports whether there are tokens for an amount.
func (l *Ledger) pays(a Amount) bool {
	for d := range l.accounts {
		if l.accounts[d].limit > 0 && l.accounts[d].free < a.dim(d) {
			return false
		}
	}
	return true
}

// passed lets the tokens cool that were held for a record, from when it passed.
func (l *Ledger) passed(w *worker, at time.Duration) {
	if !w.holding {
		return
	}
	w.holding = false
	for d := range l.accounts {
		a := &l.accounts[d]
		a.used(w.held[d], at)
		w.held[d] = 0
		if l.debtor == w {
			a.hold = nil
		}
	}
	if l.debtor == w {
		l.debtor = nil
	}
}

// turn is the worker whose ask is next: the least served, unless one that waits
// for a lease has been served less.
func (l *Ledger) turn() *worker {
	var next *worker
	for _, w := range l.workers {
		if !w.ask.IsZero() && (next == nil || w.served < next.served) {
			next = w
		}
	}
	if next == nil {
		return nil
	}
	for _, w := range l.workers {
		if w.waiting && w.ask.IsZero() && w.served < next.served {
			return nil
		}
	}
	return next
}
