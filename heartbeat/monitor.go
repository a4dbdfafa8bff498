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
	// last is when the target was last heard, on the services' clock; negative:
	// never, and put under monitoring then.
	last atomic.Int64

	// Of the sweep, under the group's mutex. allowed is for how long the target may
	// be silent after seen, the value of last that it was set for.
	allowed int64
	seen    int64
	// doubted: it was given a timeout more, because many were late at once.
	doubted bool

	state atomic.Uint32
	clock func() time.Duration

	// Under the group's mutex: refusals since the last heartbeat, and its places in
	// the group's lists.
	refusals  int
	refusedAt int64
	index     int
	slot      int
	slotIndex int

	group      *group
	id         ID
	generation uint64
	// send sends a request or an answer; on the owner's loop.
	send func(request bool) error
}

// Heard notes that the target has just been heard: one atomic store. It may be
// called from any goroutine, as soon as the heartbeat comes off the wire, so that
// an owner that is busy mistakes nobody for dead.
func (m *Monitor) Heard() { m.last.Store(int64(m.clock())) }

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
	last := m.last.Load()
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

// lastOrArmed is when the silence began.
func (m *Monitor) lastOrArmed() int64 {
	last := m.last.Load()
	if last < 0 {
		return -last
	}
	return last
}

// settle takes back what was allowed beyond the timeout before the last heartbeat.
func (m *Monitor) settle(timeout int64) {
	if last := m.last.Load(); last != m.seen {
		m.seen, m.allowed, m.doubted = last, timeout, false
	}
}

// deadline is when the silence has lasted for as long as is allowed.
func (m *Monitor) deadline(timeout int64) int64 {
	if m.allowed != timeout {
		m.settle(timeout)
	}
	return m.lastOrArmed() + m.allowed
}

// excuse adds a stall of our own to what is allowed: as much of it as came after
// the last heartbeat; and leaves at least as long as the stall lasted, up to an
// interval, for what has queued up to be handled.
func (m *Monitor) excuse(now, stall, timeout, interval int64) {
	m.settle(timeout)
	silent := max(0, now-m.lastOrArmed())
	m.allowed += min(stall, silent)
	m.allowed = max(m.allowed, silent+min(stall, interval))
}
