package ratelimit

import "time"

// step is a part of a lease that opens at once.
type step struct {
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

// expire drops the steps that have ended and returns what was left of them.
func (q *stepQueue) expire(now time.Duration) (left Amount) {
	for q.n > 0 {
		s := q.get(0)
		if s.ends > now && !(s.left.IsZero() && s.opens <= now) {
			return left
		}
		left = left.Add(s.left)
		q.first = (q.first + 1) % len(q.ring)
		q.n--
	}
	return left
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

// take uses a of what is open, the oldest first.
func (q *stepQueue) take(a, limit Amount) {
	for d := range dims {
		n := a.dim(d)
		if limit.dim(d) == 0 {
			continue
		}
		for i := 0; n > 0 && i < q.n; i++ {
			s := q.get(i)
			m := min(n, s.left.dim(d))
			s.left.set(d, s.left.dim(d)-m)
			n -= m
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
