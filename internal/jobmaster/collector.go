package jobmaster

import (
	"maps"
	"slices"
	"time"

	"github.com/leatdata/leat/connector"
)

const (
	// staleRounds is the age, in rounds, above which numbers are stale.
	staleRounds = 2
	// mostStale is the number of rounds in a row with stale numbers of one live
	// subtask that fail the job.
	mostStale = 100
	// limitedInterval is the longest time between two rounds while a limit is on.
	limitedInterval = time.Second
)

// collector sums what the subtasks have measured, in rounds. It lives as long as
// its leader: rounds without one are not counted, and a clock that has jumped
// makes one round.
type collector struct {
	round    uint64
	at       time.Duration
	subtasks map[int]*subtask
	// gone is the sum of those that were lost.
	gone connector.FormatState
	// shares are the restored states by slot, until it has taken them over; made
	// says that they were found.
	shares []connector.FormatState
	given  []bool
	made   bool
}

// subtask is what the collector knows of one.
type subtask struct {
	state connector.FormatState
	// round is when its numbers came last, stale how often in a row they were
	// too old.
	round uint64
	stale int
}

func (c *collector) join(slot int) {
	if c.subtasks == nil {
		c.subtasks = map[int]*subtask{}
	}
	if c.subtasks[slot] == nil {
		c.subtasks[slot] = &subtask{round: c.round}
	}
}

func (c *collector) leave(slot int) {
	if s := c.subtasks[slot]; s != nil {
		c.gone = c.gone.Add(s.state)
		c.gone.Rates = connector.Rates{}
		delete(c.subtasks, slot)
	}
}

// sum is the job's.
func (c *collector) sum() connector.FormatState {
	sum := c.gone
	for _, slot := range slices.Sorted(maps.Keys(c.subtasks)) {
		sum = sum.Add(c.subtasks[slot].state)
	}
	for i, share := range c.shares {
		if !c.given[i] {
			sum = sum.Add(share)
		}
	}
	return sum
}

func (m *Master) numbers(slot int, state connector.FormatState) {
	if s := m.collector.subtasks[slot]; s != nil {
		s.state, s.round = state, m.collector.round
	}
}

// gather makes a round when it is time for one.
func (m *Master) gather() {
	c, interval := &m.collector, m.cfg.HeartbeatInterval
	if interval == 0 || m.phase == stopping || m.phase == storingEnd {
		return
	}
	if !m.RateLimit().IsZero() {
		interval = min(interval, limitedInterval)
	}
	if c.round > 0 && m.now-c.at < interval {
		return
	}
	c.round, c.at = c.round+1, m.now
	for _, slot := range slices.Sorted(maps.Keys(c.subtasks)) {
		s := c.subtasks[slot]
		if c.round-s.round <= staleRounds {
			s.stale = 0
			continue
		}
		if s.stale++; s.stale >= mostStale {
			m.fail(connector.Fatal, "the numbers of subtask %d, which is alive, are %d rounds old, and have been stale for %d rounds in a row: no limit of the job could be held by them",
				slot, c.round-s.round, s.stale)
			return
		}
	}
	m.emit(Global{Round: c.round, Sum: c.sum()})
}

// handOver gives what was measured before this start to the slots, once: the
// splits' states go round them, however many there were before.
func (m *Master) handOver() {
	c := &m.collector
	if m.cfg.HeartbeatInterval == 0 || m.phase == fresh || m.phase == restoring {
		return
	}
	if !c.made && len(m.cfg.Adopted) > 0 {
		c.made = true // the subtasks that live have kept their numbers
	}
	if !c.made {
		c.made = true
		c.shares = make([]connector.FormatState, m.cfg.Parallelism)
		c.given = make([]bool, m.cfg.Parallelism)
		for i, s := range m.splits {
			k := i % m.cfg.Parallelism
			c.shares[k] = c.shares[k].Add(s.format)
		}
	}
	for k, given := range c.given {
		s := c.subtasks[k]
		if given || s == nil {
			continue
		}
		c.given[k] = true
		if share := c.shares[k]; share != (connector.FormatState{}) {
			s.state = s.state.Add(share)
			m.emit(Restore{Slot: k, State: share})
		}
	}
}
