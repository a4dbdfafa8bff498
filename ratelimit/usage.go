package ratelimit

import "time"

// usage remembers what was passed on in the last second, in pieces of time.
type usage struct {
	ring [ring]used
	last int64
}

// usePiece is the length of a piece; the ring holds more than a second of them.
const usePiece = 5 * time.Millisecond

type used struct {
	piece int64
	// at is the last use of the piece.
	at     time.Duration
	amount Amount
	// leased is the part that was leased and is to be reported.
	leased Amount
}

// note adds a use.
func (u *usage) note(now time.Duration, a Amount, leased bool) {
	piece := int64(now/usePiece) + 1
	p := &u.ring[piece%ring]
	if p.piece != piece {
		*p = used{piece: piece}
	}
	p.at, p.amount = now, p.amount.Add(a)
	if leased {
		p.leased = p.leased.Add(a)
	}
	u.last = piece
}

// report returns the leased uses that have not been reported.
func (u *usage) report(now time.Duration, to []Use) []Use {
	for piece := max(1, u.last-ring+1); piece <= u.last; piece++ {
		if p := &u.ring[piece%ring]; p.piece == piece && !p.leased.IsZero() {
			to = append(to, Use{Age: now - p.at, Amount: p.leased})
			p.leased = Amount{}
		}
	}
	return to
}

// forget drops what would have been reported to a master that is no more.
func (u *usage) forget() {
	for i := range u.ring {
		u.ring[i].leased = Amount{}
	}
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
