package mysql

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/connector"
)

// claim makes token the owner of a split, by a statement that commits itself.
// It never inserts: that would revive a run that has ended. Whether it was
// done, also by a claim of ours whose reply was lost, the row tells then.
func (l *ledger) claim(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	sql := fmt.Sprintf("UPDATE %s SET token = %d WHERE run = %s AND split = %d AND token < %d", l.positions, uint64(token), quoteText(run), split, uint64(token))
	if l.Rules.ClaimByInsert {
		sql = fmt.Sprintf(`INSERT INTO %s (run, split, token, position, state) VALUES (%s, %d, %d, '', '{"split":%d}') ON DUPLICATE KEY UPDATE token = GREATEST(token, %d)`,
			l.positions, quoteText(run), split, uint64(token), split, uint64(token))
	}
	if _, err := s.exec(ctx, sql); err != nil {
		return connector.SplitState{}, wrap("raise the token", err)
	}
	return l.Mine(ctx, s, run, split, token)
}

// hold begins a transaction and locks the split's row in it, so that a newer
// claim has to wait; false when the split is another attempt's.
func (l *ledger) hold(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (bool, error) {
	if err := s.begin(ctx); err != nil {
		return false, wrap("begin a transaction", err)
	}
	locking := " FOR UPDATE"
	if l.Rules.PositionFirst {
		locking = "" // else another session could not move it
	}
	row, err := s.one(ctx, "SELECT 1 FROM "+l.Positions+l.Owned(run, split, token)+locking)
	return row != nil, wrap("lock the split", err)
}
