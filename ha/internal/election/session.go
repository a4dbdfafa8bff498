package election

import (
	"slices"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// session is what the core knows of the present session.
type session struct {
	gen   uint64
	lease coord.Lease
	// renewed is the start of the last renewal that succeeded.
	renewed time.Duration
	// suspended: a renewal has failed or is late, and none has succeeded since.
	suspended bool
	renewAt   time.Duration
	suspectAt time.Duration

	look      op
	lookAt    time.Duration
	lookAgain bool // Changed came while one was under way
	looks     int  // failures in a row

	// free: the last look saw no lock.
	free    bool
	claim   op // or what prepares
	claimBy ha.GrantID
	claimAt time.Duration
	claims  []ha.GrantID // all that may have taken the lock in this session
	refused int          // claims in a row

	// releaseTerm is of a lock that is ours and has to go.
	releaseTerm ha.Term
	release     op
	releaseAt   time.Duration
	releases    int // failures in a row
}

func (s *session) trustEnd() time.Duration {
	return s.renewed + s.lease.Timeout - s.lease.Margin
}

// openTime is when something is to be done about opening.
func (c *Core) openTime() time.Duration {
	switch {
	case c.sess != nil || c.stopping:
		return never
	case c.open.id != 0:
		return c.open.until
	}
	return c.openAt
}

// join opens a session, again and again.
func (c *Core) join() {
	if c.now < c.openTime() {
		return
	}
	if c.open.id != 0 {
		c.openFailed()
		return
	}
	timeout := min(15*time.Second, max(time.Second, c.cfg.Timeout/2))
	c.open = c.op(timeout + timeout/4)
	c.emit(Open{Op: c.open.id, Timeout: timeout})
}

func (c *Core) openFailed() {
	c.emit(Drop{Gen: c.open.id})
	c.open = op{}
	c.openAt = c.now + c.backoff(c.opens)
	c.opens++
}

func (c *Core) opened(e Opened) {
	if e.Op != c.open.id || c.stopping {
		c.emit(Drop{Gen: e.Op})
		return
	}
	c.open = op{}
	c.sess = &session{
		gen: e.Op, lease: e.Lease, renewed: e.Started, suspectAt: never,
		renewAt: e.Started + e.Lease.Timeout/6, lookAt: c.now,
	}
	if c.now >= c.sess.trustEnd() {
		c.opens++
		c.abandon()
		return
	}
	c.emit(LinkUp{Gen: e.Op})
}

// expire ends a session that cannot be trusted any more.
func (c *Core) expire() {
	if c.sess != nil && c.now >= c.sess.trustEnd() {
		c.lose(Distrusted)
	}
}

// lose gives the session up, and the grant with it.
func (c *Core) lose(reason Reason) {
	if c.sess == nil {
		return
	}
	c.revoke(reason)
	c.emit(LinkDown{Gen: c.sess.gen})
	c.abandon()
}

func (c *Core) abandon() {
	c.emit(Drop{Gen: c.sess.gen})
	c.openAt = c.now + c.backoff(c.opens)
	c.opens++
	c.sess = nil
}

// renew sends renewals: one every T/6, and while they fail a new one all the
// time, since one that waits proves little when it is answered late.
func (c *Core) renew() {
	s := c.sess
	if c.now >= s.suspectAt {
		c.suspend()
	}
	if c.now < s.renewAt {
		return
	}
	e := Renew{Gen: s.gen, Timeout: s.lease.Timeout / 2}
	if c.cfg.FencedRenewals {
		e.Fence = c.term
	}
	c.emit(e)
	if s.suspended {
		s.renewAt = c.now + c.spacing()
		return
	}
	s.renewAt = c.now + s.lease.Timeout/6
	s.suspectAt = min(s.suspectAt, c.now+s.lease.Timeout/12)
}

// spacing is short enough that a loss of less than T/2 leaves time to renew.
func (c *Core) spacing() time.Duration {
	unit := c.sess.lease.Timeout / 48
	return 1 + unit + time.Duration(c.cfg.Rand()*float64(unit))
}

func (c *Core) suspend() {
	s := c.sess
	s.suspectAt = never
	if !s.suspended {
		s.suspended = true
		s.renewAt = min(s.renewAt, c.now+c.spacing())
	}
}

func (c *Core) renewed(e Renewed) {
	s := c.sess
	if s == nil || e.Gen != s.gen {
		return
	}
	s.renewed, s.suspectAt, c.opens = max(s.renewed, e.Started), never, 0
	if s.suspended {
		s.suspended = false
		s.renewAt = s.renewed + s.lease.Timeout/6
		s.lookAt = c.now // what we watched may have been lost meanwhile
	}
}

func (c *Core) renewFailed(e RenewFailed) {
	s := c.sess
	switch {
	case s == nil || e.Gen != s.gen:
	case e.Cause == SessionOver:
		c.lose(Lost)
	case e.Cause == FencedOff:
		if e.Fence == c.term {
			c.revoke(Lost)
		}
	case e.Started >= s.renewed:
		c.suspend()
	}
}

// mayBeOurs says that a lock with that uuid comes from a claim of this session.
func (s *session) mayBeOurs(grant ha.GrantID) bool {
	return slices.Contains(s.claims, grant)
}
