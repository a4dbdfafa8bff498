package heartbeat

import (
	"errors"
	"fmt"
	"time"
)

// FenceReason is why a worker stops by itself; zero: it does not.
type FenceReason uint8

// The reasons of a [Fence].
const (
	// Orphaned: for heartbeat.orphan-grace it has neither heard a master nor
	// written its counter.
	Orphaned FenceReason = iota + 1
	// GivenUp: for heartbeat.suspect-limit it has not heard the leader that the
	// store names, which must give it up about now.
	GivenUp
)

// String names the reason.
func (r FenceReason) String() string {
	switch r {
	case 0:
		return "not fenced"
	case Orphaned:
		return "orphaned"
	case GivenUp:
		return "given up"
	default:
		return fmt.Sprintf("FenceReason(%d)", uint8(r))
	}
}

// Fence decides when a worker has to stop its work by itself, because others may
// have been given it: a pure state machine without clock or goroutine. The worker
// goes on while one of its two witnesses is well, so that neither a store that is
// away nor a master that is being replaced stops work:
//
//	rpc              counter          the worker
//	heard            any              works
//	not heard        written          works; with a leader named, until
//	                                  heartbeat.suspect-limit after it was last heard
//	not heard        not written      works until heartbeat.orphan-grace after the
//	                                  last success of either
//
// Once fenced it stays so until it has registered anew. It is for speed: what
// keeps two from writing is the token of each attempt.
//
// Times are of one clock of the worker's, stalls included; best one that counts the
// time for which the machine was suspended ([BootClock]).
type Fence struct {
	kinds        Kinds
	grace, limit time.Duration

	// heard is when a master was last heard, wrote when the last write of the
	// counter that succeeded was begun.
	heard, wrote time.Duration
	// leader is whom the store names; heardLeader when it was last heard, or named.
	leader      ID
	heardLeader time.Duration
	reason      FenceReason
}

// NewFence makes the fence of a worker that has just registered. What is zero in
// cfg has its default. With one kind of heartbeat only, that alone has to fail for
// the grace.
func NewFence(cfg Config, kinds Kinds, now time.Duration) (*Fence, error) {
	cfg = cfg.WithDefaults()
	if err := errors.Join(kinds.validate(), cfg.Validate()); err != nil {
		return nil, notMade("fence", "", err)
	}
	f := &Fence{kinds: kinds, grace: cfg.OrphanGrace, limit: cfg.SuspectLimit}
	f.Registered(now)
	return f, nil
}

// Registered starts anew: the worker has registered, and was accepted.
func (f *Fence) Registered(now time.Duration) {
	f.heard, f.wrote, f.heardLeader, f.reason = now, now, now, 0
}

// Heard notes a heartbeat from a master that is of the present epoch, as far as
// the worker knows.
func (f *Fence) Heard(now time.Duration, from ID) {
	f.heard = max(f.heard, now)
	if from == f.leader {
		f.heardLeader = max(f.heardLeader, now)
	}
}

// Wrote notes that the counter was written; began is when the write was begun,
// since it may have been done by then already.
func (f *Fence) Wrote(began time.Duration) { f.wrote = max(f.wrote, began) }

// Leader notes whom the store names as the leader; "": nobody, while one is being
// elected.
func (f *Fence) Leader(now time.Duration, leader ID) {
	if leader != f.leader {
		f.leader, f.heardLeader = leader, now
	}
}

// Tick decides: not zero says that the worker has to stop now.
func (f *Fence) Tick(now time.Duration) FenceReason {
	if f.reason == 0 {
		if at, reason := f.next(); now >= at {
			f.reason = reason
		}
	}
	return f.reason
}

// Next is when Tick fences unless something good comes before.
func (f *Fence) Next() time.Duration {
	at, _ := f.next()
	return at
}

func (f *Fence) next() (at time.Duration, reason FenceReason) {
	switch f.kinds {
	case RPC:
		return f.heard + f.grace, Orphaned
	case Counter:
		return f.wrote + f.grace, Orphaned
	}
	at, reason = max(f.heard, f.wrote)+f.grace, Orphaned
	// Whether the store is well need not be asked: had it failed for the grace, the
	// worker would be an orphan before this.
	if given := f.heardLeader + f.limit; f.leader != "" && given < at {
		return given, GivenUp
	}
	return at, reason
}
