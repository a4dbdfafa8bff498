package ha

import (
	"context"
	"time"
)

// Election is a component's part in the election of its process. There is one
// elector per process: all its components lead, or none does. Methods may be
// called from any goroutine, also from within a Contender's, and do not wait
// for the store unless they take a context.
type Election interface {
	// Start lets the component take part. It returns at once; the process
	// competes while at least one component takes part and none is unhealthy. A
	// second Start, and one after Stop, is an ErrStarted.
	Start(contender Contender) error
	// Confirm says that the component is ready to serve at an address under the
	// session id that its Grant was given; only then are both published. An id
	// that is not the issued one is ignored. Idempotent. The election tries until
	// it is published or the grant has ended; should somebody else change or
	// remove what was published, it is written again.
	Confirm(id SessionID, address string)
	// HasLeadership says that the id was issued under the present grant, and that
	// the grant can be trusted at this moment. It reads a clock and nothing else.
	HasLeadership(id SessionID) bool
	// Lease tells for how long the present grant can still be trusted; false:
	// the process does not lead.
	Lease() (Lease, bool)
	// Resign gives the whole process's grant up, because the component cannot
	// lead: others get the chance first. An id that is not the issued one is
	// ignored, so that a late event of an older grant ends no newer one.
	Resign(id SessionID, cause error)
	// SetHealthy(false) keeps the process out of the election, and makes it
	// resign, until SetHealthy(true). A component is healthy at first.
	SetHealthy(healthy bool)
	// Stop takes the component out, and waits until its last callback has
	// returned or ctx ends. When it was the last one the process gives up its
	// grant at once, so that nobody has to wait for a timeout. It may be called
	// twice, and before Start; never from within a callback.
	Stop(ctx context.Context) error
}

// Contender is what a component brings to the election. The calls to one
// contender come one after the other, from a goroutine that serves it alone: a
// callback that blocks holds up nobody else, and no deadline.
type Contender interface {
	// Grant tells that the process leads. ctx ends when the grant does or can no
	// longer be trusted; the call may return at once or serve until then. What it
	// builds is for this grant alone. An error resigns: others get the chance.
	Grant(ctx context.Context, id SessionID, term Term) error
	// Revoke follows each Grant, once, after ctx has ended and Grant has returned.
	// The lock is released when all components' Revoke have returned, at the latest
	// when trust would have ended had it not been revoked. The process does not
	// compete again before they have.
	Revoke()
	// Error tells of what goes wrong in the background. The election goes on
	// whatever it is; [Fatal] says that somebody has to act.
	Error(err error)
}

// Lease is how long a grant can be trusted, measured by a clock that also
// counts a suspended machine's time.
type Lease struct {
	Term Term
	// Age is what has passed since the start of the last renewal that succeeded.
	Age time.Duration
	// Left is what is left until trust ends: never negative.
	Left time.Duration
	// Timeout is the session timeout T in use.
	Timeout time.Duration
}
