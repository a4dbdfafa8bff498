package election

import (
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// Event is something that has happened. Answers name the op or the generation
// that they belong to; those of an older one change nothing.
type Event interface{ event() }

// Cause is why something did not succeed, as far as the election cares.
type Cause uint8

// The causes.
const (
	// Unreachable: nothing was changed, and trying again is right.
	Unreachable Cause = iota
	// Ambiguous: it may have been done, or may yet be.
	Ambiguous
	// Refused: the lock is held, or the epoch has changed.
	Refused
	// SessionOver: the session has ended.
	SessionOver
	// FencedOff: the term is not the present one.
	FencedOff
)

type (
	// Tick is the time alone: see Core.Next.
	Tick struct{}
	// Compete says whether the process is to take part.
	Compete struct{ On bool }
	// Opened answers Open. Started is when the call began.
	Opened struct {
		Op      uint64
		Lease   coord.Lease
		Started time.Duration
	}
	// OpenFailed answers Open.
	OpenFailed struct{ Op uint64 }
	// Renewed answers Renew. Started is when the call began.
	Renewed struct {
		Gen     uint64
		Started time.Duration
	}
	// RenewFailed answers Renew.
	RenewFailed struct {
		Gen     uint64
		Started time.Duration
		Fence   ha.Term
		Cause   Cause
	}
	// Over says that the store has ended a session.
	Over struct{ Gen uint64 }
	// Looked answers Look.
	Looked struct {
		Op     uint64
		Holder coord.Holder
	}
	// LookFailed answers Look.
	LookFailed struct {
		Op    uint64
		Cause Cause
	}
	// Changed says that the lock may have changed.
	Changed struct{ Gen uint64 }
	// Claimed answers Claim and Prepare.
	Claimed struct {
		Op   uint64
		Term ha.Term
	}
	// ClaimFailed answers Claim and Prepare.
	ClaimFailed struct {
		Op    uint64
		Cause Cause
	}
	// Released answers Release: the lock is not ours any more.
	Released struct{ Op uint64 }
	// ReleaseFailed answers Release.
	ReleaseFailed struct {
		Op    uint64
		Cause Cause
	}
	// Drained says that all components have returned from a grant's callbacks.
	Drained struct{ Grant ha.GrantID }
	// Resign gives a grant up, because a component cannot lead.
	Resign struct{ Grant ha.GrantID }
	// Fenced says that a write was refused, and with which number.
	Fenced struct {
		Grant ha.GrantID
		Epoch ha.Epoch
	}
	// Met says that an epoch was met somewhere.
	Met struct{ Epoch ha.Epoch }
	// Stop ends the election.
	Stop struct{}
)

func (Tick) event()          {}
func (Compete) event()       {}
func (Opened) event()        {}
func (OpenFailed) event()    {}
func (Renewed) event()       {}
func (RenewFailed) event()   {}
func (Over) event()          {}
func (Looked) event()        {}
func (LookFailed) event()    {}
func (Changed) event()       {}
func (Claimed) event()       {}
func (ClaimFailed) event()   {}
func (Released) event()      {}
func (ReleaseFailed) event() {}
func (Drained) event()       {}
func (Resign) event()        {}
func (Fenced) event()        {}
func (Met) event()           {}
func (Stop) event()          {}
