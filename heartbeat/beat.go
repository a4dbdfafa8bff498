package heartbeat

import (
	"errors"
	"fmt"
	"time"
)

// ID names a component, and a target: one of them at a time has it.
type ID string

// Beat is what travels: a request from a [Sender], or the answer to one. A nil
// Payload is none.
type Beat[P any] struct {
	From    ID
	Request bool
	Payload *P
}

// Target is where heartbeats to one peer go. Send passes a beat on and returns at
// once: it must wait neither for the network nor for the peer. It is called on the
// owner's message loop. An error is counted when it is a refusal
// ([Config.Refused]); one that shows later is told to [Monitor.Failed].
type Target[Out any] interface {
	Send(beat Beat[Out]) error
}

// TargetFunc makes a function a [Target].
type TargetFunc[Out any] func(beat Beat[Out]) error

// Send implements [Target].
func (f TargetFunc[Out]) Send(beat Beat[Out]) error { return f(beat) }

// Listener is the owner: what it is told, and asked for. Every method is called
// on the owner's message loop, and may call back into the manager.
type Listener[In, Out any] interface {
	// Timeout tells that a target is lost, exactly once for each time that it was
	// put under monitoring, and never after Unmonitor or Stop. The target is not
	// monitored any more. What follows from it is the owner's to do.
	Timeout(id ID, loss Loss)
	// ReportPayload hands over what came with a heartbeat; never nil.
	ReportPayload(id ID, payload *In)
	// RetrievePayload is asked for what goes with a heartbeat to a target, when it
	// is sent; nil: nothing. It must not be changed afterwards.
	RetrievePayload(id ID) *Out
}

// Executor runs f on the owner's message loop, behind what is queued there now,
// and does not wait for it, nor run it within the call. One that has no room may
// drop f: the services ask again after an interval.
type Executor func(f func())

// Reason is why a target was given up.
type Reason uint8

// The reasons of a [Loss].
const (
	// Silence: nothing was heard for the timeout.
	Silence Reason = iota + 1
	// Refusals: nobody listens at its address any more.
	Refusals
)

// String names the reason.
func (r Reason) String() string {
	switch r {
	case Silence:
		return "silence"
	case Refusals:
		return "connections refused"
	default:
		return fmt.Sprintf("reason %d", uint8(r))
	}
}

// Loss says how a target was lost.
type Loss struct {
	Reason Reason
	// LastHeartbeat is when it was last heard; zero: never.
	LastHeartbeat time.Time
	// Silent is for how long nothing was heard, from its being put under monitoring
	// when it never was.
	Silent time.Duration
	// Generation is the monitor's.
	Generation uint64
}

// ErrStopped says that the manager or the services have been stopped.
var ErrStopped = errors.New("heartbeat services are stopped")

var errStarted = errors.New("heartbeat services are started already")
