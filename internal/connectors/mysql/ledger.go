package mysql

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
}

func newLedger(runs, positions name, rules database.Rules) *ledger {
	return &ledger{
		Ledger: database.Ledger{Runs: runs.String(), Positions: positions.String(), Rules: rules, Text: quoteText, Wrap: wrap},
		runs:   runs, positions: positions,
	}
}

// Rows implements database.Session.
func (s *session) Rows(ctx context.Context, sql string) ([][][]byte, error) { return s.query(ctx, sql) }

// Change implements database.Session.
func (s *session) Change(ctx context.Context, sql string) (int64, error) { return s.exec(ctx, sql) }

// create makes the tables that are missing.
func (l *ledger) create(ctx context.Context, s *session) error {
	const engine = " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	const id = "run CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
	_, err := s.exec(ctx, "CREATE TABLE IF NOT EXISTS "+l.Runs+" ("+id+` PRIMARY KEY, job TEXT NOT NULL, job_hash VARCHAR(200) NOT NULL,
  target TEXT NOT NULL, staging TEXT, splits BIGINT NOT NULL DEFAULT 0, started TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  ended TIMESTAMP(6) NULL DEFAULT NULL, outcome VARCHAR(20), totals TEXT)`+engine)
	if err == nil {
		_, err = s.exec(ctx, "CREATE TABLE IF NOT EXISTS "+l.Positions+" ("+id+`, split BIGINT NOT NULL,
  token BIGINT UNSIGNED NOT NULL DEFAULT 0, commit_no BIGINT NOT NULL DEFAULT 0, done BOOLEAN NOT NULL DEFAULT FALSE,
  position LONGTEXT NOT NULL, state LONGTEXT NOT NULL, PRIMARY KEY (run, split))`+engine)
	}
	return wrap("create the tables of runs and positions", err)
}

// runLock and splitLock name the locks of a run and of a split's writer.
func (l *ledger) runLock(run string) string { return lockName("run", l.Runs, run) }

func (l *ledger) splitLock(run string, split connector.SplitID) string {
	return lockName("split", l.Positions, run, database.SplitText(split))
}

// splitLocks names the locks of all splits of a run.
func (l *ledger) splitLocks(ctx context.Context, s *session, run string) ([]string, error) {
	rows, err := s.query(ctx, "SELECT split FROM "+l.Positions+" WHERE run = "+quoteText(run))
	locks := make([]string, len(rows))
	for i, row := range rows {
		locks[i] = lockName("split", l.Positions, run, string(row[0]))
	}
	return locks, wrap("list the splits", err)
}

// dropStaging removes the staging table of a run that has ended, and then the
// marker's word of it.
func (l *ledger) dropStaging(ctx context.Context, s *session, run, staging string) error {
	if staging == "" {
		return nil
	}
	_, err := s.exec(ctx, "DROP TABLE IF EXISTS "+staging)
	if err == nil {
		_, err = s.exec(ctx, "UPDATE "+l.Runs+" SET staging = NULL WHERE run = "+quoteText(run))
	}
	return wrap("drop the staging table", err)
}

// sweep removes the staging tables that ended runs of a job have left at a crash.
func (l *ledger) sweep(ctx context.Context, s *session, jobHash string) error {
	rows, err := s.query(ctx, "SELECT run, staging FROM "+l.Runs+" WHERE NOT "+database.IsOpen+" AND staging IS NOT NULL AND job_hash = "+quoteText(jobHash))
	if err != nil {
		return wrap("look for staging tables that are left", err)
	}
	for _, row := range rows {
		if err := l.dropStaging(ctx, s, string(row[0]), string(row[1])); err != nil {
			return err
		}
	}
	return nil
}
