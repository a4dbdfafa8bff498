package sqlite

import (
	"errors"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// halfway runs a job up to its first commit, of rows 3, 4 and 5.
func (f file) halfway(options map[string]any) (*Sink, connector.Run, connector.SplitState) {
	f.t.Helper()
	ctx, run := f.t.Context(), connector.Run{ID: "r", JobHash: "hash"}
	in := fields(f.t, "a int64", "b text")
	s := f.sink(options, nil)
	_, err := s.Resolve(ctx, in)
	if err == nil {
		err = s.Prepare(ctx, run)
	}
	if err == nil {
		err = s.Register(ctx, run, []connector.Split{{ID: 0}})
	}
	if err != nil {
		f.t.Fatal(err)
	}
	w, state, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	defer w.Close()
	if err := w.Write(ctx, rowsOf(in, []string{"3", "x"}, []string{"4", "x"}, []string{"5", "x"})); err != nil {
		f.t.Fatal(err)
	}
	state.Done = true
	if state, err = w.Commit(ctx, state); err != nil {
		f.t.Fatal(err)
	}
	return s, run, state
}

// Exactness rule 1: a target from which the committed rows are gone is found,
// at resuming and at the end; what others may do to it is none of that.
func TestRowsGoneFromTheTarget(t *testing.T) {
	const table = "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT)"
	const two = "; INSERT INTO t VALUES (1, 'old'), (2, 'old')"
	for _, c := range []struct {
		name, mode, before, meanwhile string
		fatal                         bool
	}{
		{"emptied", "append", table, "DELETE FROM t", true},
		{"emptied, with rows before", "append", table + two, "DELETE FROM t", true},
		{"some rows of the run deleted", "truncate", table, "DELETE FROM t WHERE a = 4", true},
		{"dropped", "append", table, "DROP TABLE t", true},
		{"dropped, and was made by the run", "append", "", "DROP TABLE t", true},
		{"made anew as it was", "append", table, "DROP TABLE t; " + table, true},
		{"made anew as it was, and filled as before", "append", table + two, "DROP TABLE t; " + table + two, true},
		{"made anew otherwise, with as many rows as the run wrote", "append", table + two, "DROP TABLE t; CREATE TABLE t(a INT, b ANY)" + two + ", (9, 'new')", true},
		{"made anew on another page, with as many rows as the run wrote", "append", table + two, "CREATE TABLE u(a); DROP TABLE t; CREATE TABLE v(a); " + table + two + ", (9, 'new')", true},
		{"emptied under upsert", "upsert", table + two, "DELETE FROM t", true},
		{"made anew otherwise under upsert", "upsert", table + two, "DROP TABLE t; CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c); INSERT INTO t VALUES (1, 'old', 0)", true},
		{"the staging table emptied", "overwrite", table + two, "DELETE FROM leat_staging_r", true},
		{"untouched", "append", table + two, "", false},
		{"rows before the run deleted", "append", table + two, "DELETE FROM t WHERE a < 3", false},
		{"rows added", "truncate", table + two, "INSERT INTO t VALUES (10, 'new')", false},
		{"widened", "append", table + two, "ALTER TABLE t ADD COLUMN c", false},
		{"moved by VACUUM", "append", "CREATE TABLE u(a); " + table + two, "DROP TABLE u; VACUUM", false},
		{"replaced by its copy", "append", table + two, "CREATE TABLE u(a INTEGER PRIMARY KEY, b TEXT); INSERT INTO u SELECT * FROM t; DROP TABLE t; ALTER TABLE u RENAME TO t", false},
		{"some rows deleted under upsert", "upsert", table + two, "DELETE FROM t WHERE a <> 4", false},
		{"rows moved on by a trigger", "append", table + "; CREATE TRIGGER moves AFTER INSERT ON t BEGIN DELETE FROM t WHERE a = new.a; END", "", false},
		{"the old table emptied under overwrite", "overwrite", table + two, "DELETE FROM t", false},
	} {
		for _, when := range []string{"resuming", "the end"} {
			t.Run(c.name+", before "+when, func(t *testing.T) {
				f := newFile(t)
				f.exec(c.before)
				options := map[string]any{"mode": c.mode, "allow_refused": true}
				s, run, state := f.halfway(options)
				f.exec(c.meanwhile)
				var err error
				if when == "resuming" {
					s = f.sink(options, nil)
					_, err = s.Resolve(t.Context(), fields(t, "a int64", "b text"))
					err = errors.Join(err, s.Prepare(t.Context(), run))
				} else {
					err = s.Finish(t.Context(), run, []connector.SplitState{state})
				}
				if fatal := connector.ClassOf(err) == connector.Fatal; fatal != c.fatal || err != nil && !fatal {
					t.Errorf("%v", err)
				}
				if c.fatal && err != nil && !strings.Contains(err.Error(), "--restart") {
					t.Errorf("%q names no way out", err)
				}
			})
		}
	}
}

// A file whose tables of ours are of an earlier version can be written to, and
// a run goes on that noted nothing of its target.
func TestALedgerWithoutMarks(t *testing.T) {
	f := newFile(t)
	_, run, state := f.halfway(nil)
	f.exec("ALTER TABLE leat_runs DROP COLUMN target")
	s := f.sink(nil, nil)
	if _, err := s.Resolve(t.Context(), fields(t, "a int64", "b text")); err != nil {
		t.Fatal(err)
	}
	if err := s.Prepare(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), run, []connector.SplitState{state}); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT a FROM t"), []string{"3", "4", "5"})
}
