package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

func (f file) source(o SourceOptions, env connector.SourceEnv) *Source {
	o.Path = f.path
	if o.SplitRows == 0 {
		o.SplitRows = 1000
	}
	return NewSource(&o, env)
}

func rejectTexts(rejects []batch.Reject) []string {
	var list []string
	for _, r := range rejects {
		var values []string
		for _, v := range r.Values {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, fmt.Sprintf("%q", v))
			}
		}
		list = append(list, fmt.Sprintf("%s %s: %s (%s)", r.Where, r.Column, r.Reason, strings.Join(values, " ")))
	}
	return list
}

func TestSchemaFollowsTheDeclaredTypes(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(id INTEGER PRIMARY KEY, a VARCHAR(20) NOT NULL, b "UNSIGNED BIG INT", c DECIMAL(10, 2), d NUMERIC, e BOOLEAN, f DOUBLE PRECISION,
g BLOB, h, i DATE, j DATETIME, k "TIMESTAMP WITH TIME ZONE", l TIMESTAMP(6), m TIME, n UUID, o JSON, p STRING, q INTERVAL, r AS (id + 1), UNIQUE (a))`)
	s, err := f.source(SourceOptions{Table: "T"}, connector.SourceEnv{}).Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range s.Fields {
		text := field.Name + " " + field.Type.String()
		if field.NotNull {
			text += "!"
		}
		got = append(got, text)
	}
	equal(t, "fields", got, []string{
		"id int64!", "a text!", "b int64", "c decimal(10,2)", "d decimal", "e bool", "f float64", "g bytes", "h untyped", "i date", "j timestamp",
		"k instant", "l timestamp", "m time", "n uuid", "o json", "p text", "q interval", "r untyped",
	})
	equal(t, "key", s.Key, []string{"id"})
}

func TestAnyValueInAnyColumnIsReadOrRejected(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(n INTEGER, d DECIMAL(10,2), x TEXT, y BLOB, z, b BOOLEAN, r REAL, ts DATETIME, u UUID);
INSERT INTO t VALUES
(1, 7.1, 'a', x'00ff', 5, 1, 2, '2024-01-31T13:05:00', 'F47AC10B-58CC-4372-A567-0E02B2C3D479'),
(NULL, NULL, '', x'', NULL, NULL, NULL, NULL, NULL),
(9223372036854775807, 5, 'abc', 'abc', 1.5, 'true', 1e300, '2024-01-31 13:05:00.25', 'f47ac10b58cc4372a5670e02b2c3d479'),
('x', 1, 'bad int', x'', 1, 1, 1, NULL, NULL),
(1, 'abc', 'bad decimal', x'', 1, 1, 1, NULL, NULL),
(1, 1, x'616263', x'', 1, 1, 1, NULL, NULL),
(1, 1, 'bad bytes', 17, 1, 1, 1, NULL, NULL),
(1, 1, 'bad untyped', x'', x'ff', 1, 1, NULL, NULL),
(1, 1, 'bad bool', x'', 1, 2, 1, NULL, NULL),
(1, 1, 'bad real', x'', 1, 1, 'abc', NULL, NULL),
(1, 1, 'bad time', x'', 1, 1, 1, 1706706300, NULL),
(1.5, 1, 'half', x'', 1, 1, 1, NULL, NULL);`)
	rows, rejects := read(t, f.source(SourceOptions{}, connector.SourceEnv{}))
	equal(t, "rows", rows, []string{
		`"1" "7.10" "a" "\x00\xff" "5" "true" "2" "2024-01-31 13:05:00" "f47ac10b-58cc-4372-a567-0e02b2c3d479"`,
		`NULL NULL "" "" NULL NULL NULL NULL NULL`,
		`"9223372036854775807" "5.00" "abc" "abc" "1.5" "true" "1e+300" "2024-01-31 13:05:00.25" "f47ac10b-58cc-4372-a567-0e02b2c3d479"`,
	})
	equal(t, "rejects", rejectTexts(rejects), []string{
		`rowid 4 n: a text in a column of INTEGER: if it holds such as well, have all as text with the option types, such as {"n": text} ("x" "1" "bad int" "" "1" "1" "1" NULL NULL)`,
		`rowid 5 d: not a number ("1" "abc" "bad decimal" "" "1" "1" "1" NULL NULL)`,
		`rowid 6 x: a blob in a column of TEXT, which would become a text: if the column holds blobs say so with the option types, such as {"x": bytes} ("1" "1" "abc" "" "1" "1" "1" NULL NULL)`,
		`rowid 7 y: an integer in a column of BLOB: if it holds such as well, have all as text with the option types, such as {"y": text} ("1" "1" "bad bytes" "17" "1" "1" "1" NULL NULL)`,
		`rowid 8 z: a blob in a column of no type, which would become a text: if the column holds blobs say so with the option types, such as {"z": bytes} ("1" "1" "bad untyped" "" "\xff" "1" "1" NULL NULL)`,
		`rowid 9 b: an integer in a column of BOOLEAN: if it holds such as well, have all as text with the option types, such as {"b": text} ("1" "1" "bad bool" "" "1" "2" "1" NULL NULL)`,
		`rowid 10 r: a text in a column of REAL: if it holds such as well, have all as text with the option types, such as {"r": text} ("1" "1" "bad real" "" "1" "1" "abc" NULL NULL)`,
		`rowid 11 ts: an integer in a column of DATETIME: if it holds such as well, have all as text with the option types, such as {"ts": text} ("1" "1" "bad time" "" "1" "1" "1" "1706706300" NULL)`,
		`rowid 12 n: a floating-point number in a column of INTEGER: if it holds such as well, have all as text with the option types, such as {"n": text} ("1.5" "1" "half" "" "1" "1" "1" NULL NULL)`,
	})
}

// everySplit reads all splits, each twice: at once, and from the position
// after each of its batches; the rows must be the same.
func everySplit(t *testing.T, s *Source) (splits int, rows []string) {
	t.Helper()
	ctx := t.Context()
	schema, err := s.Schema(ctx)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Enumerate(ctx, "", 5, connector.Want{Parallelism: 2})
	if err != nil || !e.Done {
		t.Fatal(e, err)
	}
	for i, split := range e.Splits {
		if split.ID != connector.SplitID(5+i) {
			t.Errorf("split %d has id %d", i, split.ID)
		}
		pos := connector.Position("")
		for {
			r, err := s.Open(ctx, split, pos)
			if err != nil {
				t.Fatal(err)
			}
			b := new(batch.Batch)
			b.Reset(schema)
			err = r.Next(ctx, b)
			pos, _ = r.Position()
			if cerr := r.Close(); cerr != nil {
				t.Fatal(cerr)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, texts(b)...)
		}
	}
	return len(e.Splits), rows
}

func TestSplitsByRowid(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(v TEXT, rowid TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000) INSERT INTO t SELECT 'v' || i, 'mine' FROM n;
INSERT INTO t(_rowid_, v) VALUES (-9223372036854775808, 'low'), (9223372036854775807, 'high'), (-5, 'minus five')`)
	splits, rows := everySplit(t, f.source(SourceOptions{SplitRows: 100}, connector.SourceEnv{Columns: []string{"v"}}))
	if splits < 4 || len(rows) != 3003 {
		t.Errorf("%d splits, %d rows", splits, len(rows))
	}
	seen := make(map[string]bool)
	for _, r := range rows {
		seen[r] = true
	}
	if len(seen) != len(rows) || rows[0] != `"low"` || rows[len(rows)-1] != `"high"` {
		t.Errorf("%d different rows, from %s to %s", len(seen), rows[0], rows[len(rows)-1])
	}
	f.exec("DELETE FROM t WHERE v IN ('low', 'high', 'minus five')")
	if splits, rows = everySplit(t, f.source(SourceOptions{SplitRows: 100}, connector.SourceEnv{})); splits != 30 || len(rows) != 3000 {
		t.Errorf("%d splits, %d rows", splits, len(rows))
	}
}

func TestSplitsByKeyOfAnyValues(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a TEXT COLLATE NOCASE, b, v TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID")
	var inserts []string
	for _, a := range []string{"'a'", "'B'", "'b2'", "'é'", "'中'", "''", "'it''s'", `'"q"'`, "CAST(x'ff00' AS TEXT)"} {
		for _, b := range []string{"1", "-7", "1.5", "'x'", "''", "x'00ff'", "9223372036854775807"} {
			inserts = append(inserts, "("+a+", "+b+", 'v')")
		}
	}
	f.exec("INSERT INTO t VALUES " + strings.Join(inserts, ", "))
	s := f.source(SourceOptions{SplitRows: 4}, connector.SourceEnv{Columns: []string{"v"}})
	if splits, rows := everySplit(t, s); splits != len(inserts)/4+1 || len(rows) != len(inserts) {
		t.Errorf("%d splits, %d rows of %d", splits, len(rows), len(inserts))
	}
}

func TestPositionsWithinASplit(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(a TEXT, b INT, pad TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 8500) INSERT INTO t SELECT 'k' || (i % 7), i, 'x' FROM n;
CREATE TABLE u AS SELECT * FROM t; INSERT INTO u SELECT NULL, NULL, NULL`)
	for table, want := range map[string]int{"t": 8500, "u": 8501} {
		splits, rows := everySplit(t, f.source(SourceOptions{Table: table, SplitRows: 1 << 40}, connector.SourceEnv{}))
		seen := make(map[string]bool)
		for _, r := range rows {
			seen[r] = true
		}
		if splits != 1 || len(rows) != want || len(seen) != want {
			t.Errorf("%s: %d splits, %d rows, %d different", table, splits, len(rows), len(seen))
		}
	}
}

func TestAQueryIsOneSplitWithoutPositions(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a INTEGER PRIMARY KEY, p DECIMAL(4,1)); INSERT INTO t VALUES (1, 2.5), (2, 3), (3, NULL); CREATE VIEW v AS SELECT a FROM t WHERE a > 1")
	s := f.source(SourceOptions{Query: "SELECT a, p AS price, a * 2 AS twice FROM t ORDER BY a DESC -- all;\n;"}, connector.SourceEnv{Where: "price > 1 OR twice = 6"})
	rows, _ := read(t, s)
	equal(t, "rows", rows, []string{`"3" NULL "6"`, `"2" "3.0" "4"`, `"1" "2.5" "2"`})
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{Parallelism: 4})
	if err != nil || len(e.Splits) != 1 {
		t.Fatal(e, err)
	}
	r, err := s.Open(t.Context(), e.Splits[0], "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, ok := r.Position(); ok {
		t.Error("a query has a position")
	}
	rows, _ = read(t, f.source(SourceOptions{Table: "v"}, connector.SourceEnv{}))
	equal(t, "rows of the view", rows, []string{`"2"`, `"3"`})
}

func TestWhereIsPutInBrackets(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a INTEGER PRIMARY KEY, v INT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100) INSERT INTO t SELECT i, i % 3 FROM n")
	s := f.source(SourceOptions{SplitRows: 10}, connector.SourceEnv{Where: "v = 1 OR v = 2 -- not 0"})
	if !s.PushesFilter() {
		t.Error("the source does not take the where")
	}
	if splits, rows := everySplit(t, s); splits != 10 || len(rows) != 67 {
		t.Errorf("%d splits, %d rows", splits, len(rows))
	}
	for _, where := range []string{"v = 1) OR (v = 2", "nope = 1", "v ="} {
		_, err := f.source(SourceOptions{}, connector.SourceEnv{Where: where}).Schema(t.Context())
		if connector.ClassOf(err) != connector.Usage {
			t.Errorf("where %q: %v", where, err)
		}
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	f := newFile(t)
	notADatabase := f.path + ".txt"
	if err := os.WriteFile(notADatabase, []byte(strings.Repeat("not a database at all\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := func(o SourceOptions) error {
		_, err := NewSource(&o, connector.SourceEnv{}).Schema(t.Context())
		return err
	}
	for what, err := range map[string]error{
		"no file":        schema(SourceOptions{Path: f.path}),
		"not a database": schema(SourceOptions{Path: notADatabase}),
		"a folder":       schema(SourceOptions{Path: t.TempDir()}),
	} {
		if connector.ClassOf(err) != connector.Usage {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(f.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made the file: %v", err)
	}
	f.exec("CREATE TABLE a(x); CREATE TABLE b(x)")
	err := schema(SourceOptions{Path: f.path})
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("no table named: %v", err)
	}
	err = schema(SourceOptions{Path: f.path, Query: "SELECT 1 AS x, 2 AS x"})
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a column twice: %v", err)
	}
	s := f.source(SourceOptions{Table: "a"}, connector.SourceEnv{})
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil {
		t.Fatal(err)
	}
	f.exec("DROP TABLE a; CREATE TABLE a(x, y)")
	_, err = f.source(SourceOptions{Table: "a"}, connector.SourceEnv{}).Open(t.Context(), e.Splits[0], "")
	if err == nil || connector.ClassOf(err) != connector.Permanent {
		t.Errorf("another table of that name: %v", err)
	}
}

func TestCloseAndContextEndAReadThatFindsNothing(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a)")
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"
	s := f.source(SourceOptions{Query: endless}, connector.SourceEnv{})
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil {
		t.Fatal(err)
	}
	for _, byContext := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := s.Open(ctx, e.Splits[0], "")
		if err != nil {
			t.Fatal(err)
		}
		result := make(chan error)
		go func() {
			b := new(batch.Batch)
			b.Reset(schema)
			result <- r.Next(ctx, b)
		}()
		if byContext {
			cancel()
		} else if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := <-result; err == nil || errors.Is(err, io.EOF) {
			t.Errorf("Next returned %v", err)
		}
		cancel()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAllocReading(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(a TEXT, b INT, c REAL, d DECIMAL(9,2), e BLOB, f DATETIME, PRIMARY KEY (a, b)) WITHOUT ROWID;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 17000) INSERT INTO t SELECT 'key', i, i / 7.0, 1.5, x'0102', '2024-01-31 13:05:00' FROM n`)
	s := f.source(SourceOptions{SplitRows: 1 << 40}, connector.SourceEnv{})
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Open(t.Context(), e.Splits[0], "")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := new(batch.Batch)
	allocs := testing.AllocsPerRun(1, func() {
		b.Reset(schema)
		if err := r.Next(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	})
	if perRow := allocs / batch.MaxRows; perRow > 0.01 {
		t.Errorf("%.3f allocations per row", perRow)
	}
}
