package heartbeat

import (
	"fmt"
	"sync/atomic"
	"time"
)

// State is where a monitor stands. It changes once at most.
type State uint32

// The states of a [Monitor].
const (
	Running State = iota
	TimedOut
	Canceled
)

// String names the state.
func (s State) String() string {
	switch s {
	case Running:
		return "RUNNING"
	case TimedOut:
		return "TIMEOUT"
	case Canceled:
		return "CANCELED"
	default:
		return fmt.Sprintf("State(%d)", uint32(s))
	}
}

// Monitor watches one target, from [Manager.Monitor] until it is lost or
// unmonitored: one that is put under monitoring again has a new one, of a higher
// generation, and whatever still holds the old one changes nothing.
type Monitor struct {
	handle     Handle
	group      *group
	id         ID
	generation uint64
	state      atomic.Uint32
	// send sends a request or an answer; on the owner's loop.
	send func(request bool) error

	// The rest is under the group's mutex. seen is the value of the stamp for which
	// what is allowed was set.
	seen int64
	// doubted: it was given a timeout more, because many were late at once.
	doubted bool
	// refusals is how many there were since the last heartbeat, refusedAt when the
	// last was.
	refusals  int
	refusedAt int64
	// The places in the group's lists.
	index, slot, slotIndex int
}

// Handle notes heartbeats of one generation of a target. It is a value, to be kept
// where the heartbeats come in, such as beside the connection. The zero Handle is
// nobody's, and notes nothing: that of a connection that nobody has registered over.
type Handle struct {
	// last is when the target was last heard, on the services' clock; negative:
	// never, and put under monitoring then. It lies among other targets' stamps, so
	// that those of very many stay in the processor's caches; and it is never used
	// for another target, so that a handle that is kept for too long does no harm.
	last  *atomic.Int64
	clock func() time.Duration
}

// Heard notes that the target has just been heard: one atomic store. It may be
// called from any goroutine, as soon as the heartbeat comes off the wire, so that
// an owner that is busy mistakes nobody for dead.
func (h Handle) Heard() {
	if h.last != nil {
		h.last.Store(int64(h.clock()))
	}
}

// silentSince is when the silence began.
func (h Handle) silentSince() int64 {
	last := h.last.Load()
	if last < 0 {
		return -last
	}
	return last
}

// Handle is for noting heartbeats where they come in.
func (m *Monitor) Handle() Handle { return m.handle }

// Heard is [Handle.Heard].
func (m *Monitor) Heard() { m.handle.Heard() }

// Failed tells how a heartbeat to the target has failed, later than its Send. Only
// refusals count; see [Config.FailureThreshold]. It may be called from any
// goroutine.
func (m *Monitor) Failed(err error) { m.group.failed(m, err) }

// Cancel is [Manager.Unmonitor] for just this generation: when the target is
// under monitoring anew, nothing happens.
func (m *Monitor) Cancel() bool { return m.group.cancel(m) }

// ID is the target's.
func (m *Monitor) ID() ID { return m.id }

// Generation grows with every target that the services are given.
func (m *Monitor) Generation() uint64 { return m.generation }

// State is where the monitor stands.
func (m *Monitor) State() State { return State(m.state.Load()) }

// LastHeartbeat is when the target was last heard, with a monotonic reading; zero:
// never.
func (m *Monitor) LastHeartbeat() time.Time {
	last := m.handle.last.Load()
	if last < 0 {
		return time.Time{}
	}
	return m.group.services.timeOf(last)
}

func (m *Monitor) running() bool { return m.State() == Running }

// decide moves a running monitor to its last state; false: it has one.
func (m *Monitor) decide(s State) bool {
	return m.state.CompareAndSwap(uint32(Running), uint32(s))
}
