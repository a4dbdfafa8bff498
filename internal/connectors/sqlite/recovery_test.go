package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// TestCrashRecoveryWhileReading reads a file as a kill in the middle of a
// transaction leaves it: with pages of it written, and the journal that takes
// them back (exactness rule 3: rows that did not commit never count).
func TestCrashRecoveryWhileReading(t *testing.T) {
	live, left := filepath.Join(t.TempDir(), "x.db"), filepath.Join(t.TempDir(), "x.db")
	c, err := dbFile{path: live}.openWrite()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // its transaction is never committed
	// A cache of two pages writes to the file before the commit.
	for _, sql := range []string{
		"CREATE TABLE t (x TEXT)", "INSERT INTO t VALUES ('old')", "PRAGMA cache_size=2; PRAGMA cache_spill=2", "BEGIN",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 5000) INSERT INTO t SELECT 'new ' || i FROM n",
	} {
		if err := c.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, suffix := range []string{"", "-journal"} {
		data, err := os.ReadFile(live + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(left+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := dbFile{path: left}.openRead()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // read only
	var rows int64
	if err := r.Query("SELECT count(*) FROM t", nil, func(s *native.Stmt) error { rows = s.Int64(0); return nil }); err != nil {
		t.Fatal(err)
	}
	if rows != 1 {
		t.Errorf("%d rows: those of the lost transaction count", rows)
	}
	if err := r.Exec("DELETE FROM t"); err == nil {
		t.Error("a connection for reading deletes")
	}
}
