package database

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Session runs a ledger's statements. It belongs to one goroutine at a time.
type Session interface {
	// Rows returns the rows of a statement, their cells as texts; a NULL is a
	// nil cell. The caller owns them.
	Rows(ctx context.Context, sql string) ([][][]byte, error)
	// Change runs a statement and returns how many rows it found, be they
	// changed by it or not.
	Change(ctx context.Context, sql string) (int64, error)
}

// Ledger is the tables of ours in a target: a marker row for each run, and a
// row for each split of an open run (exactness rule 1). Both have the columns
// that its statements name; the connector makes them.
type Ledger struct {
	// Runs and Positions are the tables' names as SQL.
	Runs, Positions string
	Rules           Rules
	// Text is a text as a literal.
	Text func(string) string
	// Wrap says what was being done and gives the error its class; nil stays nil.
	Wrap func(doing string, err error) error
}

// SplitText is a split's id in statements.
func SplitText(id connector.SplitID) string { return strconv.FormatInt(int64(id), 10) }

// TokenText is a token in statements.
func TokenText(t connector.Token) string { return strconv.FormatUint(uint64(t), 10) }

// ofRun is the condition of a run's rows.
func (l *Ledger) ofRun(run string) string { return " WHERE run = " + l.Text(run) }

// ofSplit is the condition of a split's row.
func (l *Ledger) ofSplit(run string, split connector.SplitID) string {
	return l.ofRun(run) + " AND split = " + SplitText(split)
}

// Owned is the condition by which a writer finds its row.
func (l *Ledger) Owned(run string, split connector.SplitID, token connector.Token) string {
	if l.Rules.IgnoreToken {
		return l.ofSplit(run, split)
	}
	return l.ofSplit(run, split) + " AND token = " + TokenText(token)
}

// one returns a statement's first row; no row is a nil row.
func one(ctx context.Context, s Session, sql string) ([][]byte, error) {
	rows, err := s.Rows(ctx, sql)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// Marker reads a run's marker; nil when there is none.
func (l *Ledger) Marker(ctx context.Context, s Session, run string) (*Marker, error) {
	return l.marker(ctx, s, run, "")
}

// Lock is Marker, with the row locked until the transaction ends.
func (l *Ledger) Lock(ctx context.Context, s Session, run string) (*Marker, error) {
	return l.marker(ctx, s, run, " FOR UPDATE")
}

func (l *Ledger) marker(ctx context.Context, s Session, run, locking string) (*Marker, error) {
	row, err := one(ctx, s, "SELECT COALESCE(outcome, ''), COALESCE(staging, ''), splits, target FROM "+l.Runs+l.ofRun(run)+locking)
	if err != nil {
		return nil, l.Wrap("read the run's marker", err)
	}
	if row == nil {
		return nil, nil
	}
	splits, err := strconv.ParseInt(string(row[2]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the run's marker: %w", err)
	}
	return &Marker{Run: run, Outcome: string(row[0]), Staging: string(row[1]), Splits: splits, Target: string(row[3])}, nil
}

// Begin writes the marker of a new run, whose rows go into staging, or else
// into target.
func (l *Ledger) Begin(ctx context.Context, s Session, run connector.Run, target, staging string) error {
	_, err := s.Change(ctx, "INSERT INTO "+l.Runs+" (run, job, job_hash, target, staging) VALUES ("+l.Text(run.ID)+", "+l.Text(run.Job)+
		", "+l.Text(run.JobHash)+", "+l.Text(target)+", NULLIF("+l.Text(staging)+", ''))")
	return l.Wrap("write the run's marker", err)
}

// End sets a run's outcome; its split rows go once it has ended. No totals
// leave those that are noted.
func (l *Ledger) End(ctx context.Context, s Session, run, outcome, totals string) error {
	_, err := s.Change(ctx, "UPDATE "+l.Runs+" SET outcome = "+l.Text(outcome)+", ended = CURRENT_TIMESTAMP(6), totals = COALESCE(NULLIF("+l.Text(totals)+
		", ''), totals)"+l.ofRun(run))
	if err == nil && outcome != Posting && outcome != Renaming {
		_, err = s.Change(ctx, "DELETE FROM "+l.Positions+l.ofRun(run))
	}
	return l.Wrap("mark the run "+outcome, err)
}

// registerBytes is about how long a statement of Register gets.
const registerBytes = 100_000

// Register inserts the rows of new splits, under the marker's lock. It looks
// for the known ones, since an insert would wait for who holds one of them.
func (l *Ledger) Register(ctx context.Context, s Session, run string, splits []connector.Split) error {
	rows, err := s.Rows(ctx, "SELECT split FROM "+l.Positions+l.ofRun(run))
	if err != nil {
		return l.Wrap("look for known splits", err)
	}
	known := make(map[string]bool, len(rows)+len(splits))
	for _, row := range rows {
		known[string(row[0])] = true
	}
	var added int64
	var text strings.Builder
	flush := func() error {
		if text.Len() == 0 {
			return nil
		}
		_, err := s.Change(ctx, "INSERT INTO "+l.Positions+" (run, split, position, state) VALUES "+text.String())
		text.Reset()
		return l.Wrap("insert the splits", err)
	}
	for _, split := range splits {
		id := SplitText(split.ID)
		if known[id] {
			continue
		}
		known[id] = true
		state, err := json.Marshal(connector.SplitState{Split: split.ID})
		if err != nil {
			return fmt.Errorf("encode split %d: %w", split.ID, err)
		}
		if text.Len() > 0 {
			text.WriteByte(',')
		}
		text.WriteString("(" + l.Text(run) + ", " + id + ", '', " + l.Text(string(state)) + ")")
		added++
		if text.Len() > registerBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil || added == 0 {
		return err
	}
	_, err = s.Change(ctx, fmt.Sprintf("UPDATE %s SET splits = splits + %d%s", l.Runs, added, l.ofRun(run)))
	return l.Wrap("count the splits", err)
}

// States reads the states of all splits of a run whose marker was read before.
func (l *Ledger) States(ctx context.Context, s Session, m *Marker) ([]connector.SplitState, error) {
	rows, err := s.Rows(ctx, "SELECT state, token FROM "+l.Positions+l.ofRun(m.Run)+" ORDER BY split")
	if err != nil {
		return nil, l.Wrap("read the positions", err)
	}
	states := make([]connector.SplitState, len(rows))
	for i, row := range rows {
		if states[i], err = DecodeState(row); err != nil {
			return nil, err
		}
	}
	return states, l.complete(m, int64(len(rows)))
}

// DecodeState reads a row's state and the token beside it, which is the newer.
func DecodeState(row [][]byte) (connector.SplitState, error) {
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

// CheckPositions fails when rows of splits have gone.
func (l *Ledger) CheckPositions(ctx context.Context, s Session, m *Marker) error {
	row, err := one(ctx, s, "SELECT COUNT(*) FROM "+l.Positions+l.ofRun(m.Run))
	if err != nil {
		return l.Wrap("count the positions", err)
	}
	n, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		return fmt.Errorf("count the positions: %w", err)
	}
	return l.complete(m, n)
}

// complete judges the number of split rows. Unlogged tables are empty after a
// crash of the server, the target's like ours; the marker stays.
func (l *Ledger) complete(m *Marker, rows int64) error {
	if rows >= m.Splits {
		return nil
	}
	return connector.Errorf(connector.Fatal,
		"the target was reset: %d of the run's %d positions are gone from %s, so rows that count as written may be gone too; look what the target holds, and begin anew with --restart",
		m.Splits-rows, m.Splits, l.Positions)
}
