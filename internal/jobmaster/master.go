package jobmaster

import (
	"fmt"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/ratelimit"
)

// phase is where the job stands; see the package comment.
type phase uint8

const (
	fresh phase = iota
	restoring
	runningPhase
	checking
	finishing
	stopping
	storingEnd
	ended
)

// Master is the state machine of one job. It belongs to one goroutine.
type Master struct {
	cfg   Config
	phase phase
	now   time.Duration

	cursor     connector.Cursor
	enumerated bool
	splits     []*split
	free       []int
	tokens     uint32

	enumerate, register, read, finish ask

	storing bool
	version uint64
	// foundAt maps a stored version to the number of splits that it holds.
	foundAt     map[uint64]int
	storedCount int
	// changed says that reports came in after the last stored state.
	changed     bool
	lastStore   time.Duration
	checkpoints int64
	// finishReady says that all is done and checked, finishStored that a stored
	// state says so.
	finishReady, finishStored bool

	ledger *ratelimit.Ledger
	// fenced are the slots of lost workers, and when they must have stopped.
	fenced    map[int]time.Duration
	collector collector

	outcome Outcome
	failure *Failure
	out     []Effect
}

// New returns the machine of a job that goes on from a state; a zero State
// starts it.
func New(cfg Config, from State) *Master {
	m := &Master{
		cfg: cfg.WithDefaults(), cursor: from.Cursor, enumerated: from.Enumerated,
		checkpoints: from.Checkpoints, foundAt: map[uint64]int{}, finishReady: from.Finishing, finishStored: from.Finishing,
	}
	for i, v := range from.Splits {
		s := &split{value: v, state: connector.SplitState{Split: v.ID}, status: stored}
		if i < len(from.States) {
			s.state = from.States[i]
		}
		if i < len(from.Formats) {
			s.format = from.Formats[i]
		}
		s.format = s.format.At(s.state)
		m.splits = append(m.splits, s)
	}
	m.storedCount = len(m.splits)
	m.limit()
	return m
}

// Start returns the first effects.
func (m *Master) Start() []Effect {
	switch {
	case m.finishReady:
		m.phase = finishing
	case len(m.splits) > 0 && m.cfg.Guarantee == connector.WithPosition:
		// Splits that were stored but not registered before the crash have no
		// row yet: register all again, which leaves known ones as they are.
		m.phase = restoring
	default:
		m.phase = runningPhase
		m.adoptStored()
	}
	m.advance()
	return m.take()
}

// Step takes an event and returns what to do.
func (m *Master) Step(e Event) []Effect {
	if m.phase == ended {
		return nil
	}
	switch e := e.(type) {
	case Tick:
		m.now = e.Now
		m.fence()
		m.ledger.Tick(m.now)
		m.grants()
		m.gather()
	case SlotUp:
		m.slotUp(e.Slot)
	case WorkerLost:
		m.workerLost(e.Slots)
	case SplitsFound:
		m.splitsFound(e.Enumeration)
	case Stored:
		m.stored(e.Version)
	case Registered:
		m.registered(e.Splits)
	case TargetStates:
		m.targetStates(e.States)
	case Report:
		m.report(e.State, e.Format)
	case Progress:
		if s := m.attempt(e.Split, e.Token); s != nil {
			s.live = e.Counters
		}
	case AttemptEnded:
		m.attemptEnded(e)
	case Finished:
		m.finished()
	case EffectFailed:
		m.effectFailed(e)
	case Limit:
		if m.ledger.Change(e.Limit) != nil {
			return nil // whoever sends it has looked before
		}
	case Demand:
		m.ledger.Report(e.Now, e.Slot, e.Report)
		return nil // it changes nothing before the next Tick
	case Numbers:
		m.numbers(e.Slot, e.State)
		return nil
	case Cancel:
		m.stop(Stopped, nil)
	default:
		panic(fmt.Sprintf("jobmaster: unknown event %T", e))
	}
	m.advance()
	return m.take()
}

// Totals returns the newest counters of the job, durable or not.
func (m *Master) Totals() connector.Counters {
	var sum connector.Counters
	for _, s := range m.splits {
		sum = sum.Add(s.counters())
	}
	return sum
}

// Checkpoints returns the number of states stored for their reports' sake.
func (m *Master) Checkpoints() int64 { return m.checkpoints }

// Enumerated reports whether all splits are known.
func (m *Master) Enumerated() bool { return m.enumerated }

// Splits calls yield with each split, its newest counters and whether it is done.
func (m *Master) Splits(yield func(s connector.Split, c connector.Counters, done bool) bool) {
	for _, s := range m.splits {
		if !yield(s.value, s.counters(), s.status == done) {
			return
		}
	}
}

func (m *Master) emit(e Effect) { m.out = append(m.out, e) }

func (m *Master) take() []Effect {
	out := m.out
	m.out = nil
	return out
}

// attempt returns the split when that token's attempt runs, or nil.
func (m *Master) attempt(id connector.SplitID, token connector.Token) *split {
	if id < 0 || int(id) >= len(m.splits) {
		return nil
	}
	if s := m.splits[id]; s.status == running && s.token == token {
		return s
	}
	return nil
}

func (m *Master) states() []connector.SplitState {
	states := make([]connector.SplitState, len(m.splits))
	for i, s := range m.splits {
		states[i] = s.state
	}
	return states
}

func (m *Master) formats() []connector.FormatState {
	formats := make([]connector.FormatState, len(m.splits))
	for i, s := range m.splits {
		formats[i] = s.format
	}
	return formats
}
