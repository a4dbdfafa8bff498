package sqlite

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// States of a run in the ledger.
const (
	runOpen      = "open"
	runFinished  = "finished"
	runAbandoned = "abandoned"
)

// ledger is the two tables of ours in the target (exactness rule 1): a marker
// row per run, which stays, and a row per split of an open run.
type ledger struct {
	runs, positions string
	rules           breakRules
}

// marker is a run's row.
type marker struct {
	id, state string
	// job and started say by which job it was begun, and when, in UTC.
	job, started string
	// staging is the table that the run fills in place of the target, "" for none.
	staging string
	// splits is how many splits the run has registered.
	splits int64
	// target is the mark of the table that the run fills.
	target string
}

func (l ledger) create(c *native.Conn) error {
	err := c.Exec(`CREATE TABLE IF NOT EXISTS ` + quote(l.runs) + ` (
  run TEXT NOT NULL PRIMARY KEY, job TEXT NOT NULL, job_hash TEXT NOT NULL, state TEXT NOT NULL,
  staging TEXT NOT NULL, splits INTEGER NOT NULL, started TEXT NOT NULL, ended TEXT,
  target TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS ` + quote(l.positions) + ` (
  run TEXT NOT NULL, split INTEGER NOT NULL, token INTEGER NOT NULL, position TEXT NOT NULL,
  commit_no INTEGER NOT NULL, done INTEGER NOT NULL, counters TEXT NOT NULL, dirty TEXT NOT NULL,
  PRIMARY KEY (run, split)) WITHOUT ROWID`)
	if err != nil {
		return err
	}
	return l.widen(c)
}

// widen adds the column that tables of earlier versions have not.
func (l ledger) widen(c *native.Conn) error {
	there := false
	err := c.Query("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = 'target'", []any{l.runs}, func(*native.Stmt) error {
		there = true
		return nil
	})
	if err != nil || there {
		return err
	}
	return c.Exec("ALTER TABLE " + quote(l.runs) + " ADD COLUMN target TEXT NOT NULL DEFAULT ''")
}

// exists reports whether the ledger's tables are there.
func (l ledger) exists(c *native.Conn) (bool, error) {
	n := int64(0)
	err := c.Query("SELECT count(*) FROM main.sqlite_schema WHERE type = 'table' AND lower(name) IN (lower(?), lower(?))", []any{l.runs, l.positions}, func(s *native.Stmt) error {
		n = s.Int64(0)
		return nil
	})
	return n == 2, err
}

// run returns a run's marker, nil when there is none.
func (l ledger) run(c *native.Conn, id string) (*marker, error) {
	found, err := l.markers(c, "run = ?", id)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// markers returns the runs of a condition.
func (l ledger) markers(c *native.Conn, where string, args ...any) ([]marker, error) {
	var found []marker
	err := c.Query("SELECT run, state, staging, splits, target, job, started FROM "+quote(l.runs)+" WHERE "+where, args, func(s *native.Stmt) error {
		found = append(found, marker{id: s.String(0), state: s.String(1), staging: s.String(2), splits: s.Int64(3), target: s.String(4), job: s.String(5), started: s.String(6)})
		return nil
	})
	return found, err
}

func (l ledger) begin(c *native.Conn, run connector.Run, staging, target string) error {
	return c.Exec("INSERT INTO "+quote(l.runs)+" (run, job, job_hash, state, staging, splits, started, target) VALUES (?, ?, ?, 'open', ?, 0, datetime('now'), ?)",
		run.ID, run.Job, run.JobHash, staging, target)
}

// end marks a run and deletes its positions, so that no attempt of it can commit.
func (l ledger) end(c *native.Conn, id, state string) error {
	if err := c.Exec("DELETE FROM "+quote(l.positions)+" WHERE run = ?", id); err != nil {
		return err
	}
	return c.Exec("UPDATE "+quote(l.runs)+" SET state = ?, ended = datetime('now') WHERE run = ?", state, id)
}

// written is how many rows a run has put into the target.
func (l ledger) written(c *native.Conn, id string) (int64, error) {
	states, err := l.states(c, id)
	n := int64(0)
	for _, s := range states {
		n += s.Counters.Written
	}
	return n, err
}

// register inserts the splits that are not there yet, and counts them.
func (l ledger) register(c *native.Conn, id string, splits []connector.Split) error {
	s, err := c.Prepare("INSERT OR IGNORE INTO " + quote(l.positions) + " (run, split, token, position, commit_no, done, counters, dirty) VALUES (?, ?, 0, '', 0, 0, '{}', '[]')")
	if err != nil {
		return err
	}
	defer s.Close()
	added := int64(0)
	for _, split := range splits {
		if err := s.Run(id, int64(split.ID)); err != nil {
			return err
		}
		added += c.Changes()
	}
	return c.Exec("UPDATE "+quote(l.runs)+" SET splits = splits + ? WHERE run = ?", added, id)
}

const stateColumns = "split, token, position, commit_no, done, counters, dirty"

// state returns a split's row; ok is false when there is none.
func (l ledger) state(c *native.Conn, id string, split connector.SplitID) (state connector.SplitState, ok bool, err error) {
	err = c.Query("SELECT "+stateColumns+" FROM "+quote(l.positions)+" WHERE run = ? AND split = ?", []any{id, int64(split)}, func(s *native.Stmt) error {
		ok = true
		state, err = scanState(s)
		return err
	})
	return state, ok, err
}

// states returns the rows of a run's splits in order.
func (l ledger) states(c *native.Conn, id string) ([]connector.SplitState, error) {
	var states []connector.SplitState
	err := c.Query("SELECT "+stateColumns+" FROM "+quote(l.positions)+" WHERE run = ? ORDER BY split", []any{id}, func(s *native.Stmt) error {
		state, err := scanState(s)
		states = append(states, state)
		return err
	})
	return states, err
}

func scanState(s *native.Stmt) (connector.SplitState, error) {
	state := connector.SplitState{
		Split: connector.SplitID(s.Int64(0)), Token: connector.Token(s.Int64(1)), Position: connector.Position(s.String(2)),
		CommitNo: s.Int64(3), Done: s.Int64(4) == 1,
	}
	err := errors.Join(json.Unmarshal([]byte(s.String(5)), &state.Counters), json.Unmarshal([]byte(s.String(6)), &state.Dirty))
	if err != nil {
		return state, connector.Errorf(connector.Fatal, "the row of split %d in the table of positions cannot be read: %w", state.Split, err)
	}
	if len(state.Dirty) == 0 {
		state.Dirty = nil
	}
	return state, nil
}

// claim raises a split's token, never inserting (exactness rule 2), and
// returns the split's state.
func (l ledger) claim(c *native.Conn, id string, split connector.SplitID, token connector.Token) (connector.SplitState, error) {
	if l.rules.claimByInsert {
		if err := l.register(c, id, []connector.Split{{ID: split}}); err != nil {
			return connector.SplitState{}, err
		}
	}
	err := c.Exec("UPDATE "+quote(l.positions)+" SET token = ? WHERE run = ? AND split = ? AND token < ?", int64(token), id, int64(split), int64(token))
	if err != nil {
		return connector.SplitState{}, err
	}
	state, ok, err := l.state(c, id, split)
	switch {
	case err != nil:
		return state, err
	case !ok:
		return state, l.missing(c, id, split)
	case state.Token != token:
		return state, connector.TakenElsewhere(id, split, state.Token)
	}
	return state, nil
}

// commit stores the state where the token is still the attempt's own, with
// the commit number raised (exactness rule 3).
func (l ledger) commit(c *native.Conn, id string, state connector.SplitState) error {
	counters, err := json.Marshal(state.Counters)
	if err != nil {
		return err
	}
	dirty, err := json.Marshal(state.Dirty)
	if err != nil {
		return err
	}
	done := int64(0)
	if state.Done {
		done = 1
	}
	mine := "token = ?"
	if l.rules.ignoreToken {
		mine = "? > 0"
	}
	err = c.Exec("UPDATE "+quote(l.positions)+" SET position = ?, commit_no = ?, done = ?, counters = ?, dirty = ? WHERE run = ? AND split = ? AND "+mine,
		string(state.Position), state.CommitNo, done, string(counters), string(dirty), id, int64(state.Split), int64(state.Token))
	if err != nil {
		return err
	}
	if n := c.Changes(); n != 1 && !l.rules.commitAnyway {
		return connector.Errorf(connector.Fenced, "split %d no longer belongs to attempt %s (%d rows)", state.Split, state.Token, n)
	}
	return nil
}

// open is nil when the run's marker says that it is open.
func (l ledger) open(c *native.Conn, id string) (*marker, error) {
	if l.rules.claimByInsert {
		return l.run(c, id)
	}
	there, err := l.exists(c)
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, connector.Errorf(connector.Fatal, "the target was reset: it has no tables %s and %s; begin anew with --restart", l.runs, l.positions)
	}
	m, err := l.run(c, id)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, connector.Errorf(connector.Fatal, "the target was reset: it does not know run %s; begin anew with --restart", id)
	case m.state == runFinished:
		return m, fmt.Errorf("run %s: %w", id, connector.ErrFinished)
	case m.state == runAbandoned:
		return m, connector.GivenUpElsewhere(id)
	}
	return m, nil
}

// takes is open for those who would write: a run that has finished is one that
// another process has finished.
func (l ledger) takes(c *native.Conn, id string) (*marker, error) {
	m, err := l.open(c, id)
	if errors.Is(err, connector.ErrFinished) {
		return m, connector.FinishedElsewhere(id)
	}
	return m, err
}

// missing says why a split has no row.
func (l ledger) missing(c *native.Conn, id string, split connector.SplitID) error {
	m, err := l.takes(c, id)
	if err != nil {
		return err
	}
	states, err := l.states(c, id)
	if err != nil {
		return err
	}
	if int64(len(states)) < m.splits {
		return l.splitsGone(m, len(states))
	}
	return connector.Errorf(connector.Fenced, "run %s has no split %d in the target", id, split)
}

// splitsGone is the error of a run of which rows of splits have gone.
func (l ledger) splitsGone(m *marker, there int) error {
	return connector.Errorf(connector.Fatal, "the target was reset: %d splits of run %s were registered, and %s has %d of them; begin anew with --restart",
		m.splits, m.id, l.positions, there)
}
