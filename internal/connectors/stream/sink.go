package stream

import (
	"context"
	"io"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Sink lets records vanish or prints them.
type Sink struct {
	out io.Writer // nil when records are not printed

	mu     sync.Mutex
	tokens map[connector.SplitID]connector.Token
	// outMu is held for a whole write, so that lines of parallel writers stay whole.
	outMu sync.Mutex
}

// NewSink returns a sink that prints to out, or nowhere when out is nil.
func NewSink(out io.Writer) *Sink {
	return &Sink{out: out, tokens: make(map[connector.SplitID]connector.Token)}
}

// Resolve takes the columns as they come.
func (s *Sink) Resolve(_ context.Context, in *batch.Schema) (*connector.Plan, error) {
	plan := &connector.Plan{Schema: in, Guarantee: connector.Staged}
	if s.out != nil {
		plan.Guarantee, plan.Stream = connector.AtLeastOnce, true
		plan.Doubts = []string{"what was printed before a crash may be printed again"}
	}
	return plan, nil
}

// Prepare has nothing to prepare: the sink knows no runs.
func (s *Sink) Prepare(ctx context.Context, _ connector.Run) error { return ctx.Err() }

// Register has nowhere to note splits.
func (s *Sink) Register(ctx context.Context, _ connector.Run, _ []connector.Split) error {
	return ctx.Err()
}

// Claim goes on from the engine's state. Older attempts within this process
// are fenced; those of another have nothing that they could spoil.
func (s *Sink) Claim(ctx context.Context, attempt connector.Attempt) (connector.Writer, connector.SplitState, error) {
	if err := ctx.Err(); err != nil {
		return nil, connector.SplitState{}, err
	}
	s.mu.Lock()
	newest := max(s.tokens[attempt.Split.ID], attempt.State.Token)
	if attempt.Token >= newest {
		s.tokens[attempt.Split.ID] = attempt.Token
	}
	s.mu.Unlock()
	if attempt.Token < newest {
		return nil, connector.SplitState{}, connector.Errorf(connector.Fenced, "split %d belongs to attempt %s", attempt.Split.ID, newest)
	}
	state := attempt.State
	state.Split, state.Token = attempt.Split.ID, attempt.Token
	if state.Done {
		return nil, state, nil
	}
	return &writer{sink: s, base: state}, state, nil
}

// owns reports whether the token is still the newest of its split.
func (s *Sink) owns(split connector.SplitID, token connector.Token) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[split] == token
}

// States is nil: the engine's states are the only ones.
func (s *Sink) States(context.Context, connector.Run) ([]connector.SplitState, error) {
	return nil, nil
}

// Finish has nothing to make visible.
func (s *Sink) Finish(ctx context.Context, _ connector.Run, _ []connector.SplitState) error {
	return ctx.Err()
}

// Close does nothing: the sink holds nothing.
func (s *Sink) Close() error { return nil }
