package election

import (
	"math"
	"time"

	"github.com/leatdata/leat/ha"
)

// State is what a process is in the election.
type State uint8

// The states; the package's comment has their diagram.
const (
	Joining State = iota
	Following
	HoldOff
	Leading
	Suspended
	Stopped
)

// String returns the state's name.
func (s State) String() string {
	return [...]string{"joining", "following", "hold-off", "leading", "leading-suspended", "stopped"}[s]
}

// never is later than every time.
const never = time.Duration(math.MaxInt64)

// highest bounds what is believed to be an epoch: tokens have 40 bits for it.
const highest = ha.Epoch(1)<<40 - 1

// Core decides. It is pure: the time comes with each event, chance and uuids
// from its Config.
type Core struct {
	cfg  CoreConfig
	now  time.Duration
	out  []Effect
	next uint64 // the last op's number

	competing, stopping, ended bool
	// met is the highest epoch that was met anywhere.
	met ha.Epoch

	// open is under way, or due at openAt, while there is no session.
	open   op
	openAt time.Duration
	opens  int // in a row, without a renewal in between
	sess   *session

	term    ha.Term // zero: not leading
	granted time.Duration
	// draining is a revoked grant whose callbacks still run; the lock is kept for
	// them until drainBy, when the trust that they had would have ended.
	draining  ha.Term
	drainBy   time.Duration
	overdueAt time.Duration
	holdUntil time.Duration
	resigned  int // in a row
}

// CoreConfig is what a Core is made from. All has to be set.
type CoreConfig struct {
	// Timeout is the session timeout to ask for.
	Timeout time.Duration
	// Resync is after how long the lock is read again though nothing was heard.
	Resync time.Duration
	// FencedRenewals has a leader renew by fenced writes.
	FencedRenewals bool
	// NewGrant makes a uuid.
	NewGrant func() ha.GrantID
	// Rand draws from [0, 1).
	Rand func() float64
}

// op is a call that has not been answered.
type op struct {
	id    uint64 // 0: none
	until time.Duration
}

// NewCore returns one that joins at its first event.
func NewCore(cfg CoreConfig) *Core {
	return &Core{cfg: cfg, overdueAt: never}
}

// Step takes an event in and returns what is to be done. Times that fall are
// taken for the highest so far.
func (c *Core) Step(now time.Duration, e Event) []Effect {
	c.now, c.out = max(c.now, now), nil
	if c.ended {
		return nil
	}
	// A renewal counts from its start, also if we were late to hear of it: so it
	// is taken in before trust is judged.
	if r, ok := e.(Renewed); ok {
		c.renewed(r)
	}
	c.expire()
	c.apply(e)
	c.settle()
	return c.out
}

// Next is when a Tick is due; false: never.
func (c *Core) Next() (time.Duration, bool) {
	if c.ended {
		return 0, false
	}
	t := min(c.overdueAt, c.openTime())
	if s := c.sess; s != nil {
		if c.stopping && !c.draining.IsZero() {
			t = min(t, c.drainBy)
		}
		t = min(t, s.trustEnd(), s.renewAt, s.suspectAt, c.lookTime(), c.claimTime(), c.releaseTime())
	}
	return t, t != never
}

// State tells where in the election the process is.
func (c *Core) State() State {
	switch {
	case c.ended:
		return Stopped
	case c.sess == nil:
		return Joining
	case !c.term.IsZero() && c.sess.suspended:
		return Suspended
	case !c.term.IsZero():
		return Leading
	case c.held():
		return HoldOff
	}
	return Following
}

// TrustEnd is when what the store has said cannot be trusted any more; zero:
// there is no session.
func (c *Core) TrustEnd() time.Duration {
	if c.sess == nil {
		return 0
	}
	return c.sess.trustEnd()
}

// Renewed is the start of the last renewal that succeeded.
func (c *Core) Renewed() time.Duration {
	if c.sess == nil {
		return 0
	}
	return c.sess.renewed
}

// Term is that of the present grant; zero: the process does not lead.
func (c *Core) Term() ha.Term { return c.term }

// held says that the process must not compete for now.
func (c *Core) held() bool {
	return c.now < c.holdUntil || !c.draining.IsZero() || !c.sess.releaseTerm.IsZero()
}

func (c *Core) emit(e Effect) { c.out = append(c.out, e) }

func (c *Core) op(timeout time.Duration) op {
	c.next++
	return op{id: c.next, until: c.now + timeout}
}

// timeout is T: the session's, or the one to ask for.
func (c *Core) timeout() time.Duration {
	if c.sess != nil {
		return c.sess.lease.Timeout
	}
	return c.cfg.Timeout
}

// backoff draws the wait after some failures in a row: full jitter, capped so
// that a healed store has a leader soon.
func (c *Core) backoff(failures int) time.Duration {
	limit := min(time.Second, c.timeout()/3)
	upper := min(limit, limit/8<<min(failures, 3))
	return 1 + time.Duration(c.cfg.Rand()*float64(upper))
}

// hold draws how long a process that could not lead leaves it to others.
func (c *Core) hold() time.Duration {
	upper := min(30*time.Second, min(time.Second, c.timeout()/3)<<min(c.resigned, 5))
	return upper/2 + time.Duration(c.cfg.Rand()*float64(upper/2))
}
