package ratelimit

// Tokens returns how many tokens there are and how many the workers hold, by the ledger.
func (l *Ledger) Tokens(d int) (sum, leased, left int64) {
	a := &l.accounts[d]
	sum = a.free + a.leased
	for _, c := range a.cooling {
		sum += c
	}
	for _, w := range l.workers {
		for _, g := range w.leases {
			left += g.left.dim(d)
		}
	}
	return sum, a.leased, left
}

func (l *Limiter) Held(d int) (n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for i := range l.steps.n {
		if s := l.steps.get(i); s.ends > now {
			n += s.left.dim(d)
		}
	}
	for _, e := range l.uses.leased[:l.uses.n] {
		n += e.amount.dim(d)
	}
	for _, b := range l.returned.list[:l.returned.n] {
		n += b.amount.dim(d)
	}
	return n
}
