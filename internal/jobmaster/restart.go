package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
)

// Restart says how often and how soon a failed attempt is tried again. The
// count of a split starts anew whenever one of its commits has succeeded.
type Restart struct {
	// Attempts is the number of further attempts without a commit in between.
	Attempts int
	// Backoff is the wait before the first of them; it doubles up to MaxBackoff.
	Backoff, MaxBackoff time.Duration
}

// WithDefaults fills what is zero: 5 attempts, 1 s to 30 s. Negative Attempts mean none.
func (r Restart) WithDefaults() Restart {
	if r.Attempts == 0 {
		r.Attempts = 5
	}
	if r.Backoff == 0 {
		r.Backoff = time.Second
	}
	if r.MaxBackoff == 0 {
		r.MaxBackoff = 30 * time.Second
	}
	return r
}

// wait returns how long to wait before the attempt after n failures: the
// upper half of the doubled back-off, spread by the token, so that splits
// that failed together do not come back together.
func (r Restart) wait(n int, token connector.Token) time.Duration {
	d := r.Backoff
	for range n - 1 {
		if d *= 2; d >= r.MaxBackoff {
			d = r.MaxBackoff
			break
		}
	}
	d = min(d, r.MaxBackoff)
	const golden = 0x9e3779b97f4a7c15
	spread := (uint64(token) * golden) >> 32
	return d/2 + time.Duration(uint64(d/2)*spread>>32)
}
