package postgres

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
	unlogged  bool
	rules     breakRules
}

// The outcomes of a run; an open one has none.
const (
	outcomeFinished = "finished"
	outcomeGivenUp  = "given up"
	// outcomePosting: the result is visible, and statements that cannot run in
	// a transaction are under way.
	outcomePosting = "posting"
)

// create makes the tables that are missing.
func (l *ledger) create(ctx context.Context, s *session) error {
	row, err := s.one(ctx, "SELECT pg_catalog.to_regclass($1), pg_catalog.to_regclass($2)", l.runs.String(), l.positions.String())
	if err != nil {
		return wrap("look up the tables of runs and positions", err)
	}
	if row[0] == nil {
		err = s.exec(ctx, `CREATE TABLE IF NOT EXISTS `+l.runs.String()+` (run uuid PRIMARY KEY, job text NOT NULL, job_hash text NOT NULL,
  target text NOT NULL, staging text, files text NOT NULL DEFAULT '', splits bigint NOT NULL DEFAULT 0, started timestamptz NOT NULL DEFAULT now(),
  ended timestamptz, outcome text, totals text)`)
	}
	if err == nil && row[1] == nil {
		err = s.exec(ctx, `CREATE `+unloggedWord(l.unlogged)+`TABLE IF NOT EXISTS `+l.positions.String()+` (run uuid NOT NULL, split bigint NOT NULL,
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

// marker is a run's row.
type marker struct {
	run     string
	outcome string
	target  string
	staging string
	// files are those that hold the rows, as filesOf names them.
	files  string
	splits int64
}

// open reports whether the run takes rows.
func (m *marker) open() bool { return m.outcome == "" || m.outcome == outcomePosting }

// lock reads a run's marker and holds its lock until the transaction ends; nil
// when there is none.
func (l *ledger) lock(ctx context.Context, s *session, run string) (*marker, error) {
	return l.marker(ctx, s, run, " FOR UPDATE")
}

func (l *ledger) marker(ctx context.Context, s *session, run, locking string) (*marker, error) {
	row, err := s.one(ctx, "SELECT coalesce(outcome, ''), coalesce(staging, ''), splits, target, files FROM "+l.runs.String()+
		" WHERE run = $1::uuid"+locking, run)
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
	return &marker{run: run, outcome: string(row[0]), staging: string(row[1]), splits: splits, target: string(row[3]), files: string(row[4])}, nil
}

// openRuns lists the open runs of a job, and the abandoned one, but not run
// itself, and locks their markers.
func (l *ledger) openRuns(ctx context.Context, s *session, run connector.Run) ([]string, error) {
	sql := "SELECT run FROM " + l.runs.String() + " WHERE (outcome IS NULL OR outcome = '" + outcomePosting +
		"') AND run <> $1::uuid AND (job_hash = $2"
	args := []string{run.ID, run.JobHash}
	if run.Abandoned != "" {
		sql += " OR run = $3::uuid"
		args = append(args, run.Abandoned)
	}
	rows, err := s.query(ctx, sql+") ORDER BY started FOR UPDATE", args...)
	if err != nil {
		return nil, wrap("look for open runs of the job", err)
	}
	runs := make([]string, len(rows))
	for i, row := range rows {
		runs[i] = string(row[0])
	}
	return runs, nil
}

// begin writes the marker of a new run, whose rows go into staging, or else
// into target.
func (l *ledger) begin(ctx context.Context, s *session, run connector.Run, target, staging string) error {
	place := target
	if staging != "" {
		place = staging
	}
	files, err := filesOf(ctx, s, place)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, "INSERT INTO "+l.runs.String()+" (run, job, job_hash, target, staging, files) VALUES ($1::uuid, $2, $3, $4, nullif($5, ''), $6)",
		run.ID, run.Job, run.JobHash, target, staging, files)
	return wrap("write the run's marker", err)
}

// end sets a run's outcome; its split rows go with it unless it is posting.
func (l *ledger) end(ctx context.Context, s *session, run, outcome, totals string) error {
	_, err := s.run(ctx, "UPDATE "+l.runs.String()+" SET outcome = $2, ended = now(), totals = nullif($3, '') WHERE run = $1::uuid", run, outcome, totals)
	if err == nil && outcome != outcomePosting {
		_, err = s.run(ctx, "DELETE FROM "+l.positions.String()+" WHERE run = $1::uuid", run)
	}
	return wrap("mark the run "+outcome, err)
}

// register inserts the rows of new splits.
func (l *ledger) register(ctx context.Context, s *session, run string, splits []connector.Split) error {
	ids, states := make([]string, len(splits)), make([]string, len(splits))
	for i, split := range splits {
		state, err := json.Marshal(connector.SplitState{Split: split.ID})
		if err != nil {
			return fmt.Errorf("register split %d: %w", split.ID, err)
		}
		ids[i], states[i] = strconv.FormatInt(int64(split.ID), 10), `"`+strings.ReplaceAll(string(state), `"`, `\"`)+`"`
	}
	tag, err := s.run(ctx, "INSERT INTO "+l.positions.String()+" (run, split, state) SELECT $1::uuid, s, t FROM unnest($2::bigint[], $3::text[]) u(s, t) ON CONFLICT DO NOTHING",
		run, "{"+strings.Join(ids, ",")+"}", "{"+strings.Join(states, ",")+"}")
	if err == nil && tag.RowsAffected() > 0 {
		_, err = s.run(ctx, "UPDATE "+l.runs.String()+" SET splits = splits + $2::bigint WHERE run = $1::uuid", run, strconv.FormatInt(tag.RowsAffected(), 10))
	}
	return wrap("register splits", err)
}

// states reads the states of all splits of a run whose marker was read before.
func (l *ledger) states(ctx context.Context, s *session, m *marker) ([]connector.SplitState, error) {
	rows, err := s.query(ctx, "SELECT state, token FROM "+l.positions.String()+" WHERE run = $1::uuid ORDER BY split", m.run)
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
	row, err := s.one(ctx, "SELECT count(*) FROM "+l.positions.String()+" WHERE run = $1::uuid", m.run)
	if err != nil {
		return wrap("count the positions", err)
	}
	n, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("count the positions: %w", err)
	}
	return l.complete(m, n)
}

// complete judges the number of split rows. Unlogged tables are empty after a
// crash of the server, the target's like ours; the marker stays.
func (l *ledger) complete(m *marker, rows int64) error {
	if rows >= m.splits {
		return nil
	}
	return connector.Errorf(connector.Fatal,
		"the target was reset: %d of the run's %d positions are gone from %s, and the rows they speak of may be too; begin anew with --restart",
		m.splits-rows, m.splits, l.positions)
}

// claim makes token the owner of a split. It never inserts: that would revive
// a run that has ended.
func (l *ledger) claim(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	sql := "UPDATE " + l.positions.String() + " SET token = $3::bigint WHERE run = $1::uuid AND split = $2::bigint AND token < $3::bigint RETURNING state, token"
	if l.rules.claimByInsert {
		sql = "INSERT INTO " + l.positions.String() + " AS p (run, split, token, state) VALUES ($1::uuid, $2::bigint, $3::bigint, '{\"split\":' || $2 || '}')" +
			" ON CONFLICT (run, split) DO UPDATE SET token = $3::bigint WHERE p.token < $3::bigint RETURNING state, token"
	}
	row, err := s.one(ctx, sql, run, splitText(split), tokenText(token))
	if err != nil {
		return connector.SplitState{}, wrap("claim", err)
	}
	if row != nil {
		return decodeState(row)
	}
	return l.unclaimed(ctx, s, run, split, token)
}

// unclaimed finds out why a claim found no row to change.
func (l *ledger) unclaimed(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	row, err := s.one(ctx, "SELECT state, token FROM "+l.positions.String()+" WHERE run = $1::uuid AND split = $2::bigint", run, splitText(split))
	if err != nil {
		return connector.SplitState{}, wrap("read the claim again", err)
	}
	if row == nil {
		return connector.SplitState{}, l.missing(ctx, s, run, split)
	}
	state, err := decodeState(row)
	if err == nil && state.Token != token {
		err = connector.TakenElsewhere(run, split, state.Token)
	}
	return state, err
}

// fenced says why a split is not the attempt's that has just looked for it.
func (l *ledger) fenced(ctx context.Context, s *session, a connector.Attempt) error {
	if _, err := l.unclaimed(ctx, s, a.Run.ID, a.Split.ID, a.Token); err != nil {
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
	token, err := strconv.ParseInt(string(row[1]), 10, 64)
	if err != nil {
		return state, connector.Errorf(connector.Fatal, "read a split's token in the target: %w", err)
	}
	state.Token = connector.Token(token)
	return state, nil
}

// owned is the condition by which a writer finds its row.
func (l *ledger) owned(run string, split connector.SplitID, token connector.Token) string {
	condition := " WHERE run = " + quoteText(run) + "::uuid AND split = " + splitText(split)
	if l.rules.ignoreToken {
		return condition
	}
	return condition + " AND token = " + tokenText(token)
}

// hold begins a transaction and locks the split's row in it, so that a newer
// claim finds whom to end; false when the split is another attempt's.
func (l *ledger) hold(ctx context.Context, s *session, run string, split connector.SplitID, token connector.Token) (bool, error) {
	locking := " FOR NO KEY UPDATE"
	if l.rules.positionFirst {
		locking = "" // else another session could not move it
	}
	results, err := s.Exec(ctx, joinSQL("BEGIN", setLocal("lock_timeout", lockTimeout),
		"SELECT 1 FROM "+l.positions.String()+l.owned(run, split, token)+locking, setLocal("lock_timeout", 0))).ReadAll()
	if err != nil || len(results) != 4 {
		return false, wrap("lock the split", err)
	}
	return len(results[2].Rows) == 1, nil
}

// advance moves the split's state and reports the number of rows that it found.
func (l *ledger) advance(ctx context.Context, s *session, run string, state connector.SplitState) (int64, error) {
	text, err := json.Marshal(state)
	if err != nil {
		return 0, fmt.Errorf("move the position: %w", err)
	}
	tag, err := s.run(ctx, "UPDATE "+l.positions.String()+" SET commit_no = $1::bigint, done = $2::boolean, position = $3, state = $4"+l.owned(run, state.Split, state.Token),
		strconv.FormatInt(state.CommitNo, 10), strconv.FormatBool(state.Done), string(state.Position), string(text))
	return tag.RowsAffected(), wrap("move the position", err)
}

func splitText(id connector.SplitID) string { return strconv.FormatInt(int64(id), 10) }
func tokenText(t connector.Token) string    { return strconv.FormatInt(int64(t), 10) }
