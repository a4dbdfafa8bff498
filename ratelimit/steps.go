package ratelimit

import "time"

// step is a part of a lease that opens at once.
type step struct {
	seq         uint64 // of the lease
	opens, ends time.Duration
	left        Amount
}

// stepQueue holds the steps of the leases that run, in the order in which they
// open. It has room for all that a ledger sends; what does not find room goes back.
type stepQueue struct {
	ring  [8 * stepsPerWindow]step
	first int
	n     int
}

func (q *stepQueue) clear() { q.first, q.n = 0, 0 }

func (q *stepQueue) get(i int) *step { return &q.ring[(q.first+i)%len(q.ring)] }

// add puts a step into its place and returns what it has no room for.
func (q *stepQueue) add(s step) (over Amount) {
	if s.left.IsZero() {
		return Amount{}
	}
	if q.n == len(q.ring) || s.ends <= s.opens {
		return s.left
	}
	i := q.n
	q.n++
	for ; i > 0 && q.get(i-1).opens > s.opens; i-- {
		*q.get(i) = *q.get(i - 1)
	}
	*q.get(i) = s
	return Amount{}
}

// expire drops the steps that have ended; what was left of them goes back.
func (q *stepQueue) expire(now time.Duration, back *returns) {
	for q.n > 0 {
		s := q.get(0)
		if s.ends > now && !(s.left.IsZero() && s.opens <= now) {
			return
		}
		back.add(s.seq, 0, s.left)
		q.first = (q.first + 1) % len(q.ring)
		q.n--
	}
}

// open is what is open now.
func (q *stepQueue) open(now time.Duration) (sum Amount) {
	for i := range q.n {
		s := q.get(i)
		if s.opens > now {
			break
		}
		if s.ends > now {
			sum = sum.Add(s.left)
		}
	}
	return sum
}

// take uses a of what is open, the oldest first, and notes of which lease it was.
func (q *stepQueue) take(now time.Duration, a, limit Amount, uses *usage) {
	for d := range dims {
		n := a.dim(d)
		if limit.dim(d) == 0 {
			continue
		}
		for i := 0; n > 0 && i < q.n; i++ {
			s := q.get(i)
			if s.ends <= now {
				continue
			}
			m := min(n, s.left.dim(d))
			s.left.set(d, s.left.dim(d)-m)
			n -= m
			if m > 0 {
				uses.lease(s.seq, now, d, m)
			}
		}
	}
}

// covers is when the steps cover a; never if they do not.
func (q *stepQueue) covers(now time.Duration, a, limit Amount) time.Duration {
	var sum Amount
	for i := range q.n {
		s := q.get(i)
		if s.ends <= now {
			continue
		}
		if sum = sum.Add(s.left); !a.exceeds(sum, limit) {
			return max(s.opens, now)
		}
	}
	return never
}

// keep gives back what is more than a, of the steps that open last. It reports
// whether there was any.
func (q *stepQueue) keep(now time.Duration, a Amount, back *returns) (some bool) {
	var kept Amount
	for i := range q.n {
		s := q.get(i)
		var over Amount
		for d := range dims {
			n := min(s.left.dim(d), a.dim(d)-kept.dim(d))
			over.set(d, s.left.dim(d)-n)
			kept.set(d, kept.dim(d)+n)
			s.left.set(d, n)
		}
		if !over.IsZero() {
			some = true
			opens := s.opens
			if opens <= now {
				opens = 0
			}
			back.add(s.seq, opens, over)
		}
	}
	return some
}

// returns sums what goes back, by lease and the time at which it opens. What it
// has no room for is not reported: the ledger sees it lapse.
type returns struct {
	list [2 * stepsPerWindow]back
	n    int
}

type back struct {
	seq    uint64
	opens  time.Duration // 0 when it is open
	amount Amount
}

func (r *returns) add(seq uint64, opens time.Duration, a Amount) {
	if a.IsZero() {
		return
	}
	for i := range r.n {
		if b := &r.list[i]; b.seq == seq && b.opens == opens {
			b.amount = b.amount.Add(a)
			return
		}
	}
	if r.n < len(r.list) {
		r.list[r.n] = back{seq, opens, a}
		r.n++
	}
}

// report returns all, once.
func (r *returns) report(now time.Duration) []Back {
	if r.n == 0 {
		return nil
	}
	out := make([]Back, r.n)
	for i, b := range r.list[:r.n] {
		out[i] = Back{Seq: b.seq, Opens: max(0, b.opens-now), Amount: b.amount}
	}
	r.n = 0
	return out
}
