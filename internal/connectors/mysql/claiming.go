package mysql

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/connector"
)

// claim makes token the owner of a split, by a statement that commits itself.
// It never inserts: that would revive a run that has ended. Whether it was
// done, also by a claim of ours whose reply was lost, the row tells then.
func (l *ledger) claim(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	sql := fmt.Sprintf("UPDATE %s SET token = %d WHERE run = %s AND split = %d AND token < %d", l.positions, uint64(token), quoteText(run), split, uint64(token))
	if l.rules.claimByInsert {
		sql = fmt.Sprintf(`INSERT INTO %s (run, split, token, position, state) VALUES (%s, %d, %d, '', '{"split":%d}') ON DUPLICATE KEY UPDATE token = GREATEST(token, %d)`,
			l.positions, quoteText(run), split, uint64(token), split, uint64(token))
	}
	if _, err := s.exec(ctx, sql); err != nil {
		return connector.SplitState{}, wrap("claim", err)
	}
	return l.mine(ctx, s, run, split, token)
}

// mine reads a split's row, and fails when it is not the token's.
func (l *ledger) mine(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	state, err := l.read(ctx, s, run, split)
	if err == nil && state.Token != token {
		err = connector.TakenElsewhere(run, split, state.Token)
	}
	return state, err
}

// read reads a split's row, and fails when there is none.
func (l *ledger) read(ctx context.Context, s *session, run string, split connector.SplitID) (connector.SplitState, error) {
	row, err := s.one(ctx, "SELECT state, token FROM "+l.positions.String()+" WHERE run = "+quoteText(run)+" AND split = "+splitText(split))
	if err != nil {
		return connector.SplitState{}, wrap("read the split's row", err)
	}
	if row == nil {
		return connector.SplitState{}, l.missing(ctx, s, run, split)
	}
	return decodeState(row)
}

// fenced says why a split is not the attempt's that has just looked for it.
func (l *ledger) fenced(ctx context.Context, s *session, a connector.Attempt) error {
	if _, err := l.mine(ctx, s, a.Run.ID, a.Split.ID, a.Token); err != nil {
		return err
	}
	return connector.Errorf(connector.Retryable, "split %d was the attempt's, was not, and is again", a.Split.ID)
}

// missing says why a split has no row.
func (l *ledger) missing(ctx context.Context, s *session, run string, split connector.SplitID) error {
	m, err := l.marker(ctx, s, run, "")
	if err != nil {
		return err
	}
	if err := l.takes(m, run); err != nil {
		return err
	}
	if err := l.checkPositions(ctx, s, m); err != nil {
		return err
	}
	return connector.Errorf(connector.Fenced, "run %s has no split %d in the target", run, split)
}

// takes is nil when the run takes rows; else it says what has become of it.
func (l *ledger) takes(m *marker, run string) error {
	switch {
	case m == nil:
		return connector.Errorf(connector.Fatal, "the target was reset: %s does not know run %s; begin anew with --restart", l.runs, run)
	case m.outcome == outcomeFinished:
		return connector.FinishedElsewhere(run)
	case !m.open():
		return connector.GivenUpElsewhere(run)
	}
	return nil
}

// decodeState reads a state and the token beside it, which is the newer.
func decodeState(row [][]byte) (connector.SplitState, error) {
	var state connector.SplitState
	if err := json.Unmarshal(row[0], &state); err != nil {
		return state, connector.Errorf(connector.Fatal, "read a split's state in the target: %w", err)
	}
	token, err := strconv.ParseUint(string(row[1]), 10, 64)
	if err != nil {
		return state, connector.Errorf(connector.Fatal, "read a split's token in the target: %w", err)
	}
	state.Token = connector.Token(token)
	return state, nil
}

// owned is the condition by which a writer finds its row.
func (l *ledger) owned(run string, split connector.SplitID, token connector.Token) string {
	condition := " WHERE run = " + quoteText(run) + " AND split = " + splitText(split)
	if l.rules.ignoreToken {
		return condition
	}
	return condition + " AND token = " + strconv.FormatUint(uint64(token), 10)
}

// hold begins a transaction and locks the split's row in it, so that a newer
// claim has to wait; false when the split is another attempt's.
func (l *ledger) hold(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (bool, error) {
	if err := s.begin(ctx); err != nil {
		return false, wrap("begin a transaction", err)
	}
	locking := " FOR UPDATE"
	if l.rules.positionFirst {
		locking = "" // else another session could not move it
	}
	row, err := s.one(ctx, "SELECT 1 FROM "+l.positions.String()+l.owned(run, split, token)+locking)
	return row != nil, wrap("lock the split", err)
}

// advance moves the split's state and reports the number of rows that it found.
func (l *ledger) advance(ctx context.Context, s *session, run string, state connector.SplitState) (int64, error) {
	text, err := json.Marshal(state)
	if err != nil {
		return 0, fmt.Errorf("move the position: %w", err)
	}
	found, err := s.exec(ctx, fmt.Sprintf("UPDATE %s SET commit_no = %d, done = %t, position = %s, state = %s%s", l.positions, state.CommitNo, state.Done,
		quoteText(string(state.Position)), quoteText(string(text)), l.owned(run, state.Split, state.Token)))
	return found, wrap("move the position", err)
}

func splitText(id connector.SplitID) string { return strconv.FormatInt(int64(id), 10) }
