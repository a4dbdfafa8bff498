package heartbeat

import (
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// group is the monitors of one manager: what the sweeper sees of it. The sweeper
// only finds that somebody is late; who is lost is decided on the owner's loop, in
// a turn that is queued behind the heartbeats that came before.
type group struct {
	services *Services
	run      Executor
	log      *slog.Logger
	// lost tells the listener; on the owner's loop.
	lost func(m *Monitor, loss Loss)
	// schedule spreads the requests; nil: none are sent.
	schedule *schedule

	// doTurn is turn, and batch the memory of one.
	doTurn func()
	batch  []*Monitor

	mu      sync.Mutex
	stopped bool
	byID    map[ID]*Monitor
	targets []watched
	// stamps is what is left of a block of them.
	stamps []atomic.Int64
	// nextDue is before the first deadline of all, and not after now while somebody
	// waits to be judged. It is written under the mutex.
	nextDue atomic.Int64
	// judging: somebody was late, and the turn that judges has not run.
	judging bool
	// refused are those with enough refusals to be given up.
	refused []*Monitor
	// posted says that a turn is queued, the last time at postedAt.
	posted   bool
	postedAt int64
	// turning: a turn is running.
	turning bool
	// postedSince is when it was first, and lag for how long the last one was; both
	// in time without stalls, which are counted elsewhere.
	postedSince, lag time.Duration
}

func newGroup(s *Services, run Executor) *group {
	g := &group{services: s, run: run, log: s.cfg.Logger, byID: map[ID]*Monitor{}}
	g.doTurn = g.turn
	g.nextDue.Store(math.MaxInt64)
	return g
}

// add puts a target under monitoring; added is false when it is already.
func (g *group) add(id ID, attach func(m *Monitor)) (m *Monitor, added bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil, false, ErrStopped
	}
	if m := g.byID[id]; m != nil {
		return m, false, nil
	}
	s := g.services
	armed := max(1, s.now())
	m = &Monitor{
		handle: Handle{last: g.stamp(), clock: s.clock},
		group:  g, id: id, generation: s.generations.Add(1), index: len(g.targets), seen: -armed,
	}
	m.handle.last.Store(-armed)
	attach(m)
	g.byID[id] = m
	timeout := int64(s.cfg.Timeout)
	g.targets = append(g.targets, watched{m.handle.last, timeout, m})
	g.nextDue.Store(min(g.nextDue.Load(), armed+timeout))
	if g.schedule != nil {
		g.schedule.add(m)
	}
	return m, true, nil
}

// stampBlock is how many stamps lie side by side: so many that those of very many
// targets are dense, so few that one which is used for long keeps little alive.
const stampBlock = 64

// stamp returns the next stamp. One is never used twice: see Handle.
func (g *group) stamp() *atomic.Int64 {
	if len(g.stamps) == 0 {
		g.stamps = make([]atomic.Int64, stampBlock)
	}
	stamp := &g.stamps[0]
	g.stamps = g.stamps[1:]
	return stamp
}

func (g *group) find(id ID) *Monitor {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.byID[id]
}

// endLocked decides a monitor and takes it off all lists; false: it was decided before.
func (g *group) endLocked(m *Monitor, s State) bool {
	if !m.decide(s) {
		return false
	}
	delete(g.byID, m.id)
	last := len(g.targets) - 1
	g.targets[m.index] = g.targets[last]
	g.targets[m.index].m.index = m.index
	g.targets[last] = watched{}
	g.targets = g.targets[:last]
	if g.schedule != nil {
		g.schedule.remove(m)
	}
	return true
}

func (g *group) cancel(m *Monitor) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.endLocked(m, Canceled)
}

func (g *group) unmonitor(id ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.byID[id]
	return m != nil && g.endLocked(m, Canceled)
}

// stop cancels all; nothing is added or reported after it.
func (g *group) stop() {
	g.services.leave(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopped = true
	for len(g.targets) > 0 {
		g.endLocked(g.targets[len(g.targets)-1].m, Canceled)
	}
}

// failed counts a refusal.
func (g *group) failed(m *Monitor, err error) {
	threshold := g.services.cfg.FailureThreshold
	if err == nil || threshold < 0 || !g.services.cfg.Refused(err) {
		return
	}
	g.mu.Lock()
	if m.handle.last.Load() > m.refusedAt {
		m.refusals = 0
	}
	m.refusals++
	m.refusedAt = g.services.now()
	post := false
	if m.refusals >= threshold && m.running() {
		g.refused = append(g.refused, m)
		g.nextDue.Store(min(g.nextDue.Load(), m.refusedAt))
		post = g.postLocked(m.refusedAt)
	}
	g.mu.Unlock()
	if post {
		g.run(g.doTurn)
	}
}

// tick is the sweeper's: it queues a turn when a request is to be sent, or a
// target is late.
func (g *group) tick(now, stall, ticks int64) {
	if g.schedule == nil && stall == 0 && now < g.nextDue.Load() {
		return
	}
	g.mu.Lock()
	if stall > 0 {
		g.excuseLocked(now, stall)
	}
	if !g.judging && now >= g.nextDue.Load() {
		g.judging = g.sweepLocked(now)
	}
	work := g.judging || len(g.refused) > 0
	if g.schedule != nil && g.schedule.advance(ticks) {
		work = true
	}
	post := work && g.postLocked(now)
	g.mu.Unlock()
	if post {
		g.run(g.doTurn)
	}
}

// excuseLocked moves all deadlines after a stall.
func (g *group) excuseLocked(now, stall int64) {
	timeout, interval := int64(g.services.cfg.Timeout), int64(g.services.cfg.Interval)
	for i := range g.targets {
		g.targets[i].excuse(now, stall, timeout, interval)
	}
	g.nextDue.Store(now)
}

// sweepLocked finds the first deadline, and says whether it is over. Heartbeats
// only move deadlines, to a timeout from now at least, so that nobody need be
// looked at before the first.
func (g *group) sweepLocked(now int64) bool {
	timeout := int64(g.services.cfg.Timeout)
	next := now + timeout
	for i := range g.targets {
		next = min(next, g.targets[i].deadline(timeout))
	}
	late := next <= now
	if len(g.refused) > 0 {
		next = min(next, now)
	}
	g.nextDue.Store(next)
	return late
}
