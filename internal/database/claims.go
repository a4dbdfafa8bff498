package database

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/leatdata/leat/connector"
)

// Read reads a split's row, and fails when there is none.
func (l *Ledger) Read(ctx context.Context, s Session, run string, split connector.SplitID) (connector.SplitState, error) {
	row, err := one(ctx, s, "SELECT state, token FROM "+l.Positions+l.ofSplit(run, split))
	if err != nil {
		return connector.SplitState{}, l.Wrap("read the split's row", err)
	}
	if row == nil {
		return connector.SplitState{}, l.missing(ctx, s, run, split)
	}
	return DecodeState(row)
}

// Mine reads a split's row, and fails when it is not the token's: a claim of
// ours whose reply was lost is told from being fenced by it (exactness rule 2).
func (l *Ledger) Mine(ctx context.Context, s Session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	state, err := l.Read(ctx, s, run, split)
	if err == nil && state.Token != token {
		err = connector.TakenElsewhere(run, split, state.Token)
	}
	return state, err
}

// Fenced says why a split is not the attempt's that has just looked for it.
func (l *Ledger) Fenced(ctx context.Context, s Session, a connector.Attempt) error {
	if _, err := l.Mine(ctx, s, a.Run.ID, a.Split.ID, a.Token); err != nil {
		return err
	}
	return connector.Errorf(connector.Retryable, "split %d was the attempt's, was not, and is again", a.Split.ID)
}

// missing says why a split has no row.
func (l *Ledger) missing(ctx context.Context, s Session, run string, split connector.SplitID) error {
	m, err := l.Marker(ctx, s, run)
	if err != nil {
		return err
	}
	if err := l.Takes(m, run); err != nil {
		return err
	}
	if err := l.CheckPositions(ctx, s, m); err != nil {
		return err
	}
	return connector.Errorf(connector.Fenced, "run %s has no split %d in the target", run, split)
}

// Takes is nil when the run takes rows; else it says what has become of it.
func (l *Ledger) Takes(m *Marker, run string) error {
	switch {
	case m == nil:
		return connector.Errorf(connector.Fatal, "the target was reset: %s does not know run %s; begin anew with --restart", l.Runs, run)
	case m.Outcome == Finished:
		return connector.FinishedElsewhere(run)
	case !m.Open():
		return connector.GivenUpElsewhere(run)
	}
	return nil
}

// Advance moves the split's state and reports the number of rows that it found.
func (l *Ledger) Advance(ctx context.Context, s Session, run string, state connector.SplitState) (int64, error) {
	text, err := json.Marshal(state)
	if err != nil {
		return 0, fmt.Errorf("move the position: %w", err)
	}
	found, err := s.Change(ctx, fmt.Sprintf("UPDATE %s SET commit_no = %d, done = %t, position = %s, state = %s%s", l.Positions, state.CommitNo, state.Done,
		l.Text(string(state.Position)), l.Text(string(text)), l.Owned(run, state.Split, state.Token)))
	return found, l.Wrap("move the position", err)
}

// Known reads the states of a run that takes rows.
func (l *Ledger) Known(ctx context.Context, s Session, run string) ([]connector.SplitState, error) {
	m, err := l.Marker(ctx, s, run)
	if err != nil {
		return nil, err
	}
	if err := l.Takes(m, run); err != nil {
		return nil, err
	}
	return l.States(ctx, s, m)
}

// LockSplits holds the locks of a run's split rows until the transaction ends,
// and with them the word of all its writers.
func (l *Ledger) LockSplits(ctx context.Context, s Session, run string) error {
	_, err := s.Rows(ctx, "SELECT split FROM "+l.Positions+l.ofRun(run)+" ORDER BY split FOR UPDATE")
	return l.Wrap("lock the splits", err)
}

// Sums reads all states again and judges them (exactness rule 14). given are
// the engine's, none where it has none.
func (l *Ledger) Sums(ctx context.Context, s Session, m *Marker, given []connector.SplitState) (sums connector.Counters, err error) {
	stored, err := l.States(ctx, s, m)
	if err != nil {
		return sums, err
	}
	for _, state := range stored {
		if !state.Done {
			return sums, connector.Errorf(connector.Fatal, "split %d is not done in the target", state.Split)
		}
	}
	sums = total(stored)
	if !sums.Balanced() {
		return sums, connector.Errorf(connector.Fatal, "the counts do not match: read %d, but written %d, filtered %d, dirty %d, merged %d, refused %d",
			sums.Read, sums.Written, sums.Filtered, sums.Dirty, sums.Merged, sums.Refused)
	}
	if theirs := total(given); len(given) > 0 && (len(given) != len(stored) || sums != theirs) {
		return sums, connector.Errorf(connector.Fatal, "the target's counts and the job's differ: the target has %d splits and %d rows written, the job %d and %d",
			len(stored), sums.Written, len(given), theirs.Written)
	}
	return sums, nil
}

func total(states []connector.SplitState) (sums connector.Counters) {
	for _, state := range states {
		sums = sums.Add(state.Counters)
	}
	return sums
}
