package ratelimit

import "time"

// Policy splits what may be leased in a window.
type Policy interface {
	// Split sets the parts of the workers: parts[i] is what demands[i] may have
	// of what is free in the window. The ledger cuts parts that are more than
	// that together. It must not keep its arguments.
	Split(free Amount, window time.Duration, limit Amount, demands []Demand, parts []Amount)
}

// Demand is what a worker has wanted of late; nothing, where it was idle.
type Demand struct {
	Worker int
	// Used is what it passed on in the last window.
	Used Amount
	// Waiting says that it had to wait, and may want any amount.
	Waiting bool
	// Passed is all that it has passed on.
	Passed Amount
}

// Fair is the ledger's own policy: who does not wait gets a little more than
// what he has used, and the others share the rest evenly.
type Fair struct{}

// Split implements Policy.
func (Fair) Split(free Amount, _ time.Duration, _ Amount, demands []Demand, parts []Amount) {
	for d := range dims {
		left, waiting, wanting := free.dim(d), int64(0), int64(0)
		for i := range demands {
			parts[i].set(d, 0)
			if demands[i].Waiting {
				waiting++
			}
			if demands[i].Waiting || !demands[i].Used.IsZero() {
				wanting++
			}
		}
		// Who does not wait has at most an even share: those who do come first
		// to what is over.
		even := left / max(1, wanting)
		for i := range demands {
			if used := demands[i].Used.dim(d); !demands[i].Waiting && used > 0 {
				part := min(used+used/4+even/20+1, max(even, 1), left)
				parts[i].set(d, part)
				left -= part
			}
		}
		for i := range demands {
			if demands[i].Waiting {
				part := left / waiting
				parts[i].set(d, part)
				left, waiting = left-part, waiting-1
			}
		}
	}
}
