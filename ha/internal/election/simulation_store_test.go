package election

import (
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// accepts says whether a fenced write passes.
func (st *simStore) accepts(term ha.Term) bool {
	return st.lock != "" && st.lock == term.Grant && st.version == term.Guard
}

// touch renews a session: it ends T to T + tick later.
func (s *sim) touch(id uint64) {
	s.store.sessions[id] = s.now
	renewed := s.now
	s.at(simTimeout+s.upTo(simTick), func() {
		if at, ok := s.store.sessions[id]; ok && at == renewed {
			s.expire(id)
		}
	})
}

func (s *sim) alive(n *simNode, gen uint64) bool {
	_, ok := s.store.sessions[n.sessions[gen]]
	return ok
}

func (s *sim) expire(id uint64) {
	delete(s.store.sessions, id)
	if s.store.lock != "" && s.store.owner == id {
		s.unlock()
	}
}

func (s *sim) unlock() {
	s.store.lock, s.store.owner = "", 0
	s.changed()
}

// changed signals the watchers, once each, as ZooKeeper does. A cut loses it: the
// session's own connection then signals after it is healed.
func (s *sim) changed() {
	watchers := s.store.watchers
	s.store.watchers = map[*simNode]bool{}
	for _, n := range s.nodes {
		if watchers[n] {
			s.at(s.upTo(maxLatency), func() { s.signal(n) })
		}
	}
}

func (s *sim) signal(n *simNode) {
	if n.in || n.out {
		s.at(100*time.Millisecond, func() { s.signal(n) })
		return
	}
	for gen := range n.sessions {
		s.step(n, Changed{Gen: gen})
	}
}

func (s *sim) look(n *simNode, f Look) {
	failed := LookFailed{Op: f.Op}
	s.call(n, f.Timeout, func() Event {
		if !s.alive(n, f.Gen) {
			return LookFailed{Op: f.Op, Cause: SessionOver}
		}
		s.store.watchers[n] = true
		st := &s.store
		return Looked{Op: f.Op, Holder: coord.Holder{
			Held: st.lock != "", Mine: st.lock != "" && st.owner == n.sessions[f.Gen], Last: st.epoch,
			Term: ha.Term{Epoch: st.epoch.Number, Grant: st.lock, Guard: st.version},
		}}
	}, failed, failed)
}

// claim reads, marks the number, and takes over if nothing has changed.
func (s *sim) claim(n *simNode, f Claim) {
	unsent, unknown := ClaimFailed{Op: f.Op}, ClaimFailed{Op: f.Op, Cause: Ambiguous}
	version, incarnation := s.store.version, s.store.incarnation
	number := max(s.store.epoch.Number, s.marks, f.Above) + 1
	s.marks = number
	s.call(n, f.Timeout, func() Event {
		st := &s.store
		switch {
		case !s.alive(n, f.Gen):
			return ClaimFailed{Op: f.Op, Cause: SessionOver}
		case st.lock != "" || st.version != version || st.incarnation != incarnation:
			return ClaimFailed{Op: f.Op, Cause: Refused}
		}
		st.lock, st.owner = f.Grant, n.sessions[f.Gen]
		st.version++
		st.epoch = coord.EpochRecord{Number: number, Grant: f.Grant}
		s.note("store: lock is %s of node %d, epoch %d", f.Grant, n.id, number)
		s.changed()
		return Claimed{Op: f.Op, Term: ha.Term{Epoch: number, Grant: f.Grant, Guard: st.version}}
	}, unsent, unknown)
}

// granting checks a new grant, and writes under it now and later, also when it
// should not any more.
func (s *sim) granting(n *simNode, term ha.Term) {
	s.note("node %d: granted %s", n.id, term)
	if term.Epoch <= s.granted && !s.everReset {
		s.fail("node %d is granted epoch %d after %d", n.id, term.Epoch, s.granted)
	}
	s.granted = max(s.granted, term.Epoch)
	for _, other := range s.nodes {
		if other != n && !other.core.Term().IsZero() && s.now < other.core.TrustEnd() && !s.everReset {
			s.fail("node %d is granted while node %d trusts %s until %s", n.id, other.id, other.core.Term(), other.core.TrustEnd())
		}
	}
	var write func()
	write = func() {
		if s.store.accepts(term) {
			if term.Epoch < s.accepted {
				s.fail("a write of epoch %d is accepted after one of %d", term.Epoch, s.accepted)
			}
			s.accepted = max(s.accepted, term.Epoch)
		}
		if s.rng.IntN(20) > 0 {
			s.at(s.upTo(time.Second), write)
		}
	}
	write()
	if !s.calm && s.rng.IntN(10) == 0 {
		s.at(s.upTo(time.Second), func() { s.step(n, Resign{Grant: term.Grant}) })
	}
}

// fault lets one thing go wrong, and the next a little later.
func (s *sim) fault() {
	if s.calm {
		return
	}
	s.at(s.upTo(time.Second), s.fault)
	n := s.nodes[s.rng.IntN(len(s.nodes))]
	switch s.rng.IntN(12) {
	case 0:
		n.in, n.out = true, true
	case 1:
		n.in = true
	case 2:
		n.out = true
	case 3, 4, 5:
		n.in, n.out = false, false
	case 6: // all at once, as when the store is away
		for _, n := range s.nodes {
			n.in, n.out = true, true
		}
	case 7:
		for _, n := range s.nodes {
			n.in, n.out = false, false
		}
	case 8:
		s.stall(n, s.upTo(2*simTimeout))
	case 9:
		if !s.resets {
			return
		}
		s.everReset = true
		for gen, id := range n.sessions {
			if _, ok := s.store.sessions[id]; ok {
				s.expire(id)
				s.at(s.upTo(time.Second), func() { s.step(n, Over{Gen: gen}) })
			}
		}
	case 10:
		s.step(n, Met{Epoch: s.store.epoch.Number})
	case 11:
		s.reset()
	}
}

// reset deletes the namespace, or restores an old copy. Sessions live on.
func (s *sim) reset() {
	if !s.resets {
		return
	}
	st := &s.store
	st.copies = append(st.copies, simStore{epoch: st.epoch, version: st.version})
	old := simStore{}
	if s.rng.IntN(2) == 0 {
		old = st.copies[s.rng.IntN(len(st.copies))]
	}
	s.note("store: reset to epoch %d, was %d", old.epoch.Number, st.epoch.Number)
	st.epoch, st.version, st.lock, st.owner = old.epoch, old.version, "", 0
	st.incarnation++
	s.everReset = true
	s.changed()
}

// stall makes a process stand still; what comes meanwhile waits.
func (s *sim) stall(n *simNode, d time.Duration) {
	n.stalled = max(n.stalled, s.now+d)
	until := n.stalled
	s.at(until-s.now, func() {
		if n.stalled != until {
			return
		}
		waiting := n.waiting
		n.waiting = nil
		for _, do := range waiting {
			do()
		}
		s.step(n, Tick{})
	})
}

// heal ends all faults.
func (s *sim) heal() {
	s.calm = true
	s.note("healed")
	for _, n := range s.nodes {
		n.in, n.out = false, false
		if s.now < n.stalled {
			n.stalled = s.now
			waiting := n.waiting
			n.waiting = nil
			for _, do := range waiting {
				do()
			}
			s.step(n, Tick{})
		}
	}
	// Stop hooks end too.
	for _, n := range s.nodes {
		s.step(n, Drained{Grant: n.core.draining.Grant})
	}
}
