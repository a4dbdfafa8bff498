package ratelimit

import "time"

// usage remembers what was passed on in the last second, in pieces of time, and
// what of it is to be reported.
type usage struct {
	ring [ring]used
	last int64
	// leased are the uses of leases that have not been reported. What there is no
	// room for lapses at the ledger.
	leased [2 * stepsPerWindow]leased
	n      int
}

// usePiece is the length of a piece; the ring holds more than a second of them.
const usePiece = 5 * time.Millisecond

type used struct {
	piece int64
	// at is the last use of the piece.
	at     time.Duration
	amount Amount
}

type leased struct {
	seq    uint64
	piece  int64
	at     time.Duration
	amount Amount
}

// note adds a use.
func (u *usage) note(now time.Duration, a Amount) {
	piece := int64(now/usePiece) + 1
	p := &u.ring[piece%ring]
	if p.piece != piece {
		*p = used{piece: piece}
	}
	p.at, p.amount = now, p.amount.Add(a)
	u.last = piece
}

// lease notes that n of a dimension were a lease's.
func (u *usage) lease(seq uint64, now time.Duration, d int, n int64) {
	piece := int64(now / usePiece)
	i := u.n - 1
	for i >= 0 && u.leased[i].piece == piece && u.leased[i].seq != seq {
		i--
	}
	if i < 0 || u.leased[i].piece != piece {
		if u.n == len(u.leased) {
			return
		}
		i = u.n
		u.leased[i] = leased{seq: seq, piece: piece}
		u.n++
	}
	e := &u.leased[i]
	e.at = now
	e.amount.set(d, e.amount.dim(d)+n)
}

// report returns the leased uses, once.
func (u *usage) report(now time.Duration) []Use {
	if u.n == 0 {
		return nil
	}
	out := make([]Use, u.n)
	for i, e := range u.leased[:u.n] {
		out[i] = Use{Seq: e.seq, Age: now - e.at, Amount: e.amount}
	}
	u.n = 0
	return out
}

// since is what was passed on since a time, and when the last of it was.
func (u *usage) since(from time.Duration) (sum Amount, last time.Duration) {
	last = u.ring[u.last%ring].at
	for piece := u.last; piece > max(0, u.last-ring); piece-- {
		p := &u.ring[piece%ring]
		if p.piece != piece {
			continue
		}
		if p.at < from {
			break
		}
		sum = sum.Add(p.amount)
	}
	return sum, last
}

// below is when no more than most of a dimension will have been passed on in
// the second before.
func (u *usage) below(now time.Duration, d int, most int64) time.Duration {
	sum := int64(0)
	for piece := u.last; piece > max(0, u.last-ring); piece-- {
		p := &u.ring[piece%ring]
		if p.piece != piece || p.at+time.Second <= now {
			continue
		}
		if sum += p.amount.dim(d); sum > most {
			return p.at + time.Second
		}
	}
	return 0
}
