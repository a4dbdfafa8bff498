package mysql

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
)

// ledger is the tables of ours in the target: a marker row for each run, and a
// row for each split of an open run (exactness rule 1).
type ledger struct {
	runs      name
	positions name
	rules     breakRules
}

// The outcomes of a run; an open one has none.
const (
	outcomeFinished = "finished"
	outcomeGivenUp  = "given up"
	// outcomeRenaming: all rows are counted, and the staging table is about to
	// become the table that the run makes.
	outcomeRenaming = "renaming"
	// outcomePosting: the result is visible, and statements of post are under way.
	outcomePosting = "posting"
)

// create makes the tables that are missing.
func (l *ledger) create(ctx context.Context, s *session) error {
	const engine = " ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
	const id = "run CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL"
	_, err := s.exec(ctx, "CREATE TABLE IF NOT EXISTS "+l.runs.String()+" ("+id+` PRIMARY KEY, job TEXT NOT NULL, job_hash VARCHAR(200) NOT NULL,
  target TEXT NOT NULL, staging TEXT, splits BIGINT NOT NULL DEFAULT 0, started TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  ended TIMESTAMP(6) NULL DEFAULT NULL, outcome VARCHAR(20), totals TEXT)`+engine)
	if err == nil {
		_, err = s.exec(ctx, "CREATE TABLE IF NOT EXISTS "+l.positions.String()+" ("+id+`, split BIGINT NOT NULL,
  token BIGINT UNSIGNED NOT NULL DEFAULT 0, commit_no BIGINT NOT NULL DEFAULT 0, done BOOLEAN NOT NULL DEFAULT FALSE,
  position LONGTEXT NOT NULL, state LONGTEXT NOT NULL, PRIMARY KEY (run, split))`+engine)
	}
	return wrap("create the tables of runs and positions", err)
}

// runLock and splitLock name the locks of a run and of a split's writer.
func (l *ledger) runLock(run string) string { return lockName("run", l.runs.String(), run) }

func (l *ledger) splitLock(run string, split connector.SplitID) string {
	return lockName("split", l.positions.String(), run, splitText(split))
}

// splitLocks names the locks of all splits of a run.
func (l *ledger) splitLocks(ctx context.Context, s *session, run string) ([]string, error) {
	rows, err := s.query(ctx, "SELECT split FROM "+l.positions.String()+" WHERE run = "+quoteText(run))
	locks := make([]string, len(rows))
	for i, row := range rows {
		locks[i] = lockName("split", l.positions.String(), run, string(row[0]))
	}
	return locks, wrap("list the splits", err)
}

// lockSplits holds the locks of a run's split rows until the transaction ends.
func (l *ledger) lockSplits(ctx context.Context, s *session, run string) error {
	_, err := s.query(ctx, "SELECT split FROM "+l.positions.String()+" WHERE run = "+quoteText(run)+" ORDER BY split FOR UPDATE")
	return wrap("lock the splits", err)
}

// marker is a run's row.
type marker struct {
	run     string
	outcome string
	target  string
	staging string
	splits  int64
}

// open reports whether the run takes rows.
func (m *marker) open() bool {
	return m.outcome == "" || m.outcome == outcomePosting || m.outcome == outcomeRenaming
}

// openCondition is that of open in SQL.
const openCondition = "(outcome IS NULL OR outcome IN ('" + outcomePosting + "', '" + outcomeRenaming + "'))"

// lock reads a run's marker and holds its lock until the transaction ends; nil
// when there is none.
func (l *ledger) lock(ctx context.Context, s *session, run string) (*marker, error) {
	return l.marker(ctx, s, run, " FOR UPDATE")
}

func (l *ledger) marker(ctx context.Context, s *session, run, locking string) (*marker, error) {
	row, err := s.one(ctx, "SELECT COALESCE(outcome, ''), COALESCE(staging, ''), splits, target FROM "+l.runs.String()+
		" WHERE run = "+quoteText(run)+locking)
	if err != nil {
		return nil, wrap("read the run's marker", err)
	}
	if row == nil {
		return nil, nil
	}
	splits, err := strconv.ParseInt(string(row[2]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the run's marker: %w", err)
	}
	return &marker{run: run, outcome: string(row[0]), staging: string(row[1]), splits: splits, target: string(row[3])}, nil
}

// openRuns lists the open runs of a job, and the abandoned one, but not run itself.
func (l *ledger) openRuns(ctx context.Context, s *session, run connector.Run) ([]string, error) {
	sql := "SELECT run FROM " + l.runs.String() + " WHERE " + openCondition + " AND run <> " + quoteText(run.ID) + " AND (job_hash = " + quoteText(run.JobHash)
	if run.Abandoned != "" {
		sql += " OR run = " + quoteText(run.Abandoned)
	}
	rows, err := s.query(ctx, sql+") ORDER BY started")
	runs := make([]string, len(rows))
	for i, row := range rows {
		runs[i] = string(row[0])
	}
	return runs, wrap("look for open runs of the job", err)
}

// dropStaging removes the staging table of a run that has ended, and then the
// marker's word of it.
func (l *ledger) dropStaging(ctx context.Context, s *session, run, staging string) error {
	if staging == "" {
		return nil
	}
	_, err := s.exec(ctx, "DROP TABLE IF EXISTS "+staging)
	if err == nil {
		_, err = s.exec(ctx, "UPDATE "+l.runs.String()+" SET staging = NULL WHERE run = "+quoteText(run))
	}
	return wrap("drop the staging table", err)
}

// sweep removes the staging tables that ended runs of a job have left at a crash.
func (l *ledger) sweep(ctx context.Context, s *session, jobHash string) error {
	rows, err := s.query(ctx, "SELECT run, staging FROM "+l.runs.String()+" WHERE NOT "+openCondition+" AND staging IS NOT NULL AND job_hash = "+quoteText(jobHash))
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

// begin writes the marker of a new run.
func (l *ledger) begin(ctx context.Context, s *session, run connector.Run, target, staging string) error {
	_, err := s.exec(ctx, "INSERT INTO "+l.runs.String()+" (run, job, job_hash, target, staging) VALUES ("+quoteText(run.ID)+", "+quoteText(run.Job)+
		", "+quoteText(run.JobHash)+", "+quoteText(target)+", NULLIF("+quoteText(staging)+", ''))")
	return wrap("write the run's marker", err)
}

// end sets a run's outcome; its split rows go once it has ended.
func (l *ledger) end(ctx context.Context, s *session, run, outcome, totals string) error {
	_, err := s.exec(ctx, "UPDATE "+l.runs.String()+" SET outcome = "+quoteText(outcome)+", ended = CURRENT_TIMESTAMP(6), totals = COALESCE(NULLIF("+quoteText(totals)+
		", ''), totals) WHERE run = "+quoteText(run))
	if err == nil && outcome != outcomePosting && outcome != outcomeRenaming {
		_, err = s.exec(ctx, "DELETE FROM "+l.positions.String()+" WHERE run = "+quoteText(run))
	}
	return wrap("mark the run "+outcome, err)
}

// register inserts the rows of new splits, under the marker's lock. It looks
// for the known ones, since an insert would wait for who holds one of them.
func (l *ledger) register(ctx context.Context, s *session, run string, splits []connector.Split) error {
	rows, err := s.query(ctx, "SELECT split FROM "+l.positions.String()+" WHERE run = "+quoteText(run))
	if err != nil {
		return wrap("register splits", err)
	}
	known := make(map[string]bool, len(rows))
	for _, row := range rows {
		known[string(row[0])] = true
	}
	var added int64
	var text strings.Builder
	flush := func() error {
		if text.Len() == 0 {
			return nil
		}
		_, err := s.exec(ctx, "INSERT INTO "+l.positions.String()+" (run, split, position, state) VALUES "+text.String())
		text.Reset()
		return err
	}
	for _, split := range splits {
		if known[splitText(split.ID)] {
			continue
		}
		known[splitText(split.ID)] = true
		state, err := json.Marshal(connector.SplitState{Split: split.ID})
		if err != nil {
			return fmt.Errorf("register split %d: %w", split.ID, err)
		}
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, "(%s, %d, '', %s)", quoteText(run), split.ID, quoteText(string(state)))
		added++
		if text.Len() > 100_000 {
			if err := flush(); err != nil {
				return wrap("register splits", err)
			}
		}
	}
	if err = flush(); err == nil && added > 0 {
		_, err = s.exec(ctx, fmt.Sprintf("UPDATE %s SET splits = splits + %d WHERE run = %s", l.runs, added, quoteText(run)))
	}
	return wrap("register splits", err)
}

// states reads the states of all splits of a run whose marker was read before.
func (l *ledger) states(ctx context.Context, s *session, m *marker) ([]connector.SplitState, error) {
	rows, err := s.query(ctx, "SELECT state, token FROM "+l.positions.String()+" WHERE run = "+quoteText(m.run)+" ORDER BY split")
	if err != nil {
		return nil, wrap("read the positions", err)
	}
	states := make([]connector.SplitState, len(rows))
	for i, row := range rows {
		if states[i], err = decodeState(row); err != nil {
			return nil, err
		}
	}
	return states, l.complete(m, int64(len(rows)))
}

// checkPositions fails when rows of splits have gone.
func (l *ledger) checkPositions(ctx context.Context, s *session, m *marker) error {
	row, err := s.one(ctx, "SELECT COUNT(*) FROM "+l.positions.String()+" WHERE run = "+quoteText(m.run))
	if err != nil {
		return wrap("count the positions", err)
	}
	n, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("count the positions: %w", err)
	}
	return l.complete(m, n)
}

// complete judges the number of split rows.
func (l *ledger) complete(m *marker, rows int64) error {
	if rows >= m.splits {
		return nil
	}
	return connector.Errorf(connector.Fatal,
		"the target was reset: %d of the run's %d positions are gone from %s, so rows that count as written may be gone too; look what the target holds, and begin anew with --restart", m.splits-rows, m.splits, l.positions)
}
