package election

import (
	"slices"
	"time"

	"github.com/leatdata/leat/ha"
)

// apply takes in what has happened; settle then does what follows.
func (c *Core) apply(e Event) {
	switch e := e.(type) {
	case Compete:
		c.compete(e.On)
	case Opened:
		c.opened(e)
	case OpenFailed:
		if e.Op == c.open.id {
			c.openFailed()
		}
	case RenewFailed:
		c.renewFailed(e)
	case Over:
		if c.sess != nil && e.Gen == c.sess.gen {
			c.lose(Lost)
		}
	case Looked, LookFailed, Changed, Claimed, ClaimFailed, Released, ReleaseFailed:
		if c.sess != nil {
			c.heard(e)
		}
	case Drained:
		if e.Grant == c.draining.Grant {
			c.draining, c.overdueAt = ha.Term{}, never
		}
	case Resign:
		if !c.term.IsZero() && e.Grant == c.term.Grant {
			c.resign()
		}
	case Fenced:
		c.meet(e.Epoch)
		if !c.term.IsZero() && e.Grant == c.term.Grant {
			c.revoke(Lost)
		}
	case Met:
		c.meet(e.Epoch)
		if !c.term.IsZero() && c.met > c.term.Epoch {
			c.revoke(Superseded)
		}
	case Stop:
		c.stopping = true
	}
}

// heard takes in what concerns the lock.
func (c *Core) heard(e Event) {
	s := c.sess
	switch e := e.(type) {
	case Looked:
		if e.Op == s.look.id {
			c.looked(e)
		}
	case LookFailed:
		if e.Op == s.look.id {
			c.lookFailed(e.Cause)
		}
	case Changed:
		if e.Gen == s.gen {
			s.lookAt, s.lookAgain = c.now, s.look.id != 0
		}
	case Claimed:
		c.claimed(e)
	case ClaimFailed:
		if e.Op == s.claim.id {
			c.claimFailed(e.Cause)
		}
	case Released:
		if e.Op == s.release.id {
			c.released()
		}
	case ReleaseFailed:
		if e.Op == s.release.id {
			c.releaseFailed(e.Cause)
		}
	}
}

func (c *Core) compete(on bool) {
	if on && !c.competing && c.sess != nil {
		c.sess.lookAt = c.now
	}
	c.competing = on
	if !on {
		c.revoke(Withdrawn)
	}
}

func (c *Core) meet(epoch ha.Epoch) {
	if epoch <= highest {
		c.met = max(c.met, epoch)
	}
}

// settle does all that is due. It looks at nothing but the state and the time,
// so that no lost event can keep anything from being done.
func (c *Core) settle() {
	if c.now >= c.overdueAt {
		c.overdueAt = never
		c.emit(Overdue{Term: c.draining})
	}
	if c.stopping {
		c.stop()
		return
	}
	if c.sess == nil {
		c.join()
		return
	}
	c.renew()
	c.giveBack()
	c.lookOut()
	c.takeOver()
}

// stop ends all once the callbacks have returned; the lock goes before that when
// the trust that they were given has ended.
func (c *Core) stop() {
	c.revoke(Withdrawn)
	if c.open.id != 0 {
		c.emit(Drop{Gen: c.open.id})
		c.open = op{}
	}
	drained := c.draining.IsZero()
	if c.sess != nil && !drained && c.now < c.drainBy {
		c.renew() // the lock is kept until they have returned
		return
	}
	if c.sess != nil {
		c.emit(LinkDown{Gen: c.sess.gen})
		c.emit(Drop{Gen: c.sess.gen})
		c.sess = nil
	}
	if drained {
		c.ended = true
		c.emit(End{})
	}
}

func (c *Core) grant(term ha.Term) {
	s := c.sess
	c.term, c.granted = term, c.now
	c.meet(term.Epoch)
	s.claim, s.claims, s.refused, s.free = op{}, nil, 0, false
	// A look that is under way may have read before we took the lock.
	s.look, s.lookAt, s.lookAgain = op{}, c.now, false
	c.emit(Grant{Term: term})
}

func (c *Core) revoke(reason Reason) {
	if c.term.IsZero() {
		return
	}
	c.emit(Revoke{Term: c.term, Reason: reason})
	c.draining, c.drainBy = c.term, c.sess.trustEnd()
	c.overdueAt = c.drainBy + c.timeout()
	c.sess.releaseTerm, c.sess.releaseAt, c.sess.releases = c.term, c.now, 0
	c.term = ha.Term{}
}

func (c *Core) resign() {
	if c.now-c.granted > c.timeout() {
		c.resigned = 0
	}
	c.revoke(Resigned)
	c.holdUntil = c.now + c.hold()
	c.resigned++
}

// lookTime is when something is to be done about looking.
func (c *Core) lookTime() time.Duration {
	s := c.sess
	switch {
	case c.stopping:
		return never
	case s.look.id != 0:
		return s.look.until
	case s.suspended, !c.competing && c.term.IsZero() && s.releaseTerm.IsZero():
		return never
	}
	return s.lookAt
}

func (c *Core) lookOut() {
	s := c.sess
	if c.now >= c.lookTime() && s.look.id != 0 {
		c.lookFailed(Unreachable)
	}
	if c.now < c.lookTime() {
		return
	}
	s.look = c.op(s.lease.Timeout / 2)
	s.lookAt, s.lookAgain = c.now+c.cfg.Resync, false
	c.emit(Look{Op: s.look.id, Gen: s.gen, Timeout: s.lease.Timeout / 2})
}

func (c *Core) lookFailed(cause Cause) {
	if cause == SessionOver {
		c.lose(Lost)
		return
	}
	s := c.sess
	s.look = op{}
	s.lookAt = c.now + c.backoff(s.looks)
	s.looks++
}

// looked judges what a look has seen.
func (c *Core) looked(e Looked) {
	s, h := c.sess, e.Holder
	s.look, s.looks = op{}, 0
	s.lookAt = c.now + c.cfg.Resync
	if s.lookAgain {
		s.lookAt = c.now
	}
	c.meet(max(h.Term.Epoch, h.Last.Number))
	mine := h.Held && h.Mine
	if !c.term.IsZero() {
		if !mine || h.Term.Grant != c.term.Grant {
			c.revoke(Lost)
		}
		return
	}
	if s.claim.id != 0 {
		return // its answer decides
	}
	s.free = !h.Held
	switch {
	case !mine:
		s.releaseTerm = ha.Term{}
		if h.Held {
			s.refused = 0
		}
	case h.Term.Grant == s.releaseTerm.Grant:
	case s.mayBeOurs(h.Term.Grant) && c.competing && !c.held():
		c.prepare(h.Term) // the reply was lost
	default:
		s.releaseTerm, s.releaseAt = h.Term, c.now
	}
}

// claimTime is when something is to be done about a claim.
func (c *Core) claimTime() time.Duration {
	s := c.sess
	switch {
	case c.stopping:
		return never
	case s.claim.id != 0:
		return s.claim.until
	case !c.competing || !s.free || s.suspended || !c.term.IsZero(),
		!c.draining.IsZero() || !s.releaseTerm.IsZero():
		return never
	}
	return max(s.claimAt, c.holdUntil)
}

func (c *Core) takeOver() {
	s := c.sess
	if c.now >= c.claimTime() && s.claim.id != 0 {
		c.claimFailed(Ambiguous)
	}
	if c.now < c.claimTime() {
		return
	}
	s.claim, s.free = c.op(s.lease.Timeout/2), false
	grant := c.cfg.NewGrant()
	s.claimBy, s.claims = grant, append(s.claims, grant)
	c.emit(Claim{Op: s.claim.id, Gen: s.gen, Grant: grant, Above: c.met, Timeout: s.lease.Timeout / 2})
}

// prepare has what a claim does after it has taken the lock done for one whose answer
// has not come.
func (c *Core) prepare(term ha.Term) {
	s := c.sess
	s.claim, s.claimBy = c.op(s.lease.Timeout), term.Grant
	c.emit(Prepare{Op: s.claim.id, Gen: s.gen, Term: term, Timeout: s.lease.Timeout})
}

func (c *Core) claimed(e Claimed) {
	s := c.sess
	switch {
	case e.Op != s.claim.id:
		s.lookAt = c.now // it was taken for ambiguous: a look decides
	case c.competing && !c.stopping:
		c.grant(e.Term)
	default:
		s.claim, s.releaseTerm, s.releaseAt = op{}, e.Term, c.now
	}
}

func (c *Core) claimFailed(cause Cause) {
	if cause == SessionOver {
		c.lose(Lost)
		return
	}
	s := c.sess
	if cause != Ambiguous {
		s.claims = slices.DeleteFunc(s.claims, func(g ha.GrantID) bool { return g == s.claimBy })
	}
	s.claim = op{}
	s.claimAt = c.now + c.backoff(s.refused)
	s.refused++
	s.look, s.lookAt = op{}, c.now
}

// releaseTime is when something is to be done about releasing.
func (c *Core) releaseTime() time.Duration {
	s := c.sess
	switch {
	case c.stopping:
		return never
	case s.release.id != 0:
		return s.release.until
	case s.releaseTerm.IsZero() || s.suspended:
		return never
	case !c.draining.IsZero():
		return max(s.releaseAt, c.drainBy)
	}
	return s.releaseAt
}

func (c *Core) giveBack() {
	s := c.sess
	if c.now >= c.releaseTime() && s.release.id != 0 {
		c.releaseFailed(Ambiguous)
	}
	if c.now < c.releaseTime() {
		return
	}
	s.release = c.op(s.lease.Timeout / 2)
	c.emit(Release{Op: s.release.id, Gen: s.gen, Term: s.releaseTerm, Timeout: s.lease.Timeout / 2})
}

// released: the lock is not ours. A look arms the watch again.
func (c *Core) released() {
	s := c.sess
	s.release, s.releaseTerm, s.releases = op{}, ha.Term{}, 0
	s.look, s.lookAt = op{}, c.now
}

func (c *Core) releaseFailed(cause Cause) {
	switch cause {
	case SessionOver:
		c.lose(Lost)
	case FencedOff:
		c.released()
	default:
		s := c.sess
		s.release = op{}
		s.releaseAt = c.now + c.backoff(s.releases)
		s.releases++
		s.lookAt = s.releaseAt
	}
}
