package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// The cases of users that concern this connector, beside those of the other
// tests of the package.

func TestAnEmptySourceMakesAnEmptyTable(t *testing.T) {
	f := newFile(t)
	in := fields(t, "a int64", "b text")
	if _, _, err := f.load(f.sink(nil, nil), "r1", in); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT count(*) FROM t"), []string{"0"})
	rows, _ := read(t, f.source(SourceOptions{}, connector.SourceEnv{}))
	equal(t, "read back", rows, nil)
}

func TestNamesAreKeptAndQuoted(t *testing.T) {
	f := newFile(t)
	in := fields(t, "select int64", "CREATED text", "it's_\"q\" text", "column_with_é text")
	in.Fields[2].Name = `a "b" [c]`
	in.Key = []string{"select"}
	for _, run := range []string{"r1", "r2"} {
		s := f.sink(map[string]any{"table": `Order "x"; DROP`, "mode": "overwrite"}, nil)
		if _, _, err := f.load(s, run, in, rowsOf(in, []string{"1", "a", "b", "c"})); err != nil {
			t.Fatal(err)
		}
	}
	s := f.source(SourceOptions{Table: `Order "x"; DROP`}, connector.SourceEnv{})
	rows, _ := read(t, s)
	equal(t, "rows", rows, []string{`"1" "a" "b" "c"`})
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "names", schema.Names(), in.Names())
}

func TestColumnsAreMatchedByNameAndNullIsNoDefault(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(a TEXT DEFAULT 'N', b INT DEFAULT 7, c TEXT DEFAULT 'given')")
	in := fields(t, "B int64", "a text")
	if _, _, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in, []string{"1", null}, []string{null, "x"})); err != nil {
		t.Fatal(err)
	}
	equal(t, "rows", f.query("SELECT * FROM t"), []string{`NULL 1 "given"`, `"x" NULL "given"`})
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	f := newFile(t)
	in := fields(t, "d decimal(17,2)", "big decimal(38,10)", "n decimal", "u uint64", "ts timestamp(6)", "i instant")
	want := []string{"99999999999999.99", "1234567890123456789012345678.0123456789", "3.14159265358979", "9223372036854775807", "1969-12-31 23:59:59.5", "2024-03-10 02:30:00+00"}
	if _, _, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in, want)); err != nil {
		t.Fatal(err)
	}
	rows, _ := read(t, f.source(SourceOptions{}, connector.SourceEnv{}))
	equal(t, "rows", rows, []string{`"` + strings.Join(want, `" "`) + `"`})
}

func TestOtherEncodingsAndJournals(t *testing.T) {
	for name, pragma := range map[string]string{"UTF-16le": "PRAGMA encoding='UTF-16le'", "UTF-16be": "PRAGMA encoding='UTF-16be'", "WAL": "PRAGMA journal_mode=WAL"} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			f.exec(pragma + "; CREATE TABLE t(a TEXT, b BLOB, k TEXT PRIMARY KEY) WITHOUT ROWID")
			in := fields(t, "a text", "b bytes", "k text")
			_, rejected, err := f.load(f.sink(map[string]any{"mode": "overwrite"}, nil), "r1", in,
				rowsOf(in, []string{"Žluťoučký 😀𠀀", "\x00\xff", "é"}, []string{"zero\x00byte", "", "中"}, []string{"not \xff UTF-8", "", "x"}))
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "rejected", rejected, []string{"2 a: not UTF-8"})
			_, rows := everySplit(t, f.source(SourceOptions{Table: "t", SplitRows: 1}, connector.SourceEnv{}))
			// The order of the key's bytes is another in each encoding.
			slices.Sort(rows)
			slices.Reverse(rows)
			equal(t, "rows", rows, []string{`"Žluťoučký 😀𠀀" "\x00\xff" "é"`, `"zero\x00byte" "" "中"`})
			if name == "WAL" {
				equal(t, "journal mode", f.query("PRAGMA journal_mode"), []string{`"wal"`})
			}
		})
	}
}

func TestARecordLargerThanABatchTravelsAlone(t *testing.T) {
	f := newFile(t)
	in := fields(t, "id int64", "v text")
	large := strings.Repeat("x", 3*batch.MaxBytes)
	if _, _, err := f.load(f.sink(nil, nil), "r1", in, rowsOf(in, []string{"1", "a"}, []string{"2", large}, []string{"3", "b"})); err != nil {
		t.Fatal(err)
	}
	rows, _ := read(t, f.source(SourceOptions{}, connector.SourceEnv{}))
	if len(rows) != 3 || !strings.Contains(rows[1], large) {
		t.Errorf("%d rows", len(rows))
	}
}

func TestStrictTables(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(i INT, r REAL, x TEXT, b BLOB, a ANY) STRICT")
	in := fields(t, "i untyped", "r untyped", "x untyped", "b bytes", "a untyped")
	_, rejected, err := f.load(f.sink(map[string]any{"mode": "overwrite"}, nil), "r1", in,
		rowsOf(in, []string{"1", "1.5", "007", "\x01", "007"}, []string{"1.5", "1", "x", "", "x"}))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "rejected", rejected, []string{"1 i: not a whole number"})
	equal(t, "rows", f.query("SELECT * FROM t"), []string{`1 real(1.5) "007" x'01' "007"`})
}
