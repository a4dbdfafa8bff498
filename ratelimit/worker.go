package ratelimit

import "time"

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)

// worker is what the ledger knows of one.
type worker struct {
	id     int
	no     uint64 // of the last report
	seq    uint64 // of the last lease
	leases []given
	// until is how long the worker is sure to use leases only, by the lease that
	// its reports name: from then on it may use its floor.
	until time.Duration
	// floor is what it may use per second when silent, told a newer one that it
	// may know already.
	floor, told Amount
	// rest is what floors have taken of less than a token.
	rest [dims]float64

	used   Amount // since the last round
	passed Amount
	// waiting and idle are as last reported, at the time of reportedAt.
	waiting, idle bool
	reportedAt    time.Duration
	// served is what it has got, in the ledger's measure of seconds.
	served float64
	active bool
	ask    Amount
	askNo  uint64
	// whole is the last ask that was granted, after the report answered; held are its tokens, since heldAt,
	// while it is not known when its record has passed.
	whole, answered uint64
	held            [dims]int64
	heldAt          time.Duration
	holding         bool
	// tell says that a lease has to go out though it opens nothing.
	tell bool
}

// given is a lease that has gone out: what of it is neither used nor returned.
type given struct {
	seq  uint64
	at   time.Duration
	left Amount
}

// take moves up to n tokens of a dimension out of a lease; none when it has ended.
func (w *worker) take(seq uint64, d int, n int64) int64 {
	for i := range w.leases {
		if g := &w.leases[i]; g.seq == seq {
			n = max(0, min(n, g.left.dim(d)))
			g.left.set(d, g.left.dim(d)-n)
			return n
		}
	}
	return 0
}

// acked notes the lease that a report names.
func (w *worker) acked(seq uint64, window time.Duration) {
	for _, g := range w.leases {
		if g.seq == seq {
			w.until = max(w.until, g.at+(silentWindows-1)*window)
			w.floor = w.told
		}
	}
}

// mayBeSilent reports whether the worker may use its floor at a time.
func (w *worker) mayBeSilent(t time.Duration) bool { return t >= w.until }

// reserve is the larger of the floors that it may know.
func (w *worker) reserve(d int) int64 { return max(w.floor.dim(d), w.told.dim(d)) }

// spent reports whether nothing is left of its leases.
func (w *worker) spent() bool {
	for _, g := range w.leases {
		if !g.left.IsZero() {
			return false
		}
	}
	return true
}
