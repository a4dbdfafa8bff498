package election

import (
	"time"

	"github.com/leatdata/leat/ha"
)

// Effect is something to be carried out, in the order given. Within bounds of
// time each op has to be answered, but nothing depends on it.
type Effect interface{ effect() }

// Reason is why a grant ended.
type Reason uint8

// The reasons.
const (
	// Distrusted: no renewal has succeeded for as long as trust lasts.
	Distrusted Reason = iota
	// Lost: the store says that the lock is not ours, or the session has ended.
	Lost
	// Superseded: a higher epoch was met.
	Superseded
	// Resigned: a component could not lead.
	Resigned
	// Withdrawn: the process takes no part any more.
	Withdrawn
)

// String returns the reason in words.
func (r Reason) String() string {
	return [...]string{
		"no renewal succeeded in time", "the lock was lost", "a higher epoch was met",
		"a component resigned", "the process left the election",
	}[r]
}

type (
	// Open asks for a session, to be generation Op.
	Open struct {
		Op      uint64
		Timeout time.Duration
	}
	// Renew asks for a proof that the session lives, through a fenced write if the
	// term is not zero.
	Renew struct {
		Gen     uint64
		Fence   ha.Term
		Timeout time.Duration
	}
	// Look asks who holds the lock.
	Look struct {
		Op, Gen uint64
		Timeout time.Duration
	}
	// Claim asks for the lock, with an epoch above one.
	Claim struct {
		Op, Gen uint64
		Grant   ha.GrantID
		Above   ha.Epoch
		Timeout time.Duration
	}
	// Prepare makes ready to lead under a lock that was found to be ours, as Claim does
	// under one that it takes; it is answered alike.
	Prepare struct {
		Op, Gen uint64
		Term    ha.Term
		Timeout time.Duration
	}
	// Release gives the lock back.
	Release struct {
		Op, Gen uint64
		Term    ha.Term
		Timeout time.Duration
	}
	// Drop ends a session, whatever it is doing.
	Drop struct{ Gen uint64 }
	// LinkUp says that the store can be relied on, through this session.
	LinkUp struct{ Gen uint64 }
	// LinkDown says that what the store last said cannot be trusted any more.
	LinkDown struct{ Gen uint64 }
	// Grant begins a grant.
	Grant struct{ Term ha.Term }
	// Revoke ends it. The components' callbacks end in their own time: Drained.
	Revoke struct {
		Term   ha.Term
		Reason Reason
	}
	// Overdue says that callbacks of a revoked grant still run, though others may
	// lead by now.
	Overdue struct{ Term ha.Term }
	// End is the last effect.
	End struct{}
)

func (Open) effect()     {}
func (Renew) effect()    {}
func (Look) effect()     {}
func (Claim) effect()    {}
func (Prepare) effect()  {}
func (Release) effect()  {}
func (Drop) effect()     {}
func (LinkUp) effect()   {}
func (LinkDown) effect() {}
func (Grant) effect()    {}
func (Revoke) effect()   {}
func (Overdue) effect()  {}
func (End) effect()      {}
