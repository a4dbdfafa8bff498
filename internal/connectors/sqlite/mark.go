package sqlite

import (
	"encoding/json"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

// mark is what a run notes of the table that it fills, so that it later knows
// whether its rows are still there. SQLite has no identifier of a table that a
// new one of the same name has not: neither its definition nor its root page
// is one (ALTER and VACUUM change them, and a new table may get the same), so
// that the number of rows has the last word.
type mark struct {
	// Made is a hash of the definition.
	Made string `json:"made"`
	// Root is the first page of its tree.
	Root int64 `json:"root"`
	// Rows is how many rows it held before the run.
	Rows int64 `json:"rows"`
}

// markOf reads a table's mark; ok is false when there is no such table.
func markOf(c *native.Conn, table string) (m mark, ok bool, err error) {
	err = c.Query("SELECT coalesce(sql, ''), rootpage FROM main.sqlite_schema WHERE lower(name) = lower(?) AND type = 'table'", []any{table}, func(s *native.Stmt) error {
		m.Made, m.Root, ok = hashText(s.String(0)), s.Int64(1), true
		return nil
	})
	if err != nil || !ok {
		return m, ok, err
	}
	err = c.Query("SELECT count(*) FROM "+quote(table), nil, func(s *native.Stmt) error {
		m.Rows = s.Int64(0)
		return nil
	})
	return m, ok, err
}

// String is the mark as the ledger keeps it.
func (m mark) String() string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // a text and numbers can always be marshalled
	}
	return string(text)
}

// checkTarget is Fatal when the table that the run fills is gone, or cannot
// hold the rows that the run has committed: someone has emptied it, or made
// another one of its name (exactness rule 1).
func (s *Sink) checkTarget(c *native.Conn, m *marker, table string) error {
	now, ok, err := markOf(c, table)
	if err != nil {
		return err
	}
	if !ok {
		return connector.Errorf(connector.Fatal, "the target was reset: table %s of run %s is gone; begin anew with --restart", table, m.id)
	}
	written, err := s.ledger.written(c, m.id)
	if err != nil || written == 0 || m.target == "" {
		return err
	}
	var then mark
	if err := json.Unmarshal([]byte(m.target), &then); err != nil {
		return connector.Errorf(connector.Fatal, "the row of run %s in the table of runs cannot be read: %w", m.id, err)
	}
	if removes, err := removedByTriggers(c, table); err != nil || removes {
		return err
	}
	least := written
	if s.options.Mode == database.Upsert {
		least = 1
	}
	if then.Made != now.Made || then.Root != now.Root {
		// Another table, or the same after ALTER or VACUUM: then all rows are there.
		if least = then.Rows + written; s.options.Mode == database.Upsert {
			least = max(1, then.Rows)
		}
	}
	if now.Rows >= least {
		return nil
	}
	return connector.Errorf(connector.Fatal, "the target was reset: table %s held %d rows before run %s, which has put %d into it, and holds %d now; begin anew with --restart",
		table, then.Rows, m.id, written, now.Rows)
}

// removedByTriggers reports whether triggers of the table may remove rows, so
// that their number says nothing.
func removedByTriggers(c *native.Conn, table string) (removes bool, err error) {
	err = c.Query("SELECT upper(sql) FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = lower(?)", []any{table}, func(s *native.Stmt) error {
		sql := s.String(0)
		removes = removes || strings.Contains(sql, "DELETE") || strings.Contains(sql, "REPLACE")
		return nil
	})
	return removes, err
}
