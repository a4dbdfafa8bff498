package database

import "github.com/leatdata/leat/connector"

// ErrWriterOver is the error of a writer that is used after its end.
var ErrWriterOver = connector.Errorf(connector.Permanent, "the writer has failed or is closed")

// Progress is how far a writer is within its split.
type Progress struct {
	// Durable is the state as it was committed last.
	Durable connector.SplitState
	// Pending counts what is judged and not committed.
	Pending connector.Counters
}

// Next is the state to commit: the engine's, with the attempt's token, the next
// commit number, and the counters that the writer keeps.
func (p *Progress) Next(state connector.SplitState, a connector.Attempt) connector.SplitState {
	before := p.Durable
	state.Split, state.Token, state.CommitNo = a.Split.ID, a.Token, before.CommitNo+1
	state.Counters.Written = before.Counters.Written + p.Pending.Written
	state.Counters.Merged = before.Counters.Merged + p.Pending.Merged
	state.Counters.Refused = before.Counters.Refused + p.Pending.Refused
	state.Counters.BytesWritten = before.Counters.BytesWritten + p.Pending.BytesWritten
	return state
}

// Committed notes that a state is durable.
func (p *Progress) Committed(state connector.SplitState) {
	p.Durable, p.Pending = state, connector.Counters{}
}
