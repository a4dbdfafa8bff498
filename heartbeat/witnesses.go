package heartbeat

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kinds is which of the two heartbeats are in use.
type Kinds uint8

// The two kinds; both are Both.
const (
	RPC     Kinds = 1
	Counter Kinds = 2
	Both          = RPC | Counter
)

// validate refuses what would be no witness at all, and declare nobody dead.
func (k Kinds) validate() error {
	if k != RPC && k != Counter && k != Both {
		return fmt.Errorf("the kinds of heartbeats are %d: give RPC, Counter or Both", uint8(k))
	}
	return nil
}

// Health is what a master thinks of a worker.
type Health uint8

// What a worker can be.
const (
	// Unknown: it has not registered.
	Unknown Health = iota
	// Alive: it gets work.
	Alive
	// Suspect: it cannot be reached, but its counter moves: it keeps its work, and
	// gets no more.
	Suspect
	// Dead: its work is given to others, and it is not let back in but by
	// registering anew.
	Dead
)

// String names the health.
func (h Health) String() string {
	switch h {
	case Unknown:
		return "unknown"
	case Alive:
		return "alive"
	case Suspect:
		return "suspect"
	case Dead:
		return "dead"
	default:
		return fmt.Sprintf("Health(%d)", uint8(h))
	}
}

// Verdict is what the two witnesses say together. StaleCounter flags a worker that
// answers, but whose counter is lost: something is wrong between it and the store.
type Verdict struct {
	Health       Health
	StaleCounter bool
}

// String is for logs.
func (v Verdict) String() string {
	if v.StaleCounter {
		return v.Health.String() + " (stale counter)"
	}
	return v.Health.String()
}

// Testimony is the kind of an [Input] of [Witnesses].
type Testimony uint8

// The inputs.
const (
	// Registered: the worker has registered, and was accepted.
	Registered Testimony = iota + 1
	// Reached: a heartbeat came from it after it was lost.
	Reached
	// Unreachable: its monitor has timed out.
	Unreachable
	// CounterMoves and CounterStands: what its counter does; CounterVanished: it is
	// not in the store any more.
	CounterMoves
	CounterStands
	CounterVanished
	// Left: the worker is gone for good, and forgotten. Who is dead is remembered
	// until then, so that it is not let back in.
	Left
)

// Testimony is what an event of the counters says to [Witnesses].
func (k CounterEventKind) Testimony() Testimony {
	switch k {
	case CounterLost:
		return CounterStands
	case CounterGone:
		return CounterVanished
	default:
		return CounterMoves
	}
}

// Input is what becomes known of one worker.
type Input struct {
	Worker ID
	Kind   Testimony
}

// Change is a verdict that has changed.
type Change struct {
	Worker   ID
	From, To Verdict
}

// Witnesses judge workers by the heartbeats that a master has of them: a pure state
// machine without clock, goroutine or logger. The table, with both kinds:
//
//	rpc   counter   verdict
//	ok    moves     alive
//	ok    stands    alive, the counter is flagged as stale
//	lost  moves     suspect, and dead after heartbeat.suspect-limit
//	lost  stands    dead
//
// The limit runs from when rpc was found lost. A worker counts its own ([Fence])
// from when it last heard its leader, which is a timeout earlier: it has stopped
// before it is given up. Times are of one clock of the master's that does not count
// its own stalls: [Services.Awake].
type Witnesses struct {
	kinds   Kinds
	limit   time.Duration
	workers map[ID]*witnessed
}

// witnessed is one worker.
type witnessed struct {
	registered bool
	// unreachable and stands are what the witnesses say, dead is final.
	unreachable, stands, dead bool
	// lostAt is when rpc was found lost.
	lostAt  time.Duration
	verdict Verdict
}

// NewWitnesses makes a state machine that knows no worker. What is zero in cfg has
// its default.
func NewWitnesses(cfg Config, kinds Kinds) (*Witnesses, error) {
	cfg = cfg.WithDefaults()
	if err := errors.Join(kinds.validate(), cfg.Validate()); err != nil {
		return nil, notMade("witnesses", "", err)
	}
	return &Witnesses{kinds: kinds, limit: cfg.SuspectLimit, workers: map[ID]*witnessed{}}, nil
}

// Step takes one input, and returns the verdict when it has changed.
func (w *Witnesses) Step(now time.Duration, in Input) (c Change, changed bool) {
	e := w.workers[in.Worker]
	if in.Kind == Left || in.Kind == CounterVanished && e != nil && !e.registered {
		delete(w.workers, in.Worker)
		if e == nil || e.verdict.Health == Unknown {
			return Change{}, false
		}
		return Change{in.Worker, e.verdict, Verdict{}}, true
	}
	if e == nil {
		if in.Kind != Registered && in.Kind != CounterMoves {
			return Change{}, false
		}
		e = &witnessed{}
		w.workers[in.Worker] = e
	}
	switch in.Kind {
	case Registered:
		// Its counter is expected anew: see CounterTally.Expect.
		*e = witnessed{registered: true, verdict: e.verdict}
	case Reached:
		e.unreachable = false
	case Unreachable:
		if !e.unreachable {
			e.unreachable, e.lostAt = true, now
		}
	case CounterMoves:
		e.stands = false
	case CounterStands, CounterVanished:
		e.stands = true
	}
	return w.judge(now, in.Worker, e)
}

// Tick returns, ordered by worker, whose time as a suspect is over.
func (w *Witnesses) Tick(now time.Duration) []Change {
	var changes []Change
	for id, e := range w.workers {
		if e.verdict.Health != Suspect {
			continue
		}
		if c, changed := w.judge(now, id, e); changed {
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		if a.Worker < b.Worker {
			return -1
		}
		return 1
	})
	return changes
}

// Next is when Tick has something to say at the earliest; ok is false while there
// is no suspect.
func (w *Witnesses) Next() (at time.Duration, ok bool) {
	for _, e := range w.workers {
		if e.verdict.Health == Suspect && (!ok || e.lostAt+w.limit < at) {
			at, ok = e.lostAt+w.limit, true
		}
	}
	return at, ok
}

// Verdict is what is thought of a worker now.
func (w *Witnesses) Verdict(id ID) Verdict {
	if e := w.workers[id]; e != nil {
		return e.verdict
	}
	return Verdict{}
}

func (w *Witnesses) judge(now time.Duration, id ID, e *witnessed) (Change, bool) {
	before := e.verdict
	e.verdict = w.verdict(now, e)
	e.dead = e.dead || e.verdict.Health == Dead
	return Change{id, before, e.verdict}, before != e.verdict
}

// verdict is the table.
func (w *Witnesses) verdict(now time.Duration, e *witnessed) Verdict {
	rpcLost := w.kinds&RPC != 0 && e.unreachable
	counterLost := w.kinds&Counter != 0 && e.stands
	switch {
	case !e.registered:
		return Verdict{Health: Unknown}
	case e.dead:
		return Verdict{Health: Dead}
	case w.kinds == Both && !rpcLost:
		return Verdict{Health: Alive, StaleCounter: counterLost}
	case w.kinds == Both && !counterLost && now < e.lostAt+w.limit:
		return Verdict{Health: Suspect}
	case rpcLost || counterLost:
		return Verdict{Health: Dead}
	default:
		return Verdict{Health: Alive}
	}
}
