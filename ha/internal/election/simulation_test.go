package election

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// simTimeout, simTick and simMargin are those of the simulated store: a session
// ends T to T + tick after its last renewal has arrived.
const (
	simTimeout = 2 * time.Second
	simTick    = 200 * time.Millisecond
	simMargin  = simTimeout / 4
	maxLatency = 20 * time.Millisecond
)

// TestSimulation lets many contenders compete in a store where everything goes
// wrong: cuts one-way and both ways, lost requests and replies, sessions that are
// expired, processes that stand still, components that resign and that stop late.
// It holds that
//
//   - no two grants can be trusted at the same time,
//   - the epochs of grants, and of the writes that the store accepts, never fall,
//   - no write of an older epoch is accepted once a newer one was granted,
//   - after healing, exactly one leads within T + tick + the back-off's cap.
//
// With every second seed sessions are ended before their time, the namespace is
// deleted, and old copies are restored; then two may trust their grants, and one
// may hear late of its own, but no two write.
func TestSimulation(t *testing.T) {
	runs := number(t, "LEAT_RUNS", 100)
	first := number(t, "LEAT_SEED", rand.Uint64N(1<<40))
	if testing.Short() {
		runs /= 4
	}
	for seed := first; seed < first+runs; seed++ {
		s := newSim(seed, 2+int(seed%5), seed%2 == 1)
		s.run()
		if s.failure != "" {
			t.Fatalf("LEAT_SEED=%d: at %s: %s\n%s", seed, s.now, s.failure, s.tail())
		}
	}
	t.Logf("seeds %d to %d", first, first+runs-1)
}

// number reads a setting of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(name, err)
	}
	return n
}

// sim is the world: a store, its clients, and what is going to happen.
type sim struct {
	rng     *rand.Rand
	seed    uint64
	resets  bool // somebody tampers with the store
	now     time.Duration
	queue   []simEvent
	order   int
	nodes   []*simNode
	store   simStore
	marks   ha.Epoch
	log     []simNote
	failure string

	calm      bool
	granted   ha.Epoch // highest
	accepted  ha.Epoch // highest of a write
	everReset bool
}

type simEvent struct {
	at    time.Duration
	order int
	do    func()
}

// simNote is a line of the log, made into text when somebody wants to read it.
type simNote struct {
	at     time.Duration
	format string
	args   []any
}

// simNode is a process.
type simNode struct {
	id       int
	core     *Core
	ticks    int // invalidates older timers
	stalled  time.Duration
	waiting  []func() // events that came while it stood still
	in, out  bool     // cut: replies to it, requests of it
	sessions map[uint64]uint64
}

// simStore is the coordination store.
type simStore struct {
	epoch   coord.EpochRecord
	version int64
	// incarnation is another after each reset: see coord.Session.TakeOver.
	incarnation int
	lock        ha.GrantID
	owner       uint64 // session
	sessions    map[uint64]time.Duration
	next        uint64
	watchers    map[*simNode]bool
	copies      []simStore
}

func newSim(seed uint64, nodes int, resets bool) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 7)), seed: seed, resets: resets}
	s.store = simStore{sessions: map[uint64]time.Duration{}, watchers: map[*simNode]bool{}}
	for i := range nodes {
		n := &simNode{id: i, sessions: map[uint64]uint64{}}
		grants := 0
		n.core = NewCore(CoreConfig{
			Timeout: simTimeout, Resync: 30 * time.Second, FencedRenewals: seed%3 == 0,
			NewGrant: func() ha.GrantID {
				grants++
				return ha.GrantID(fmt.Sprintf("n%d-%d", i, grants))
			},
			Rand: s.rng.Float64,
		})
		s.nodes = append(s.nodes, n)
		s.at(s.upTo(time.Second), func() { s.step(n, Compete{On: true}) })
	}
	return s
}

// run lets faults happen for a while, heals, and waits for a leader.
func (s *sim) run() {
	for range 3 {
		s.calm = false
		end := s.now + 5*time.Second + s.upTo(20*time.Second)
		s.at(s.upTo(time.Second), s.fault)
		s.runUntil(end)
		s.heal()
		bound := simTimeout + simTick + min(time.Second, simTimeout/3) + 10*maxLatency
		s.runUntil(s.now + bound)
		if leaders := s.leaders(); leaders != 1 {
			s.fail("%d leaders %s after healing", leaders, bound)
		}
		s.runUntil(s.now + 3*simTimeout)
		if leaders := s.leaders(); leaders != 1 {
			s.fail("%d leaders later on", leaders)
		}
	}
}

func (s *sim) leaders() int {
	leaders := 0
	for _, n := range s.nodes {
		if !n.core.Term().IsZero() && s.now < n.core.TrustEnd() {
			leaders++
		}
	}
	return leaders
}

func (s *sim) fail(format string, args ...any) {
	if s.failure == "" {
		s.failure = fmt.Sprintf(format, args...)
	}
}

func (s *sim) note(format string, args ...any) {
	s.log = append(s.log, simNote{at: s.now, format: format, args: args})
}

func (s *sim) tail() string {
	var text strings.Builder
	for _, n := range s.nodes {
		text.WriteString(fmt.Sprintf("node %d: %s %+v, session %+v\n", n.id, n.core.State(), *n.core, n.core.sess))
	}
	for _, line := range s.log[max(0, len(s.log)-60):] {
		text.WriteString(fmt.Sprintf("%s "+line.format+"\n", append([]any{line.at}, line.args...)...))
	}
	return text.String()
}

func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(d))) }

func (s *sim) at(in time.Duration, do func()) {
	s.order++
	e := simEvent{at: s.now + in, order: s.order, do: do}
	i := len(s.queue)
	for i > 0 && (s.queue[i-1].at > e.at) {
		i--
	}
	s.queue = append(s.queue, simEvent{})
	copy(s.queue[i+1:], s.queue[i:])
	s.queue[i] = e
}

func (s *sim) runUntil(end time.Duration) {
	for s.failure == "" && len(s.queue) > 0 && s.queue[0].at <= end {
		e := s.queue[0]
		s.queue = s.queue[1:]
		s.now = e.at
		e.do()
	}
	s.now = max(s.now, end)
}

// step gives a node an event, unless it stands still: then later.
func (s *sim) step(n *simNode, e Event) {
	if s.now < n.stalled {
		n.waiting = append(n.waiting, func() { s.step(n, e) })
		return
	}
	before := n.core.State()
	for _, effect := range n.core.Step(s.now, e) {
		s.carryOut(n, effect)
	}
	if after := n.core.State(); after != before {
		s.note("node %d: %T: %s, was %s", n.id, e, after, before)
	}
	n.ticks++
	ticks := n.ticks
	if next, ok := n.core.Next(); ok {
		s.at(max(0, next-s.now), func() {
			if n.ticks == ticks {
				s.step(n, Tick{})
			}
		})
	}
}

// carryOut is the driver's part.
func (s *sim) carryOut(n *simNode, effect Effect) {
	started := s.now
	switch f := effect.(type) {
	case Open:
		s.call(n, f.Timeout, func() Event {
			s.store.next++
			id := s.store.next
			s.touch(id)
			n.sessions[f.Op] = id
			return Opened{Op: f.Op, Lease: coord.Lease{Timeout: simTimeout, Margin: simMargin}, Started: started}
		}, OpenFailed{Op: f.Op}, OpenFailed{Op: f.Op})
	case Renew:
		failed := RenewFailed{Gen: f.Gen, Started: started, Fence: f.Fence}
		s.call(n, f.Timeout, func() Event {
			switch {
			case !s.alive(n, f.Gen):
				failed.Cause = SessionOver
				return failed
			case !f.Fence.IsZero() && !s.store.accepts(f.Fence):
				failed.Cause = FencedOff
				return failed
			}
			s.touch(n.sessions[f.Gen])
			return Renewed{Gen: f.Gen, Started: started}
		}, failed, failed)
	case Look:
		s.look(n, f)
	case Claim:
		s.claim(n, f)
	case Prepare:
		// The storage's doing: the store has no part in it.
		var answer Event = Claimed{Op: f.Op, Term: f.Term}
		if !s.calm && s.rng.IntN(10) == 0 {
			answer = ClaimFailed{Op: f.Op}
		}
		s.at(s.upTo(maxLatency), func() { s.step(n, answer) })
	case Release:
		s.call(n, f.Timeout, func() Event {
			if !s.alive(n, f.Gen) {
				return ReleaseFailed{Op: f.Op, Cause: SessionOver}
			}
			if !s.store.accepts(f.Term) {
				return ReleaseFailed{Op: f.Op, Cause: FencedOff}
			}
			s.unlock()
			return Released{Op: f.Op}
		}, ReleaseFailed{Op: f.Op}, ReleaseFailed{Op: f.Op, Cause: Ambiguous})
	case Drop:
		if id, ok := n.sessions[f.Gen]; ok && !n.out && !n.in {
			s.at(s.upTo(maxLatency), func() { s.expire(id) })
		}
	case Grant:
		s.granting(n, f.Term)
	case Revoke:
		late := s.upTo(50 * time.Millisecond)
		if !s.calm && s.rng.IntN(10) == 0 {
			late = s.upTo(5 * time.Second)
		}
		s.at(late, func() { s.step(n, Drained{Grant: f.Term.Grant}) })
	}
}

// call sends a request, which may be lost, and a reply, which may be lost too.
func (s *sim) call(n *simNode, timeout time.Duration, do func() Event, unsent, unknown Event) {
	answered := false
	answer := func(e Event) {
		if !answered {
			answered = true
			s.step(n, e)
		}
	}
	lost := func() bool { return !s.calm && s.rng.IntN(100) == 0 }
	if n.out || lost() {
		s.at(timeout, func() { answer(unsentOr(unsent, unknown, s.rng)) })
		return
	}
	delay := s.upTo(maxLatency)
	if !s.calm && s.rng.IntN(50) == 0 {
		delay = s.upTo(timeout) // it arrives, but late
	}
	s.at(delay, func() {
		e := do()
		if n.in || lost() {
			return
		}
		s.at(s.upTo(maxLatency), func() {
			if !n.in {
				answer(e)
			}
		})
	})
	s.at(timeout, func() { answer(unknown) })
}

// unsentOr: whoever sends does not always know that it was not sent.
func unsentOr(unsent, unknown Event, rng *rand.Rand) Event {
	if rng.IntN(2) == 0 {
		return unsent
	}
	return unknown
}
