package connectortest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/connector"
)

// randomSchedules claims, writes, commits, crashes and finishes in any order,
// and compares target and states with what was committed.
func randomSchedules(t *testing.T, h *SinkHarness) {
	limitChecks(t, h.Checks)
	rapid.Check(t, func(rt *rapid.T) {
		s := &schedule{outer: t, e: newEngine(rt, h, h.NewTarget(t), 3, 40)}
		defer s.cleanUp()
		rt.Repeat(map[string]func(*rapid.T){
			"claim":  s.claim,
			"older":  s.claimOlder,
			"write":  s.write,
			"refuse": s.writeRefused,
			"commit": s.commit,
			"close":  s.close,
			"crash":  s.crash,
			"states": func(rt *rapid.T) { s.e.checkStates(rt) },
			"rows":   func(rt *rapid.T) { s.e.checkRows(rt, false) },
		})
		for _, a := range slices.Clone(s.e.live) {
			a.close(rt)
		}
		s.e.complete(rt)
		s.e.checkRows(rt, true)
	})
}

// schedule is the state of one random run.
type schedule struct {
	outer   *testing.T
	e       *engine
	refused int
	// left are sinks and writers of processes that crashed.
	left    []connector.Sink
	writers []connector.Writer
}

// cleanUp closes what crashes left; errors are of no interest any more.
func (s *schedule) cleanUp() {
	for _, a := range s.e.live {
		s.writers = append(s.writers, a.writer)
	}
	for _, w := range s.writers {
		_ = w.Close()
	}
	for _, sink := range append(s.left, s.e.sink) {
		_ = sink.Close()
	}
}

// holder is the attempt that keeps all others of an exclusive sink out.
func (s *schedule) holder() *attempt {
	if !s.e.h.Exclusive {
		return nil
	}
	if i := slices.IndexFunc(s.e.live, (*attempt).dirty); i >= 0 {
		return s.e.live[i]
	}
	return nil
}

// pick draws a live attempt that may do something now.
func (s *schedule) pick(rt *rapid.T) *attempt {
	candidates := s.e.live
	if h := s.holder(); h != nil {
		candidates = []*attempt{h}
	}
	if len(candidates) == 0 {
		rt.Skip("no attempt")
	}
	return candidates[rapid.IntRange(0, len(candidates)-1).Draw(rt, "attempt")]
}

func (s *schedule) current(a *attempt) bool { return s.e.newest[a.split] == a.token }

func (s *schedule) claim(rt *rapid.T) {
	if h := s.holder(); h != nil {
		h.close(rt)
	}
	split := connector.SplitID(rapid.IntRange(0, len(s.e.splits)-1).Draw(rt, "split"))
	for most := s.e.plan.MaxWriters; most > 0 && len(s.e.live) >= most; {
		// An engine keeps to the bound; one that was fenced does not count.
		i := slices.IndexFunc(s.e.live, func(a *attempt) bool { return s.current(a) && a.split != split })
		if i < 0 {
			break
		}
		s.e.live[i].close(rt)
	}
	s.e.claim(rt, split, s.e.token())
}

func (s *schedule) claimOlder(rt *rapid.T) {
	if s.holder() != nil {
		rt.Skip("the target is held")
	}
	split := connector.SplitID(rapid.IntRange(0, len(s.e.splits)-1).Draw(rt, "split"))
	if s.e.newest[split] < connector.NewToken(1, 2) {
		rt.Skip("no older token")
	}
	a := &attempt{e: s.e, split: split, token: s.e.newest[split] - 1, slot: s.e.freeSlot()}
	w, _, err := s.e.sink.Claim(rt.Context(), a.request())
	if w != nil {
		closing(rt, w)
	}
	if s.e.plan.Guarantee == connector.WithPosition && connector.ClassOf(err) != connector.Fenced {
		rt.Errorf("claim of split %d with token %s after %s: %v, want fenced", split, a.token, s.e.newest[split], err)
	}
}

func (s *schedule) write(rt *rapid.T) {
	a := s.pick(rt)
	n := rapid.IntRange(1, 15).Draw(rt, "rows")
	if !s.current(a) {
		s.e.mustBeFenced(rt, a)
		a.close(rt)
		return
	}
	a.mustWrite(rt, n)
}

func (s *schedule) writeRefused(rt *rapid.T) {
	if s.e.h.Refused == nil {
		rt.Skip("nothing is refused")
	}
	a := s.pick(rt)
	if !s.current(a) {
		rt.Skip("fenced")
	}
	s.refused++
	a.mustWrite(rt, rapid.IntRange(0, 5).Draw(rt, "rows"), s.e.h.Refused(itoa(-s.refused)))
}

func (s *schedule) commit(rt *rapid.T) {
	a := s.pick(rt)
	if !s.current(a) {
		s.e.mustBeFenced(rt, a)
		a.close(rt)
		return
	}
	done := a.next == len(s.e.splits[a.split])
	a.mustCommit(rt, done)
	if done {
		a.close(rt)
	}
}

func (s *schedule) close(rt *rapid.T) { s.pick(rt).close(rt) }

func (s *schedule) crash(rt *rapid.T) {
	s.e.restart(rt, func(sink connector.Sink) { s.left = append(s.left, sink) })
	for _, a := range s.e.live {
		s.writers = append(s.writers, a.writer)
	}
	s.e.live = nil
}
