package jobmaster

import "github.com/leatdata/leat/connector"

// Outcome is how a job ended, or that it has not.
type Outcome string

// The outcomes.
const (
	Unfinished    Outcome = ""
	Done          Outcome = "done"
	DoneWithDirty Outcome = "done_with_dirty"
	Failed        Outcome = "failed"
	Stopped       Outcome = "stopped"
)

// State is what has to survive a crash: the splits with the cursor of their
// enumeration, and what is durable of each.
type State struct {
	Cursor     connector.Cursor       `json:"cursor"`
	Enumerated bool                   `json:"enumerated"`
	Splits     []connector.Split      `json:"splits"`
	States     []connector.SplitState `json:"states"`
	// Formats are what was measured of each split, as of its state.
	Formats []connector.FormatState `json:"formats,omitempty"`
	// Checkpoints counts the states stored for their reports' sake.
	Checkpoints int64 `json:"checkpoints"`
	// Finishing says that all is done and checked, so that only the sink's
	// Finish is left.
	Finishing bool    `json:"finishing,omitempty"`
	Outcome   Outcome `json:"outcome,omitempty"`
	// Failure is the reason of a Failed outcome.
	Failure *Failure `json:"failure,omitempty"`
}

// Totals returns the sum of the durable counters.
func (s *State) Totals() connector.Counters {
	var sum connector.Counters
	for i := range s.States {
		sum = sum.Add(s.States[i].Counters)
	}
	return sum
}
