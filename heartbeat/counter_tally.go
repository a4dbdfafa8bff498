package heartbeat

import (
	"cmp"
	"slices"
)

// CounterTally tells from what a master reads, once per check period, whose
// counter moves: a pure state machine, in which time is the number of reads. No
// clock of a worker's is compared with one of ours, and values are compared by
// change only: a worker that starts anew may count from anywhere.
type CounterTally[W ~string] struct {
	cfg     CounterConfig
	workers map[W]*counted
	// widest is the largest stretch that was ever in force.
	widest int
}

// counted is one worker's counter.
type counted struct {
	value uint64
	// present: it was in the store at the last read.
	present bool
	lost    bool
	// misses is the reads since the last change, gap those between the last two.
	misses, gap int
	// doubted: it was given more reads, because many were late at once.
	doubted bool
}

// NewCounterTally makes a tally of no workers. What is zero in cfg has its default.
func NewCounterTally[W ~string](cfg CounterConfig) (*CounterTally[W], error) {
	cfg = cfg.WithDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, notMade("counters' tally", "", err)
	}
	return &CounterTally[W]{cfg: cfg, workers: map[W]*counted{}, widest: 1}, nil
}

// Expect starts to count a worker that has registered, as if its counter had been
// seen just now. One that never appears is lost as well.
func (t *CounterTally[W]) Expect(worker W) {
	if e := t.workers[worker]; e != nil && !e.lost {
		return
	}
	t.workers[worker] = &counted{}
}

// Workers is how many counters there are that are not lost: what the workers are
// told, so that they choose their interval; see [CounterWatch.Workers].
func (t *CounterTally[W]) Workers() int {
	n := 0
	for _, e := range t.workers {
		if !e.lost {
			n++
		}
	}
	return n
}

// Read takes one read that succeeded, and returns what it shows, ordered by worker.
func (t *CounterTally[W]) Read(counters map[W]uint64) []CounterEvent[W] {
	var events []CounterEvent[W]
	t.widest = max(t.widest, t.cfg.stretch(len(counters)))
	for w, value := range counters {
		e := t.workers[w]
		if e == nil {
			e = &counted{}
			t.workers[w] = e
		}
		if k := e.read(value, t.widest); k != 0 {
			events = append(events, CounterEvent[W]{w, k})
		}
	}
	for w, e := range t.workers {
		if _, ok := counters[w]; ok {
			continue
		}
		if e.lost {
			delete(t.workers, w)
			events = append(events, CounterEvent[W]{w, CounterGone})
			continue
		}
		e.present = false
		e.misses++
	}
	for _, w := range t.judge(t.cfg.stretch(len(counters))) {
		events = append(events, CounterEvent[W]{w, CounterLost})
	}
	slices.SortFunc(events, func(a, b CounterEvent[W]) int { return cmp.Compare(a.Worker, b.Worker) })
	return events
}

// judge finds who has missed as many reads as are allowed. When many have, those
// who do for the first time are allowed as many more, once.
func (t *CounterTally[W]) judge(stretch int) (lost []W) {
	allowed := func(e *counted) int { return t.cfg.MaxMisses * max(stretch, e.gap) }
	var late []W
	waiting, all := 0, 0
	for w, e := range t.workers {
		switch {
		case e.lost:
			continue
		case e.doubted:
			waiting++
			if e.misses >= 2*allowed(e) {
				lost = append(lost, w)
			}
		// Workers write at different moments: those that stop together are late
		// within one read of each other.
		case e.misses >= max(1, allowed(e)-1):
			late = append(late, w)
		}
		all++
	}
	doubt := many(len(late)+waiting, all)
	for _, w := range late {
		e := t.workers[w]
		if e.doubted = doubt; !doubt && e.misses >= allowed(e) {
			lost = append(lost, w)
		}
	}
	for _, w := range lost {
		t.workers[w].lost = true
	}
	return lost
}

// read takes a value that is there. The gap between two changes is remembered as
// far as a stretched interval explains it: a worker that has not heard yet that it
// may write more often is not late.
func (e *counted) read(value uint64, widest int) CounterEventKind {
	if e.present && value == e.value {
		if !e.lost {
			e.misses++
		}
		return 0
	}
	was := *e
	*e = counted{value: value, present: true, gap: was.gap}
	switch {
	case was.lost:
		return CounterMoved
	case !was.present:
		return CounterSeen
	}
	e.gap = min(was.misses+1, widest)
	return 0
}
