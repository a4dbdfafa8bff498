package files

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// encoded is the text that an attempt has made of its records, and the counts
// since its last commit.
type encoded struct {
	attempt connector.Attempt
	state   connector.SplitState // what is durable
	encoder Encoder
	packer  Packer // the encoder, when it is one
	buf     []byte
	rows    int64
	bytes   int64
}

// encoded begins an attempt at its durable state.
func (s *Sink) encoded(a connector.Attempt, state connector.SplitState) encoded {
	e := encoded{attempt: a, state: state, encoder: s.cfg.Format.NewEncoder(s.schema)}
	e.packer, _ = e.encoder.(Packer)
	return e
}

// add appends the text of a batch's records.
func (e *encoded) add(b *batch.Batch) {
	before, rejected := len(e.buf), 0
	e.buf = e.encoder.Encode(e.buf, b, func(row int, column, reason string) {
		rejected++
		e.attempt.Reject(b, row, column, batch.CauseConversion, reason)
	})
	e.rows += int64(b.Rows - rejected)
	if e.packer != nil {
		e.bytes += e.packer.ValueBytes()
		return
	}
	e.bytes += int64(len(e.buf) - before)
}

// pack appends what a packer has held back.
func (e *encoded) pack() {
	if e.packer != nil {
		e.buf = e.packer.Pack(e.buf)
	}
}

// release ends the use of the encoder.
func (e *encoded) release() {
	if e.packer != nil {
		e.packer.Close()
		e.packer, e.encoder = nil, nil
	}
}

// committed returns the engine's state for a commit with what the sink says of
// it, and begins to count anew.
func (e *encoded) committed(state connector.SplitState) connector.SplitState {
	before := &e.state
	state.Split, state.Token, state.CommitNo = before.Split, before.Token, before.CommitNo+1
	state.Counters.Written = before.Counters.Written + e.rows
	state.Counters.Merged, state.Counters.Refused = before.Counters.Merged, before.Counters.Refused
	state.Counters.BytesWritten = before.Counters.BytesWritten + e.bytes
	e.rows, e.bytes = 0, 0
	return state
}
