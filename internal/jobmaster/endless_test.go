package jobmaster

import (
	"testing"

	"github.com/leatdata/leat/connector"
)

// TestEndlessSourceIsNoEndlessList answers every Enumerate at once, a hundred
// splits each, while the slot stays busy: looking for more stops, and goes on
// as splits are done.
func TestEndlessSourceIsNoEndlessList(t *testing.T) {
	m := New(Config{Epoch: 1, Guarantee: connector.Staged, Limits: Limits{Records: -1, Percentage: -1}}, State{})
	var assigned Assign
	known := 0
	var carry func(effects []Effect)
	carry = func(effects []Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case Enumerate:
				found := connector.Enumeration{Next: "more"}
				for range 100 {
					found.Splits = append(found.Splits, connector.Split{ID: connector.SplitID(known)})
					known++
				}
				carry(m.Step(SplitsFound{Enumeration: found}))
			case Store:
				carry(m.Step(Stored{Version: e.Version}))
			case Register:
				ids := make([]connector.SplitID, len(e.Splits))
				for i, s := range e.Splits {
					ids[i] = s.ID
				}
				carry(m.Step(Registered{Splits: ids}))
			case Assign:
				assigned = e
			}
		}
	}
	carry(m.Start())
	carry(m.Step(SlotUp{Slot: 0}))
	before := known
	if before < waitingSplits || before > waitingSplits+200 {
		t.Fatalf("%d splits are known", before)
	}
	for range 300 {
		done := connector.SplitState{Split: assigned.Split.ID, Token: assigned.Token, CommitNo: 1, Done: true}
		carry(m.Step(Report{State: done}))
		carry(m.Step(AttemptEnded{Slot: 0, Split: done.Split, Token: done.Token}))
	}
	if grown := known - before; grown < 200 || grown > 500 {
		t.Errorf("%d splits were found while 300 were done", grown)
	}
}
