package sqlite

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// FuzzAffinity stores a text in columns of all affinities: what is not
// rejected reads back as the same value.
func FuzzAffinity(f *testing.F) {
	for _, seed := range []string{"", "7.10", "007", "1e5", "-0", " 12 ", "9223372036854775808", "0x10", "1.", ".5", "+1", "1e400", "NaN", "Infinity", "true", "2024-01-31 13:05", "[1]", `"x"`, "1_000", "99999999999999.99", "0.30000000000000004", "5e-324", "\x00", "é"} {
		f.Add(seed)
	}
	declared := []string{"STRING", "DECIMAL(10,2)", "NUMERIC", "REAL", "JSON", "DATETIME", "TEXT", "INTEGER", "BOOLEAN", "DECIMAL(5,-2)", "DATE", "UUID", "INTERVAL", ""}
	c, err := native.Open(":memory:", native.CreateMode, 0)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range declared {
			affinityHolds(t, c, d, text)
		}
	})
}

func affinityHolds(t *testing.T, c *native.Conn, declared, text string) {
	t.Helper()
	a := affinityOf(declared, false)
	col := column{name: "a", declared: declared, affinity: a, typ: typeOf(declared, a)}
	if col.typ.Kind == batch.Untyped {
		col.typ = batch.Of(batch.Text)
	}
	want, accepted := stored(t, c, col, text)
	if !accepted {
		return
	}
	decode, err := newDecoder(column{declared: declared, typ: typeOf(declared, a)}, batch.Type{})
	if err != nil {
		t.Fatal(err)
	}
	b := new(batch.Batch)
	b.Reset(&batch.Schema{Fields: []batch.Field{{Name: "a", Type: col.typ}}})
	err = c.Query("SELECT a FROM fuzz", nil, func(s *native.Stmt) error { return decode.append(b, s, 0) })
	if err != nil {
		t.Fatalf("%q in a column of %q does not read back: %v", text, declared, err)
	}
	b.Seal()
	if got := b.Columns[0].Cell(0); got == nil || string(got) != want {
		t.Errorf("%q in a column of %q reads back as %q, want %q", text, declared, got, want)
	}
}

// stored stores the text in a new table and returns its canonical form.
func stored(t *testing.T, c *native.Conn, col column, text string) (want string, accepted bool) {
	t.Helper()
	if err := c.Exec("DROP TABLE IF EXISTS fuzz; CREATE TABLE fuzz(a " + col.declared + ")"); err != nil {
		t.Fatal(err)
	}
	encode, err := encoderOf(col)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := value.Canonical(col.typ)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Prepare("INSERT INTO fuzz VALUES (?)")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var m native.Memory
	defer m.Free()
	p, err := m.Copy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if encode(s, 0, []byte(text), p) != nil {
		return "", false
	}
	if _, err := s.Step(); err != nil {
		t.Fatal(err)
	}
	out, err := canonical(nil, []byte(text))
	if err != nil {
		t.Fatalf("%q in a column of %q was stored, but is none: %v", text, col.declared, err)
	}
	return string(out), true
}

// FuzzPosition reads positions: one that is read is written the same, and any
// is either refused or a place in the table.
func FuzzPosition(f *testing.F) {
	for _, seed := range []string{"", "17", "-9223372036854775808", `["i1","tabc","x00ff","b","f3ff8000000000000"]`, `["q"]`, `[""]`, "[", `["i1"]`, "9223372036854775808", `["t\u0000"]`} {
		f.Add(seed)
	}
	fl := newFile(f)
	fl.exec("CREATE TABLE t(a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO t VALUES (1, 'x'), ('y', x'00'); CREATE TABLE r(a); INSERT INTO r VALUES (1)")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := parseKey(text)
		if err == nil && key != nil {
			again, err := parseKey(formatKey(key))
			if err != nil || len(again) != len(key) {
				t.Errorf("%q is read as %q, and then as %q, %v", text, key, again, err)
			}
		}
		for _, table := range []string{"t", "r"} {
			s := fl.source(SourceOptions{Table: table}, connector.SourceEnv{})
			e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := s.Open(t.Context(), e.Splits[0], connector.Position(text))
			if err != nil {
				continue
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzRename gives a table's definition another name: what SQLite takes as a
// definition is one under the other name too, with the same columns.
func FuzzRename(f *testing.F) {
	for _, seed := range []string{"CREATE TABLE t(a)", `CREATE TABLE "a ""b"(x, y)`, "CREATE TABLE [a]b](c)", "CREATE TABLE `q`(a)", "CREATE TABLE 's'(a)", "CREATE TABLE é(a)", "create table if not exists main.t /* c */ (a -- x\n)", "CREATE TABLE t AS SELECT 1 AS a, 2 AS b", "CREATE TABLE a$b(x)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if !strings.HasPrefix(strings.ToLower(sql), "create table ") {
			return
		}
		c, err := native.Open(":memory:", native.CreateMode, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s, err := c.Prepare(sql)
		if err != nil {
			return
		}
		s.Close()
		if err := c.Exec(sql); err != nil {
			return
		}
		names, err := tables(c)
		if err != nil || len(names) != 1 {
			return
		}
		before, err := readTable(c, names[0])
		if err != nil || before == nil || before.virtual {
			return
		}
		renamed, err := renamedTable(before.sql, `new "name"`)
		if err != nil {
			t.Fatalf("%q: %v", before.sql, err)
		}
		if err := c.Exec(renamed); err != nil {
			t.Fatalf("%q became %q: %v", before.sql, renamed, err)
		}
		after, err := readTable(c, `new "name"`)
		if err != nil || after == nil || len(after.columns) != len(before.columns) {
			t.Errorf("%q became %q: %+v, %v", before.sql, renamed, after, err)
		}
	})
}
