package native

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func open(t testing.TB, path string, mode Mode, wait time.Duration) *Conn {
	t.Helper()
	c, err := Open(path, mode, wait)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestStatementsAndValues(t *testing.T) {
	c := open(t, filepath.Join(t.TempDir(), "x.db"), CreateMode, 0)
	if err := c.Exec("CREATE TABLE t(a, b); /* and */ INSERT INTO t VALUES (?, ?); -- the end", int64(-7), 1.5); err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare("INSERT INTO t VALUES (?, ?)")
	if err != nil {
		t.Fatal(err)
	}
	var m Memory
	p, err := m.Copy([]byte("text\x00blob"))
	if err != nil {
		t.Fatal(err)
	}
	s.BindText(0, p, 5)
	s.BindBlob(1, p+5, 4)
	if row, err := s.Step(); row || err != nil {
		t.Fatal(row, err)
	}
	s.BindText(0, p, 0)
	s.BindNull(1)
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s.Close()
	m.Free()
	m.Free()
	var got []string
	err = c.Query("SELECT typeof(a), a, typeof(b), b FROM t", nil, func(s *Stmt) error {
		got = append(got, s.String(0)+" "+s.String(1)+" "+s.String(2)+" "+s.String(3))
		return nil
	})
	want := "integer -7 real 1.5|text text\x00 blob blob|text  null "
	if strings.Join(got, "|") != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := c.Prepare("SELECT 1; SELECT 2"); err == nil {
		t.Error("two statements were prepared as one")
	}
	if _, err := c.Prepare(" -- nothing"); err == nil {
		t.Error("a comment was prepared")
	}
	if err := c.Exec("INSERT INTO t VALUES (?, ?)", int64(1)); err == nil {
		t.Error("a parameter without a value was bound")
	}
}

func TestReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if _, err := Open(path, ReadWriteMode, 0); ReasonOf(err) != CannotOpen {
		t.Errorf("a missing file: %v", err)
	}
	c := open(t, path, CreateMode, 0)
	if err := c.Exec("CREATE TABLE t(a UNIQUE); INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if err := c.Exec("INSERT INTO t VALUES (1)"); ReasonOf(err) != Constraint {
		t.Errorf("a key twice: %v", err)
	}
	if err := open(t, path, ReadOnlyMode, 0).Exec("DELETE FROM t"); ReasonOf(err) != ReadOnly {
		t.Errorf("writing through a connection for reading: %v", err)
	}
	if err := c.Exec("SELECT FROM"); err == nil || ReasonOf(err) != Other {
		t.Errorf("no SQL: %v", err)
	}
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil || !c.InTransaction() {
		t.Fatal(err)
	}
	start := time.Now()
	other := open(t, path, ReadWriteMode, 50*time.Millisecond)
	if err := other.Exec("BEGIN IMMEDIATE"); ReasonOf(err) != Busy || time.Since(start) < 40*time.Millisecond {
		t.Errorf("a locked file: %v after %s", err, time.Since(start))
	}
}

func TestContextsInterrupt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	c, other := open(t, path, CreateMode, 0), open(t, path, CreateMode, time.Hour)
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	for what, sql := range map[string]string{
		"a wait for a lock": "BEGIN IMMEDIATE",
		"a long query":      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		stop := other.Watch(ctx)
		err := other.Exec(sql)
		stop()
		cancel()
		if r := ReasonOf(err); r != Busy && r != Interrupted {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What was interrupted before is of no matter to the next call.
	if err := errors.Join(c.Exec("COMMIT"), other.Exec("CREATE TABLE t(a)")); err != nil {
		t.Error(err)
	}
}

// SQLite ends a statement at a zero byte; what stands behind it would never be
// run, and waited for without an end.
func TestZeroByteInAStatement(t *testing.T) {
	c := open(t, ":memory:", CreateMode, 0)
	for _, sql := range []string{"CREATE TABLE t(a)\x00", "CREATE TABLE t(a); \x00CREATE TABLE u(a)"} {
		if err := c.Exec(sql); err == nil || !strings.Contains(err.Error(), "zero byte") {
			t.Errorf("Exec(%q): %v", sql, err)
		}
		if s, err := c.Prepare(sql); err == nil {
			s.Close()
			t.Errorf("Prepare(%q) is fine", sql)
		}
	}
}
