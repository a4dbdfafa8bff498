package jobmaster_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
)

// target is the simulated source and target. Records are numbers from 0; what
// becomes of one depends on it alone. A split is a range of them.
type target struct {
	guarantee connector.Guarantee
	records   int
	expected  connector.Counters

	registered map[connector.SplitID]bool
	// positions are the rows that a target of the kind WithPosition keeps.
	positions map[connector.SplitID]*connector.SplitState
	// rows counts how often each record is in the target.
	rows map[int]int
	// files are what attempts of a Staged target have made durable.
	files    map[string][]int
	finished bool
	// doneTwice counts commits that call a split done that is done already.
	doneTwice int
}

func newTarget(g connector.Guarantee, records int) *target {
	t := &target{
		guarantee: g, records: records, registered: map[connector.SplitID]bool{},
		positions: map[connector.SplitID]*connector.SplitState{}, rows: map[int]int{}, files: map[string][]int{},
	}
	for r := range records {
		t.expected = t.expected.Add(countersOf(r))
	}
	return t
}

// countersOf is the fate of a record.
func countersOf(r int) connector.Counters {
	c := connector.Counters{Read: 1}
	switch r % 11 {
	case 3:
		c.Filtered = 1
	case 5:
		c.Dirty = 1
	case 7:
		c.Merged = 1
	case 9:
		c.Refused = 1
	default:
		c.Written = 1
	}
	return c
}

func written(r int) bool { return countersOf(r).Written == 1 }

// bounds are a split's records, as its spec has them.
func bounds(s connector.Split) (from, to int) {
	if _, err := fmt.Sscanf(s.Spec, "%d-%d", &from, &to); err != nil {
		panic(err)
	}
	return from, to
}

// enumerate cuts the next splits; asked again, it cuts others.
func (tg *target) enumerate(t *rapid.T, e jobmaster.Enumerate) connector.Enumeration {
	from := 0
	if e.Cursor != "" {
		if _, err := fmt.Sscanf(string(e.Cursor), "%d", &from); err != nil {
			t.Fatal(err)
		}
	}
	var found connector.Enumeration
	id := e.First
	for range rapid.IntRange(0, 3).Draw(t, "splits found") {
		to := min(tg.records, from+rapid.IntRange(0, 6).Draw(t, "records of the split"))
		found.Splits = append(found.Splits, connector.Split{ID: id, Spec: fmt.Sprintf("%d-%d", from, to)})
		from, id = to, id+1
	}
	if found.Done = from == tg.records && rapid.Bool().Draw(t, "that was all"); !found.Done {
		found.Next = connector.Cursor(fmt.Sprint(from))
	}
	return found
}

func (tg *target) register(t *rapid.T, s connector.Split) {
	if tg.finished {
		t.Fatal("register in a finished run")
	}
	tg.registered[s.ID] = true
	if tg.guarantee == connector.WithPosition && tg.positions[s.ID] == nil {
		tg.positions[s.ID] = &connector.SplitState{Split: s.ID}
	}
}

func (tg *target) states() []connector.SplitState {
	if tg.guarantee != connector.WithPosition {
		return nil
	}
	var states []connector.SplitState
	for id := connector.SplitID(0); int(id) < len(tg.positions); id++ {
		states = append(states, *tg.positions[id])
	}
	return states
}

// finish makes files visible, or deletes the positions; it is idempotent.
func (tg *target) finish(t *rapid.T, states []connector.SplitState) {
	if tg.finished {
		return
	}
	tg.finished = true
	for _, st := range states {
		if row := tg.positions[st.Split]; row != nil && !row.Done {
			t.Fatalf("finish while the target does not call split %d done", st.Split)
		}
		for _, s := range st.Segments {
			for _, r := range tg.files[s.File][s.Offset : s.Offset+s.Length] {
				tg.rows[r]++
			}
		}
	}
	clear(tg.positions)
}

// attempt is one try at a split. It may go on when nobody waits for it any
// more: its worker was lost, or the whole job has crashed.
type attempt struct {
	w     *world
	slot  int
	split connector.Split
	token connector.Token
	state connector.SplitState

	claimed, stopped, over bool
	// deaf says that the machine has been told that the attempt is over.
	deaf bool
	// queue are its messages that have not been delivered.
	queue []jobmaster.Event
}

func (a *attempt) say(e jobmaster.Event) { a.queue = append(a.queue, e) }

// die ends the attempt for a reason; nil when it is done or was stopped.
func (a *attempt) die(f *jobmaster.Failure) {
	a.over = true
	a.say(jobmaster.AttemptEnded{Slot: a.slot, Split: a.split.ID, Token: a.token, Failure: f})
}

// row is the target's row of the split while the attempt owns it.
func (a *attempt) row() *connector.SplitState {
	if row := a.w.target.positions[a.split.ID]; row != nil && row.Token == a.token {
		return row
	}
	return nil
}

// claim makes the attempt the split's owner.
func (a *attempt) claim() {
	if a.w.target.guarantee == connector.WithPosition {
		row := a.w.target.positions[a.split.ID]
		if row == nil || row.Token > a.token {
			a.die(&jobmaster.Failure{Class: connector.Fenced, Message: "fenced"})
			return
		}
		row.Token = a.token
		a.state = *row
	}
	a.claimed = true
	a.state.Token = a.token
	if a.state.Done {
		a.say(jobmaster.Report{State: a.state})
		a.die(nil)
	}
}

// commit makes some more records durable with the position after them, and
// tells it unless it is to be lost.
func (a *attempt) commit(n int, lost bool) {
	tg := a.w.target
	from, to := bounds(a.split)
	at := from
	if a.state.Position != "" {
		if _, err := fmt.Sscanf(string(a.state.Position), "%d", &at); err != nil {
			panic(err)
		}
	}
	until := min(to, at+n)
	next := a.state
	next.CommitNo++
	next.Position, next.Done = connector.Position(fmt.Sprint(until)), until == to
	var records []int
	for r := at; r < until; r++ {
		next.Counters = next.Counters.Add(countersOf(r))
		if written(r) {
			records = append(records, r)
		}
	}
	switch tg.guarantee {
	case connector.WithPosition:
		row := a.row()
		if row == nil {
			a.die(&jobmaster.Failure{Class: connector.Fenced, Message: "fenced"})
			return
		}
		if row.Done {
			tg.doneTwice++
		}
		*row = next
		for _, r := range records {
			tg.rows[r]++
		}
	case connector.Staged:
		file := fmt.Sprintf("%d-%s", a.split.ID, a.token)
		offset := len(tg.files[file])
		tg.files[file] = append(tg.files[file], records...)
		segments := append([]connector.Segment{}, a.state.Segments...)
		next.Segments = append(segments, connector.Segment{File: file, Offset: int64(offset), Length: int64(len(records))})
	default:
		for _, r := range records {
			tg.rows[r]++
		}
	}
	a.state = next
	if lost {
		a.die(&jobmaster.Failure{Class: connector.Retryable, Message: "the reply was lost"})
		return
	}
	a.say(jobmaster.Report{State: next})
	if next.Done {
		a.die(nil)
	}
}
