package connectortest

import (
	"context"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// store is a target in memory, with a ledger as a database has it.
type store struct {
	mu       sync.Mutex
	rows     []Row
	open     bool
	finished bool
	prepared int
	states   map[connector.SplitID]connector.SplitState
}

// memorySink writes to a store. fault is one thing that it does wrong, "" for
// none; each is named after what it breaks.
type memorySink struct {
	store *store
	fault string
}

func (s *memorySink) Resolve(_ context.Context, in *batch.Schema) (*connector.Plan, error) {
	if s.fault == "resolving writes" {
		s.store.rows = append(s.store.rows, Row{"0", "resolved"})
	}
	return &connector.Plan{Schema: in, Guarantee: connector.WithPosition}, nil
}

func (s *memorySink) Prepare(ctx context.Context, _ connector.Run) error {
	if err := ctx.Err(); err != nil && s.fault != "contexts are ignored" {
		return err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if s.store.finished && s.fault != "a finished run is prepared again" {
		return connector.ErrFinished
	}
	s.store.prepared++
	if s.store.states == nil || s.fault == "preparing again forgets" && s.store.prepared > 1 {
		s.store.states = make(map[connector.SplitID]connector.SplitState)
	}
	s.store.open = true
	return nil
}

func (s *memorySink) Register(ctx context.Context, _ connector.Run, splits []connector.Split) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if !s.store.open {
		return connector.Errorf(connector.Fenced, "not open")
	}
	for _, split := range splits {
		if _, ok := s.store.states[split.ID]; !ok || s.fault == "registering again resets" {
			s.store.states[split.ID] = connector.SplitState{Split: split.ID}
		}
	}
	return nil
}

func (s *memorySink) Claim(ctx context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	if err := ctx.Err(); err != nil {
		return nil, connector.SplitState{}, err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	state, ok := s.store.states[a.Split.ID]
	if s.fault == "claims revive a finished run" {
		state.Split, ok = a.Split.ID, true
	}
	switch {
	case !ok:
		return nil, state, connector.Errorf(connector.Fenced, "not registered")
	case state.Token > a.Token && s.fault != "older tokens claim":
		return nil, state, connector.Errorf(connector.Fenced, "older")
	}
	state.Token = a.Token
	s.store.states[a.Split.ID] = state
	if s.fault == "positions are not kept" {
		state.Position = ""
	}
	if state.Done {
		return nil, state, nil
	}
	return &memoryWriter{sink: s, attempt: a, base: state}, state, nil
}

func (s *memorySink) States(context.Context, connector.Run) ([]connector.SplitState, error) {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	var states []connector.SplitState
	for _, state := range s.store.states {
		if s.fault == "states lie" {
			state.CommitNo++
		}
		states = append(states, state)
	}
	return states, nil
}

func (s *memorySink) Finish(ctx context.Context, _ connector.Run, _ []connector.SplitState) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	if s.fault == "finishing twice adds" && s.store.finished {
		s.store.rows = append(s.store.rows, Row{"0", "finished"})
	}
	s.store.open, s.store.finished, s.store.states = false, true, nil
	return nil
}

func (s *memorySink) Close() error { return nil }

// memoryWriter keeps rows until Commit puts them into the store.
type memoryWriter struct {
	sink    *memorySink
	attempt connector.Attempt
	base    connector.SplitState
	rows    []Row
	bytes   int64
}

func (w *memoryWriter) Write(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, row := range RowsOf(b) {
		if row[1] == "refused" {
			if w.sink.fault != "refused records vanish" {
				w.attempt.Reject(b, i, "v", batch.CauseUntold, "refused")
			}
			continue
		}
		if w.sink.fault == "NULL becomes the empty text" && row[1] == Null {
			row[1] = ""
		}
		w.rows = append(w.rows, row)
		w.bytes += int64(len(row[0]) + len(row[1]))
	}
	if w.sink.fault == "rows show before the commit" {
		w.sink.store.rows = append(w.sink.store.rows, w.rows...)
		w.rows = nil
	}
	return nil
}

func (w *memoryWriter) Flush(ctx context.Context) error { return ctx.Err() }

func (w *memoryWriter) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := ctx.Err(); err != nil {
		return state, err
	}
	s := w.sink.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, ok := s.states[w.base.Split]; (!ok || kept.Token != w.attempt.Token) && w.sink.fault != "tokens do not count" {
		return state, connector.Errorf(connector.Fenced, "newer")
	}
	w.base.CommitNo++
	w.base.Counters.Written += int64(len(w.rows))
	w.base.Counters.BytesWritten += w.bytes
	if w.sink.fault == "commits lose their last row" && len(w.rows) > 1 {
		w.rows = w.rows[:len(w.rows)-1]
	}
	s.rows = append(s.rows, w.rows...)
	w.rows, w.bytes = nil, 0
	state.Split, state.Token, state.CommitNo = w.base.Split, w.attempt.Token, w.base.CommitNo
	state.Counters.Written, state.Counters.BytesWritten = w.base.Counters.Written, w.base.Counters.BytesWritten
	if w.sink.fault == "counters start anew" {
		w.base.Counters.Written = 0
	}
	if s.states == nil {
		s.states = make(map[connector.SplitID]connector.SplitState)
	}
	s.states[w.base.Split] = state
	return state, nil
}

func (w *memoryWriter) Close() error {
	if w.sink.fault == "closing commits" {
		w.sink.store.rows = append(w.sink.store.rows, w.rows...)
		w.rows = nil
	}
	return nil
}
