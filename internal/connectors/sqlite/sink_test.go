package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

func TestAMissingTableIsMadeWithKeyAndNotNull(t *testing.T) {
	f := newFile(t)
	in := fields(t, "id int64!", "name text", "price decimal(10,2)", "ok bool", "day date", "raw bytes", "w float64", "u uint64")
	in.Key = []string{"id"}
	state, rejected, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in,
		[]string{"1", "", "7.10", "true", "2024-01-31", "\x00\xff", "0.5", "18446744073709551615"},
		[]string{"2", null, null, null, null, null, null, "9223372036854775807"},
		[]string{"3", "Žluťoučký 😀", "12345678901234567890.12", "false", "0044-03-15 BC", "", "-1e300", "7"},
		[]string{"4", "x", "1", "true", "2024-01-31", "", "-0.0", "7"},
	))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected", rejected, []string{"0 u: out of range for int64", "3 w: SQLite has no minus zero, and would store zero"})
	if state.Counters.Written != 2 || state.CommitNo != 1 {
		t.Errorf("state %+v", state)
	}
	equal(t, "table", f.query("SELECT sql FROM sqlite_schema WHERE name = 't'"), []string{
		`"CREATE TABLE \"t\" (\"id\" INTEGER NOT NULL, \"name\" TEXT, \"price\" TEXT, \"ok\" BOOLEAN, \"day\" TEXT, \"raw\" BLOB, \"w\" REAL, \"u\" INTEGER, PRIMARY KEY (\"id\"))"`,
	})
	equal(t, "rows", f.query("SELECT * FROM t"), []string{
		`2 NULL NULL NULL NULL NULL NULL 9223372036854775807`,
		`3 "Žluťoučký 😀" "12345678901234567890.12" 0 "0044-03-15 BC" x'' real(-1e+300) 7`,
	})
}

func TestTheSameRunTwiceInOverwriteModeGivesTheSameTable(t *testing.T) {
	f := newFile(t)
	in := fields(t, "id int64!", "name text")
	in.Key = []string{"id"}
	rows := func() *batch.Batch { return rowsOf(in, []string{"1", "a"}, []string{"2", "b"}) }
	for _, run := range []string{"r1", "r2", "r3"} {
		if _, _, err := f.load(f.sink(map[string]any{"mode": "overwrite"}, nil), run, in, rows()); err != nil {
			t.Fatal(run, err)
		}
		equal(t, run, f.query("SELECT * FROM t"), []string{`1 "a"`, `2 "b"`})
	}
	equal(t, "tables", f.query("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"), []string{`"leat_positions"`, `"leat_runs"`, `"t"`})
	equal(t, "runs", f.query("SELECT run, state FROM leat_runs"), []string{`"r1" "finished"`, `"r2" "finished"`, `"r3" "finished"`})
	equal(t, "positions", f.query("SELECT * FROM leat_positions"), nil)
}

func TestOverwriteKeepsTheTableItself(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE [my t](id INTEGER PRIMARY KEY, n TEXT UNIQUE ON CONFLICT REPLACE, x DECIMAL(5,2) DEFAULT 1, CHECK (x < 100));
CREATE UNIQUE INDEX "ux" /* why */ ON "my t" (x) WHERE x > 50;
CREATE INDEX ix ON "my t"(n);
CREATE VIEW v AS SELECT n FROM "my t";
CREATE VIEW broken AS SELECT * FROM nowhere;
CREATE TABLE log(n);
CREATE TRIGGER tr AFTER INSERT ON "my t" BEGIN INSERT INTO log VALUES (new.n); END;
INSERT INTO "my t" VALUES (7, 'old', 2)`)
	before := f.query("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'leat%' AND name NOT LIKE 'sqlite_autoindex_leat%'")
	in := fields(t, "x decimal", "n text", "id int64")
	_, rejected, err := f.load(f.sink(map[string]any{"mode": "overwrite", "table": "my T"}, nil), "r1", in, rowsOf(in,
		[]string{"1.50", "a", "1"}, []string{"2", "a", "2"}, []string{"200", "b", "3"}, []string{"60", "c", "4"}, []string{"60.00", "d", "5"},
	))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected", rejected, []string{
		"1 : UNIQUE constraint failed: leat_staging_r1.n",
		"2 : CHECK constraint failed: x < 100",
		"4 : UNIQUE constraint failed: leat_staging_r1.x",
	})
	equal(t, "rows", f.query("SELECT id, n, x FROM v JOIN \"my t\" USING (n)"), []string{`1 "a" real(1.5)`, `4 "c" 60`})
	equal(t, "triggers ran for", f.query("SELECT n FROM log WHERE n <> 'old'"), []string{`"a"`, `"c"`})
	equal(t, "catalogue", f.query("SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'leat%' AND name NOT LIKE 'sqlite_autoindex_leat%'"), before)
}

func TestNothingShowsBeforeAnOverwritingRunFinishes(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
	in := fields(t, "id int64")
	s := f.sink(map[string]any{"mode": "overwrite"}, func(point string) {
		if point == "after-commit" {
			equal(t, "rows before the end", f.query("SELECT * FROM t"), []string{"1"})
		}
	})
	if _, _, err := f.load(s, "r1", in, rowsOf(in, []string{"5"})); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT * FROM t"), []string{"5"})
}

// Exactness rule 8: the last record of a key wins, the others are merged.
func TestUpsert(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a TEXT, b INTEGER NOT NULL, v TEXT CHECK (v <> 'bad'), keep TEXT DEFAULT 'x', PRIMARY KEY (a, b)); INSERT INTO t VALUES ('k', 1, 'old', 'kept')")
	in := fields(t, "v text", "b int64", "a text")
	s := f.sink(map[string]any{"mode": "upsert"}, nil)
	state, rejected, err := f.load(s, "r1", in,
		rowsOf(in, []string{"new", "1", "k"}, []string{"one", "2", "k"}),
		rowsOf(in, []string{"first", "3", "k"}, []string{"second", "3", "k"}, []string{"bad", "3", "k"}, []string{"other", "4", "k"}, []string{"no", "5", null}),
	)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected", rejected, []string{"2 : CHECK constraint failed: v <> 'bad'", "4 a: NULL in the key by which upsert finds a row"})
	equal(t, "rows", f.query("SELECT * FROM t ORDER BY b"), []string{`"k" 1 "new" "kept"`, `"k" 2 "one" "x"`, `"k" 3 "second" "x"`, `"k" 4 "other" "x"`})
	if c := state.Counters; c.Written != 4 || c.Merged != 1 || c.Dirty != 2 {
		t.Errorf("counters %+v", c)
	}
}

// With nulls: keep a NULL leaves what is there, also what an earlier record of
// the same key has put there.
func TestUpsertKeepsWhereNull(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, 'old'), (2, 'kept')")
	in := fields(t, "a int64", "v text")
	state, _, err := f.load(f.sink(map[string]any{"mode": "upsert", "nulls": "keep"}, nil), "r1", in,
		rowsOf(in, []string{"1", "new"}, []string{"2", null}),
		rowsOf(in, []string{"3", "first"}, []string{"3", null}, []string{"4", null}))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT * FROM t ORDER BY a"), []string{`1 "new"`, `2 "kept"`, `3 "first"`, `4 NULL`})
	if c := state.Counters; c.Written != 4 || c.Merged != 1 {
		t.Errorf("counters %+v", c)
	}
}

func TestUpsertWhereEveryColumnIsInTheKey(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a TEXT PRIMARY KEY); INSERT INTO t VALUES ('x')")
	in := fields(t, "a text")
	state, _, err := f.load(f.sink(map[string]any{"mode": "upsert"}, nil), "r1", in, rowsOf(in, []string{"x"}, []string{"y"}))
	if err != nil || state.Counters.Written != 2 {
		t.Fatalf("written %d, error %v", state.Counters.Written, err)
	}
	equal(t, "rows", f.query("SELECT * FROM t"), []string{`"x"`, `"y"`})
}

// Cells that affinity would change are stored such that they read back the
// same, or are dirty.
func TestAffinityChangesNothingSilently(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(n INTEGER, d DECIMAL(10,2), x NUMERIC, s STRING, j JSON, u, b BOOLEAN, r REAL, ts DATETIME)")
	in := fields(t, "n untyped", "d untyped", "x untyped", "s untyped", "j untyped", "u untyped", "b untyped", "r untyped", "ts untyped")
	good := []string{"7", "7.10", "7.5", "abc", `{"a":1}`, "007", "yes", "1e3", "2024-01-31T13:05:00"}
	var rows [][]string
	add := func(column int, value string) {
		row := append([]string{}, good...)
		row[column] = value
		rows = append(rows, row)
	}
	rows = append(rows, good)
	for column, values := range [][]string{
		{"", "1.5", "abc", "9223372036854775808"},
		{"99999999999999.99", "12345678.90", "99999999.99", "1.234", "NaN", ""},
		{"7.10", "7.00", "0.1", "12345678901234567890", "12345678901234567890.5", "1e20"},
		{"007", "1.0", "1e5", "12", "1.5", " 12", "", "0x10"},
		{"1.0", "12", "1e5", "[1.0]", "nope"},
		{"", "1.50"},
		{"2", "true", ""},
		{"NaN", "Infinity", ""},
		{"", "2024-02-30 00:00:00"},
	} {
		for _, v := range values {
			add(column, v)
		}
	}
	_, rejected, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in, rows...))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rejected {
		place, reason, _ := strings.Cut(r, ": ")
		var row int
		var column string
		if _, err := sscan(place, &row, &column); err != nil {
			t.Fatal(err)
		}
		got = append(got, column+" "+rows[row][in.Index(column)]+": "+reason[:min(len(reason), 24)])
	}
	equal(t, "rejected", got, []string{
		"n : not a whole number", "n 1.5: not a whole number", "n abc: not a whole number", "n 9223372036854775808: out of range for int64",
		"d 99999999999999.99: too many digits before t", "d 1.234: more digits after the po", "d NaN: the column keeps decimal", "d : not a number",
		"x 7.10: the column keeps decimal", "x 7.00: the column keeps decimal", "x 12345678901234567890: the column keeps decimal", "x 12345678901234567890.5: the column keeps decimal",
		"s 007: the column has numeric a", "s 1.0: the column has numeric a", "s 1e5: the column has numeric a", "s  12: the column has numeric a",
		"j 1.0: the column has numeric a", "j 1e5: the column has numeric a", "j nope: not JSON",
		"b 2: not true or false", "b : not true or false",
		"r NaN: SQLite has no NaN, and w", "r : not a number",
		"ts : not a timestamp (YYYY-MM", "ts 2024-02-30 00:00:00: no such day in the calen",
	})
	src := NewSource(&SourceOptions{Path: f.path, Table: "t", SplitRows: 1000}, connector.SourceEnv{})
	back, rejects := read(t, src)
	if len(rejects) > 0 {
		t.Errorf("reading back rejects %v", rejects)
	}
	equal(t, "the first row reads back", back[:1], []string{`"7" "7.10" "7.5" "abc" "{\"a\":1}" "007" "true" "1000" "2024-01-31 13:05:00"`})
	for _, want := range []string{`"12345678.90"`, `"99999999.99"`, `"0.1"`, `"100000000000000000000"`, `"12"`, `"1.5"`, `"0x10"`, `"[1.0]"`, `"1.50"`, `"Infinity"`} {
		if !strings.Contains(strings.Join(back, "\n"), want) {
			t.Errorf("%s does not read back", want)
		}
	}
}

func TestResolveNamesAllThatIsWrong(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, must TEXT NOT NULL, g AS (id + 1), n TEXT)")
	_, err := f.sink(map[string]any{"mode": "upsert", "key": "n"}, nil).Resolve(t.Context(), fields(t, "id int64", "g int64", "N text", "n text", "nope text"))
	if connector.ClassOf(err) != connector.Usage {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{`"nope"`, `"g" of table t is generated`, `"N" and "n" are the same`, `"must" of table t must not be NULL`, "not a unique key"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if _, err := f.sink(map[string]any{"table": "other", "create": "never"}, nil).Resolve(t.Context(), fields(t, "a text")); connector.ClassOf(err) != connector.Usage {
		t.Errorf("a missing table: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := f.sink(map[string]any{"path": filepath.Join(file, "x.db")}, nil)
	_, err = s.Resolve(t.Context(), fields(t, "a text"))
	if err == nil {
		err = s.Prepare(t.Context(), connector.Run{ID: "r"})
	}
	if connector.ClassOf(err) != connector.Usage {
		t.Errorf("a file where a folder has to be: %v", err)
	}
}

func TestResolveChangesNothing(t *testing.T) {
	f := newFile(t)
	plan, err := f.sink(nil, nil).Resolve(t.Context(), fields(t, "a text"))
	if err != nil || !plan.Creates || plan.MaxWriters != 1 || plan.Guarantee != connector.WithPosition {
		t.Fatalf("plan %+v, error %v", plan, err)
	}
	if there, err := (dbFile{path: f.path}).exists(); err != nil || there {
		t.Errorf("the file is there: %v, error %v", there, err)
	}
}

// Exactness rule 1: an open run that the state does not know is refused.
func TestAnEarlierOpenRun(t *testing.T) {
	f := newFile(t)
	in := fields(t, "a int64")
	ctx := t.Context()
	start := func(mode string, run connector.Run) (*Sink, error) {
		s := f.sink(map[string]any{"mode": mode}, nil)
		if _, err := s.Resolve(ctx, in); err != nil {
			t.Fatal(err)
		}
		run.Job, run.JobHash = "job", "hash"
		return s, s.Prepare(ctx, run)
	}
	put := func(s *Sink, id string) {
		run := connector.Run{ID: id}
		if err := s.Register(ctx, run, []connector.Split{{ID: 0}}); err != nil {
			t.Fatal(err)
		}
		w, state, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := w.Write(ctx, rowsOf(in, []string{"1"})); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Commit(ctx, state); err != nil {
			t.Fatal(err)
		}
	}
	s, err := start("append", connector.Run{ID: "r1", Fresh: true})
	if err != nil {
		t.Fatal(err)
	}
	put(s, "r1")
	if _, err := start("append", connector.Run{ID: "r2", Fresh: true}); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "--restart") {
		t.Errorf("a second run beside an open one: %v", err)
	}
	if _, err := start("append", connector.Run{ID: "r2", Restart: true, Abandoned: "r1"}); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "--keep-rows") {
		t.Errorf("restart with rows in the target: %v", err)
	}
	if _, err := start("append", connector.Run{ID: "r2", Restart: true, Abandoned: "r1", KeepRows: true}); err != nil {
		t.Errorf("restart that keeps the rows: %v", err)
	}
	if err := s.Prepare(ctx, connector.Run{ID: "r1"}); connector.ClassOf(err) != connector.Fenced {
		t.Errorf("the abandoned run: %v", err)
	}
	if s, err = start("truncate", connector.Run{ID: "r3", Restart: true}); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows after truncate", f.query("SELECT * FROM t"), nil)
	put(s, "r3")
	if s, err = start("overwrite", connector.Run{ID: "r4", Restart: true}); err != nil {
		t.Fatal(err)
	}
	put(s, "r4")
	if _, err = start("overwrite", connector.Run{ID: "r5", Restart: true}); err != nil {
		t.Fatal(err)
	}
	equal(t, "staging tables", f.query("SELECT name FROM sqlite_schema WHERE name LIKE 'leat_staging%'"), []string{`"leat_staging_r5"`})
}

// Exactness rule 1: positions gone in an open run mean that the target was reset.
func TestAResetTargetIsFatal(t *testing.T) {
	f := newFile(t)
	in := fields(t, "a int64")
	s := f.sink(nil, nil)
	run := connector.Run{ID: "r1"}
	_, err := s.Resolve(t.Context(), in)
	err = errors.Join(err, s.Prepare(t.Context(), run), s.Register(t.Context(), run, []connector.Split{{ID: 0}, {ID: 1}}))
	if err != nil {
		t.Fatal(err)
	}
	if states, err := s.States(t.Context(), run); err != nil || len(states) != 2 {
		t.Fatalf("states %v, error %v", states, err)
	}
	f.exec("DELETE FROM leat_positions WHERE split = 1")
	if _, err := s.States(t.Context(), run); !fatalWithWayOut(err) {
		t.Errorf("a lost row: %v", err)
	}
	if err := s.Finish(t.Context(), run, nil); !fatalWithWayOut(err) {
		t.Errorf("finishing with a lost row: %v", err)
	}
	f.exec("DELETE FROM leat_runs")
	if _, err := s.States(t.Context(), run); !fatalWithWayOut(err) {
		t.Errorf("a lost run: %v", err)
	}
	f.exec("DROP TABLE leat_runs; DROP TABLE leat_positions")
	if err := s.Register(t.Context(), run, []connector.Split{{ID: 2}}); !fatalWithWayOut(err) {
		t.Errorf("lost tables of ours: %v", err)
	}
}

func fatalWithWayOut(err error) bool {
	return connector.ClassOf(err) == connector.Fatal && strings.Contains(err.Error(), "the target was reset") && strings.Contains(err.Error(), "begin anew with --restart")
}

func TestPreAndPost(t *testing.T) {
	f := newFile(t)
	in := fields(t, "a int64")
	s := f.sink(map[string]any{"pre": []any{"CREATE TABLE t(a INTEGER, b TEXT DEFAULT 'x;y')"}, "post": []any{"CREATE INDEX i ON t(a, b); UPDATE t SET a = a + 1"}}, nil)
	if _, _, err := f.load(s, "r1", in, rowsOf(in, []string{"1"})); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT * FROM t"), []string{`2 "x;y"`})
	s = f.sink(map[string]any{"pre": []any{"COMMIT"}}, nil)
	if _, _, err := f.load(s, "r2", in, rowsOf(in, []string{"1"})); connector.ClassOf(err) != connector.Usage {
		t.Errorf("pre that commits: %v", err)
	}
}

func TestTriggersThatSkipRaiseOrRollBack(t *testing.T) {
	setup := `CREATE TABLE t(a INTEGER); CREATE TRIGGER tr AFTER INSERT ON t BEGIN
SELECT RAISE(FAIL, 'fail') WHERE new.a = 1; SELECT RAISE(ABORT, 'abort') WHERE new.a = 2; SELECT RAISE(ROLLBACK, 'rollback') WHERE new.a = 4; END;
CREATE TRIGGER skip BEFORE INSERT ON t BEGIN SELECT RAISE(IGNORE) WHERE new.a = 3; END`
	in := fields(t, "a int64")
	f := newFile(t)
	f.exec(setup)
	state, rejected, err := f.load(f.sink(map[string]any{"allow_refused": true}, nil), "r1", in, rowsOf(in, []string{"0"}, []string{"1"}, []string{"2"}, []string{"3"}, []string{"5"}))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected", rejected, []string{"1 : fail", "2 : abort"})
	equal(t, "rows", f.query("SELECT * FROM t"), []string{"0", "5"})
	if c := state.Counters; c.Written != 2 || c.Refused != 1 || c.Dirty != 2 {
		t.Errorf("counters %+v", c)
	}
	for _, value := range []string{"3", "4"} {
		f := newFile(t)
		f.exec(setup)
		if _, _, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in, []string{"0"}, []string{value})); err == nil || connector.ClassOf(err) != connector.Permanent {
			t.Errorf("row %s: %v", value, err)
		}
		equal(t, "rows", f.query("SELECT * FROM t"), nil)
	}
}

func TestDoubts(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a DECIMAL(5,2), b STRING, c INTEGER REFERENCES other, d, e, f TEXT)")
	in := fields(t, "a decimal", "b text", "c uint64", "d text", "e text", "f text")
	in.Fields[3].Type, in.Fields[5].Type = batch.Type{}, batch.Type{}
	for table, want := range map[string][]string{
		"t":   {"table t refers to others", "column a is DECIMAL(5,2)", "column b is declared STRING", "column c: numbers over", "column d: the source declares no type"},
		"new": {"column a: decimals are kept exactly, as text", "column c: numbers over", "column d: the source declares no type", "column f: the source declares no type"},
	} {
		plan, err := f.sink(map[string]any{"table": table}, nil).Resolve(t.Context(), in)
		if err != nil || len(plan.Doubts) != len(want) {
			t.Fatalf("%s: %q, %v", table, plan.Doubts, err)
		}
		for i, doubt := range plan.Doubts {
			if !strings.HasPrefix(doubt, want[i]) {
				t.Errorf("%s: %q, want %q", table, doubt, want[i])
			}
		}
	}
}

func TestAllocWriting(t *testing.T) {
	f := newFile(t)
	ctx := t.Context()
	in := fields(t, "id int64", "v text", "d decimal(9,2)", "r float64", "b bytes", "ok bool")
	s := f.sink(nil, nil)
	run := connector.Run{ID: "r"}
	_, err := s.Resolve(ctx, in)
	if err = errors.Join(err, s.Prepare(ctx, run), s.Register(ctx, run, []connector.Split{{ID: 0}})); err != nil {
		t.Fatal(err)
	}
	w, _, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var pool batch.Pool
	const rows = 4000
	allocs := testing.AllocsPerRun(3, func() {
		b := pool.Get(in)
		for range rows {
			for _, cell := range []string{"12", "some text", "7.10", "1.5", "\x00", "true"} {
				off := len(b.Buf)
				b.Buf = append(b.Buf, cell...)
				b.AppendFrom(off)
			}
		}
		b.Seal()
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	})
	if perRow := allocs / rows; perRow > 0.02 {
		t.Errorf("%.3f allocations per row", perRow)
	}
}
