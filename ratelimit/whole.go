package ratelimit

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

// answerAsks grants records whole, as long as nothing is owed: each worker in
// its turn, by what it has been served.
func (l *Ledger) answerAsks() {
	for l.now >= l.holdUntil && !l.owes() {
		w := l.turn()
		if w == nil {
			return
		}
		for d := range l.accounts {
			if a := &l.accounts[d]; a.limit > 0 {
				a.charge(w.ask.dim(d))
				w.served += float64(w.ask.dim(d)) / float64(a.limit)
			}
		}
		w.whole, w.ask, w.tell = w.askNo, Amount{}, true
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
