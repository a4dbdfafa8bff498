package heartbeat

import (
	"fmt"
	"log/slog"
	"time"
)

// Manager is the passive side, such as a worker's: it watches its targets, and
// answers the requests that come from them. It never starts one. In is the payload
// that comes with a heartbeat, Out the one that goes.
//
// Its methods may be called from any goroutine, but Receive belongs on the owner's
// message loop, as it calls the listener.
type Manager[In, Out any] struct {
	group    *group
	own      ID
	listener Listener[In, Out]
	log      *slog.Logger
}

// NewManager makes a component's passive side. own is the component's id, which
// its answers carry; run is its message loop. None of them may be missing; after
// [Services.Stop] it fails with [ErrStopped].
func NewManager[In, Out any](s *Services, own ID, listener Listener[In, Out], run Executor) (*Manager[In, Out], error) {
	m, err := newManager(s, own, listener, run, false)
	return m, notMade("manager", string(own), err)
}

func newManager[In, Out any](
	s *Services, own ID, listener Listener[In, Out], run Executor, active bool,
) (*Manager[In, Out], error) {
	err := missing(
		needServices(s), needLoop(run),
		need{own != "", "its own id is empty: its peers know it by that"},
		need{there(listener), "there is no listener: who would be told of a loss?"},
	)
	if err != nil {
		return nil, err
	}
	g := newGroup(s, run)
	if active {
		g.schedule = newSchedule(s.slots)
	}
	g.lost = func(m *Monitor, loss Loss) { listener.Timeout(m.id, loss) }
	if err := s.join(g); err != nil {
		return nil, err
	}
	return &Manager[In, Out]{group: g, own: own, listener: listener, log: s.cfg.Logger}, nil
}

// Monitor puts a target under monitoring: from now on it has to be heard once per
// timeout. When it is already, nothing changes, and its present monitor is
// returned. A component cannot monitor itself. After Stop it fails with [ErrStopped].
func (m *Manager[In, Out]) Monitor(id ID, target Target[Out]) (*Monitor, error) {
	err := missing(
		need{id != "", "the id is empty: its heartbeats could not be told from others'"},
		need{id != m.own, "it is the component's own id: who hears itself knows nothing of others"},
		need{there(target), "there is no target to send heartbeats to"},
	)
	if err != nil {
		return nil, m.notMonitored(id, err)
	}
	mon, added, err := m.group.add(id, func(mon *Monitor) {
		mon.send = func(request bool) error {
			return target.Send(Beat[Out]{From: m.own, Request: request, Payload: m.listener.RetrievePayload(id)})
		}
	})
	if err != nil {
		return nil, m.notMonitored(id, err)
	}
	if !added {
		m.log.Info("heartbeat target is monitored already", "own", string(m.own), "target", string(id))
	}
	return mon, nil
}

func (m *Manager[In, Out]) notMonitored(id ID, err error) error {
	return fmt.Errorf("monitor %q for %s: %w", id, m.own, err)
}

// Unmonitor ends a target's monitoring. False: it was not monitored, or is lost,
// which has been or is being reported.
func (m *Manager[In, Out]) Unmonitor(id ID) bool { return m.group.unmonitor(id) }

// Receive takes a heartbeat that has come: the target was heard, its payload is
// reported, and a request is answered. One from an id that is not monitored is
// dropped, and not answered; false says so.
func (m *Manager[In, Out]) Receive(beat Beat[In]) bool {
	mon := m.group.find(beat.From)
	if mon == nil {
		m.log.Debug("heartbeat from a target that is not monitored", "own", string(m.own), "from", string(beat.From))
		return false
	}
	mon.Heard()
	if beat.Payload != nil {
		m.listener.ReportPayload(beat.From, beat.Payload)
	}
	if beat.Request && mon.running() {
		if err := mon.send(false); err != nil {
			mon.Failed(err)
		}
	}
	return true
}

// LastHeartbeatFrom is when a target was last heard, with a monotonic reading:
// zero when it never was. ok is false when it is not monitored.
func (m *Manager[In, Out]) LastHeartbeatFrom(id ID) (last time.Time, ok bool) {
	mon := m.group.find(id)
	if mon == nil {
		return time.Time{}, false
	}
	return mon.LastHeartbeat(), true
}

// Targets is how many targets are monitored.
func (m *Manager[In, Out]) Targets() int {
	m.group.mu.Lock()
	defer m.group.mu.Unlock()
	return len(m.group.targets)
}

// Stop ends all monitoring for good, also of a target that is just being added. It
// may be called twice.
func (m *Manager[In, Out]) Stop() { m.group.stop() }

// Sender is the active side, such as a master's: a [Manager] that sends a request
// to each of its targets once per interval. They are spread over it, so that
// neither the network nor the owner's loop has them all at once.
type Sender[In, Out any] struct {
	*Manager[In, Out]
}

// NewSender makes a component's active side; see [NewManager].
func NewSender[In, Out any](s *Services, own ID, listener Listener[In, Out], run Executor) (*Sender[In, Out], error) {
	m, err := newManager(s, own, listener, run, true)
	if err != nil {
		return nil, notMade("sender", string(own), err)
	}
	return &Sender[In, Out]{m}, nil
}
