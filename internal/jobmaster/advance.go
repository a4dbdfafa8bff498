package jobmaster

import (
	"github.com/leatdata/leat/connector"
)

// advance gives the effects that the present state calls for. It is called
// after each event, and changes nothing when there is nothing to do.
func (m *Master) advance() {
	switch m.phase {
	case restoring:
		if !m.makeKnown() {
			m.give(&m.read, ReadStates{})
		}
	case runningPhase:
		m.checkLimits(false)
		m.findSplits()
		m.check()
	}
	if m.phase == runningPhase {
		m.makeKnown()
		m.assign()
	}
	m.handOver()
	switch m.phase {
	case checking:
		m.give(&m.read, ReadStates{})
		m.checkpoint()
	case finishing:
		if m.finishStored {
			m.give(&m.finish, Finish{States: m.states()})
		}
		m.checkpoint()
	case stopping:
		m.endWhenQuiet()
	case storingEnd, ended:
	default:
		m.checkpoint()
	}
}

// waitingSplits is how many splits may wait to be handed out before no more
// are looked for: enough to tell how much there is of most sources, few enough
// that an endless one is no endless list.
const waitingSplits = 4096

func (m *Master) findSplits() {
	if m.phase != runningPhase || m.enumerated || m.storedCount < len(m.splits) || m.waiting() >= waitingSplits {
		return
	}
	m.give(&m.enumerate, Enumerate{Cursor: m.cursor, First: connector.SplitID(len(m.splits))})
}

// waiting counts the splits that are known and not handed out.
func (m *Master) waiting() (n int) {
	for _, s := range m.splits {
		if s.status != running && s.status != done {
			n++
		}
	}
	return n
}

func (m *Master) splitsFound(e connector.Enumeration) {
	if !m.enumerate.answered() || m.phase != runningPhase {
		return
	}
	for _, v := range e.Splits {
		if int(v.ID) != len(m.splits) {
			m.fail(connector.Fatal, "the source gave split %d where %d was asked for", v.ID, len(m.splits))
			return
		}
		m.splits = append(m.splits, &split{value: v, state: connector.SplitState{Split: v.ID}})
	}
	m.cursor, m.enumerated = e.Next, e.Done
	m.store()
}

// store asks for the present state to be stored; when a store is out, the
// next one follows its answer.
func (m *Master) store() {
	m.changed = true
	if m.storing {
		return
	}
	m.storing, m.changed = true, false
	m.version++
	m.lastStore = m.now
	m.foundAt[m.version] = len(m.splits)
	m.emit(Store{Version: m.version, State: m.State()})
}

// State returns the state as it would be stored now.
func (m *Master) State() State {
	splits := make([]connector.Split, len(m.splits))
	for i, s := range m.splits {
		splits[i] = s.value
	}
	return State{
		Cursor: m.cursor, Enumerated: m.enumerated, Splits: splits, States: m.states(), Formats: m.formats(),
		Checkpoints: m.checkpoints, Finishing: m.finishReady, Outcome: m.outcome, Failure: m.failure,
	}
}

// checkpoint stores the state when reports have waited for an interval, or
// when splits were found while another store was out.
func (m *Master) checkpoint() {
	if m.storing || !m.changed {
		return
	}
	if m.storedCount < len(m.splits) || m.now-m.lastStore >= m.cfg.CheckpointInterval {
		m.checkpoints++
		m.store()
	}
}

func (m *Master) stored(version uint64) {
	if !m.storing || version != m.version {
		return
	}
	m.storing = false
	m.storedCount = m.foundAt[version]
	delete(m.foundAt, version)
	for _, s := range m.splits[:m.storedCount] {
		if s.status == found {
			s.status = stored
		}
	}
	switch m.phase {
	case finishing:
		if m.changed {
			m.store()
			return
		}
		m.finishStored = true
	case storingEnd:
		if m.changed {
			m.store()
			return
		}
		m.phase = ended
		m.emit(End{Outcome: m.outcome, Counters: m.Totals(), Failure: m.failure})
	}
}

// makeKnown makes stored splits known to the target, and reports whether there
// are some that are not yet; sinks without positions take the call and do
// nothing with it.
func (m *Master) makeKnown() bool {
	if m.register.out {
		return true
	}
	var splits []connector.Split
	for _, s := range m.splits {
		if s.status == stored {
			splits = append(splits, s.value)
		}
	}
	if len(splits) > 0 {
		m.give(&m.register, Register{Splits: splits})
	}
	return len(splits) > 0
}

func (m *Master) registered(ids []connector.SplitID) {
	if !m.register.answered() {
		return
	}
	for _, id := range ids {
		if id < 0 || int(id) >= len(m.splits) {
			continue
		}
		if s := m.splits[id]; s.status == stored {
			s.status = pending
		}
	}
}

// adoptStored takes the stored states of a restored job of a Staged sink:
// what they call done is done.
func (m *Master) adoptStored() {
	for _, s := range m.splits {
		if s.state.Done {
			s.status = done
		}
	}
}

// targetStates takes the target's word (exactness rule 14): at restore it
// replaces ours, at the end it has to agree.
func (m *Master) targetStates(states []connector.SplitState) {
	if !m.read.answered() || (m.phase != restoring && m.phase != checking) {
		return
	}
	known := make([]bool, len(m.splits))
	for _, st := range states {
		if st.Split < 0 || int(st.Split) >= len(m.splits) {
			m.fail(connector.Fatal, "the target has a position for split %d, which this run does not know", st.Split)
			return
		}
		s := m.splits[st.Split]
		s.state, s.format, s.status, known[st.Split] = st, s.format.At(st), pending, true
		if st.Done {
			s.status = done
		}
	}
	for i, ok := range known {
		if !ok {
			m.fail(connector.Fatal, "the target has lost the position of split %d: it was reset, or its positions table changed; begin anew with --restart", i)
			return
		}
	}
	if m.phase == restoring || !m.allDone() {
		m.phase = runningPhase
		return
	}
	m.conclude()
}

func (m *Master) allDone() bool {
	for _, s := range m.splits {
		if s.status != done {
			return false
		}
	}
	return true
}

// assign hands pending splits to free slots, lowest first.
func (m *Master) assign() {
	if m.phase != runningPhase {
		return
	}
	for _, s := range m.splits {
		if len(m.free) == 0 {
			return
		}
		if s.status != pending || s.notBefore > m.now {
			continue
		}
		m.tokens++
		if m.tokens >= 1<<24 {
			m.fail(connector.Fatal, "more than %d attempts in one start", 1<<24)
			return
		}
		s.status, s.slot, s.token = running, m.free[0], connector.NewToken(m.cfg.Epoch, m.tokens)
		s.live, s.stopping = s.state.Counters, false
		m.free = m.free[1:]
		m.emit(Assign{Slot: s.slot, Split: s.value, Token: s.token, State: s.state, Format: s.format})
	}
}

// check begins the end when everything is done.
func (m *Master) check() {
	if m.phase != runningPhase || !m.enumerated || !m.allDone() {
		return
	}
	if m.cfg.Guarantee == connector.WithPosition && len(m.splits) > 0 {
		m.phase = checking
		return
	}
	m.conclude()
}

// conclude checks the sums, and has the final state stored before the sink may
// make the result visible.
func (m *Master) conclude() {
	m.checkLimits(true)
	if m.phase == stopping {
		return
	}
	sum := m.Totals()
	switch {
	case !sum.Balanced():
		m.fail(connector.Fatal, "the sums do not match: read %d, written %d, filtered %d, dirty %d, merged %d, refused %d",
			sum.Read, sum.Written, sum.Filtered, sum.Dirty, sum.Merged, sum.Refused)
		return
	case sum.Refused > 0 && !m.cfg.AllowRefused:
		m.fail(connector.Permanent, "the target dropped %d records by itself (a trigger or a rule): allow that with the sink's allow_refused", sum.Refused)
		return
	}
	m.phase, m.finishReady = finishing, true
	m.checkpoints++
	m.store()
}

// finished takes the target's word that the result is visible, also where the
// job was to stop meanwhile.
func (m *Master) finished() {
	if !m.finish.answered() {
		return
	}
	m.outcome, m.failure = Done, nil
	if m.Totals().Dirty > 0 {
		m.outcome = DoneWithDirty
	}
	m.phase = storingEnd
	m.store()
}
