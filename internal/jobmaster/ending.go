package jobmaster

import (
	"fmt"
	"slices"

	"github.com/leatdata/leat/connector"
)

func (m *Master) report(st connector.SplitState, f connector.FormatState) {
	s := m.attempt(st.Split, st.Token)
	if s == nil || st.CommitNo < s.state.CommitNo {
		return
	}
	if st.CommitNo > s.state.CommitNo {
		s.failures = 0
	}
	s.state, s.format, s.live = st, f.At(st), st.Counters
	m.changed = true
}

// slotUp offers a slot; one that is known already is no second one.
func (m *Master) slotUp(slot int) {
	m.joined(slot)
	if slices.Contains(m.free, slot) {
		return
	}
	for _, s := range m.splits {
		if s.status == running && s.slot == slot {
			return
		}
	}
	m.free = append(m.free, slot)
}

func (m *Master) attemptEnded(e AttemptEnded) {
	s := m.attempt(e.Split, e.Token)
	if s == nil {
		return
	}
	m.free = append(m.free, e.Slot)
	f := e.Failure
	if f == nil && !s.stopping && !s.state.Done {
		f = &Failure{Class: connector.Retryable, Message: "the attempt ended before its split did"}
	}
	m.over(s, f)
}

func (m *Master) workerLost(slots []int) {
	m.lost(slots)
	for _, slot := range slots {
		for i, f := range m.free {
			if f == slot {
				m.free = append(m.free[:i], m.free[i+1:]...)
				break
			}
		}
		for _, s := range m.splits {
			if s.status == running && s.slot == slot {
				m.over(s, nil)
			}
		}
	}
}

// over takes a running split back: it is done, or tried again, or fails the job.
func (m *Master) over(s *split, f *Failure) {
	if s.state.Done {
		s.status, s.live = done, connector.Counters{}
		return
	}
	s.status = pending
	if m.phase == stopping {
		return
	}
	s.live = connector.Counters{}
	if f == nil {
		return
	}
	if f.Class != connector.Retryable {
		m.stop(Failed, f)
		return
	}
	s.failures++
	if s.failures > m.cfg.Restart.Attempts {
		m.fail(connector.Permanent, "%d attempts in a row failed, the last with: %s", s.failures, f.Message)
		return
	}
	s.notBefore = m.now + m.cfg.Restart.wait(s.failures, s.token)
}

func (m *Master) effectFailed(e EffectFailed) {
	switch e.Op {
	case "enumerate":
		m.refused(&m.enumerate, e.Failure)
	case "register":
		m.refused(&m.register, e.Failure)
	case "read":
		m.refused(&m.read, e.Failure)
	case "finish":
		m.refused(&m.finish, e.Failure)
	case "store":
		m.storing = false
		if m.phase == storingEnd {
			m.endUnstored(e.Failure)
			return
		}
		m.stop(Failed, &e.Failure)
	default:
		panic(fmt.Sprintf("jobmaster: unknown effect %q", e.Op))
	}
}

// endUnstored ends the job though its last state could not be stored. The
// reason that it failed for before, if any, comes first.
func (m *Master) endUnstored(f Failure) {
	if m.failure != nil {
		f = Failure{Class: m.failure.Class, Message: fmt.Sprintf("%s; and the state could not be stored: %s", m.failure.Message, f.Message)}
	}
	m.phase = ended
	m.emit(End{Outcome: Failed, Counters: m.Totals(), Failure: &f})
}

// checkLimits fails the job when its dirty records pass a bound.
func (m *Master) checkLimits(atEnd bool) {
	if f := m.cfg.Limits.exceeded(m.Totals(), atEnd); f != nil {
		m.stop(Failed, f)
	}
}

func (m *Master) fail(class connector.Class, format string, args ...any) {
	m.stop(Failed, &Failure{Class: class, Message: fmt.Sprintf(format, args...)})
}

// stop ends the job before its time: running attempts are stopped, the state
// is stored once they have ended.
func (m *Master) stop(o Outcome, f *Failure) {
	if m.phase == stopping || m.phase == storingEnd || m.phase == ended {
		return
	}
	m.phase, m.outcome, m.failure = stopping, o, f
	for _, s := range m.splits {
		if s.status == running && !s.stopping {
			s.stopping = true
			m.emit(Stop{Slot: s.slot, Split: s.value.ID, Token: s.token})
		}
	}
}

// endWhenQuiet stores the last state when no attempt runs any more and no
// other effect is out.
func (m *Master) endWhenQuiet() {
	if m.storing || m.enumerate.out || m.register.out || m.read.out || m.finish.out {
		return
	}
	for _, s := range m.splits {
		if s.status == running {
			return
		}
	}
	m.phase = storingEnd
	m.store()
}
