package postgres

import (
	"context"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// ledger is the tables of ours in the target (exactness rule 1).
type ledger struct {
	database.Ledger
	runs      name
	positions name
	unlogged  bool
}

func newLedger(runs, positions name, unlogged bool, rules database.Rules) *ledger {
	return &ledger{
		Ledger: database.Ledger{Runs: runs.String(), Positions: positions.String(), Rules: rules, Text: quoteText, Wrap: wrap},
		runs:   runs, positions: positions, unlogged: unlogged,
	}
}

// Rows implements database.Session.
func (s *session) Rows(ctx context.Context, sql string) ([][][]byte, error) { return s.query(ctx, sql) }

// Change implements database.Session.
func (s *session) Change(ctx context.Context, sql string) (int64, error) {
	tag, err := s.run(ctx, sql)
	return tag.RowsAffected(), err
}

// create makes the tables that are missing.
func (l *ledger) create(ctx context.Context, s *session) error {
	row, err := s.one(ctx, "SELECT pg_catalog.to_regclass($1), pg_catalog.to_regclass($2)", l.Runs, l.Positions)
	if err != nil {
		return wrap("look up the tables of runs and positions", err)
	}
	if row[0] == nil {
		err = s.exec(ctx, `CREATE TABLE IF NOT EXISTS `+l.Runs+` (run uuid PRIMARY KEY, job text NOT NULL, job_hash text NOT NULL,
  target text NOT NULL, staging text, files text NOT NULL DEFAULT '', splits bigint NOT NULL DEFAULT 0, started timestamptz NOT NULL DEFAULT now(),
  ended timestamptz, outcome text, totals text)`)
	}
	if err == nil && row[1] == nil {
		err = s.exec(ctx, `CREATE `+unloggedWord(l.unlogged)+`TABLE IF NOT EXISTS `+l.Positions+` (run uuid NOT NULL, split bigint NOT NULL,
  token bigint NOT NULL DEFAULT 0, commit_no bigint NOT NULL DEFAULT 0, done boolean NOT NULL DEFAULT false,
  position text NOT NULL DEFAULT '', state text NOT NULL, PRIMARY KEY (run, split)) WITH (fillfactor = 50)`)
	}
	return wrap("create the tables of runs and positions", err)
}

func unloggedWord(unlogged bool) string {
	if unlogged {
		return "UNLOGGED "
	}
	return ""
}

// begin writes the marker of a new run, with the files that hold the rows.
func (l *ledger) begin(ctx context.Context, s *session, run connector.Run, target, staging string) error {
	if err := l.Begin(ctx, s, run, target, staging); err != nil {
		return err
	}
	filled := database.Marker{Target: target, Staging: staging}
	files, err := filesOf(ctx, s, filled.Filled())
	if err != nil {
		return err
	}
	_, err = s.run(ctx, "UPDATE "+l.Runs+" SET files = $2 WHERE run = $1::uuid", run.ID, files)
	return wrap("write the run's marker", err)
}

// claim makes token the owner of a split. It never inserts: that would revive
// a run that has ended.
func (l *ledger) claim(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	sql := "UPDATE " + l.Positions + " SET token = $3::bigint WHERE run = $1::uuid AND split = $2::bigint AND token < $3::bigint RETURNING state, token"
	if l.Rules.ClaimByInsert {
		sql = "INSERT INTO " + l.Positions + " AS p (run, split, token, state) VALUES ($1::uuid, $2::bigint, $3::bigint, '{\"split\":' || $2 || '}')" +
			" ON CONFLICT (run, split) DO UPDATE SET token = $3::bigint WHERE p.token < $3::bigint RETURNING state, token"
	}
	row, err := s.one(ctx, sql, run, database.SplitText(split), database.TokenText(token))
	if err != nil {
		return connector.SplitState{}, wrap("raise the token", err)
	}
	if row != nil {
		return database.DecodeState(row)
	}
	return l.Mine(ctx, s, run, split, token)
}

// hold begins a transaction and locks the split's row in it, so that a newer
// claim finds whom to end; false when the split is another attempt's.
func (l *ledger) hold(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (bool, error) {
	locking := " FOR NO KEY UPDATE"
	if l.Rules.PositionFirst {
		locking = "" // else another session could not move it
	}
	results, err := s.Exec(ctx, joinSQL("BEGIN", setLocal("lock_timeout", lockTimeout),
		"SELECT 1 FROM "+l.Positions+l.Owned(run, split, token)+locking, setLocal("lock_timeout", 0))).ReadAll()
	if err != nil || len(results) != 4 {
		return false, wrap("lock the split", err)
	}
	return len(results[2].Rows) == 1, nil
}
