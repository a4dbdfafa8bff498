package sqlite

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

const anyClass = "CREATE TABLE t(a); INSERT INTO t VALUES (5), (1.5), ('x'), (x'61'), (NULL)"

// A column without a type has its numbers as texts, and no blob as one.
func TestAColumnWithoutAType(t *testing.T) {
	f := newFile(t)
	f.exec(anyClass + "; CREATE VIEW v AS SELECT a, a AS b FROM t; CREATE VIEW vv AS SELECT * FROM v; CREATE TABLE s(a ANY) STRICT; INSERT INTO s SELECT a FROM t; CREATE VIEW vs AS SELECT a FROM s")
	for name, o := range map[string]SourceOptions{
		"a table": {Table: "t"}, "a view": {Table: "v"}, "a view of a view": {Table: "vv"}, "a query": {Query: "SELECT a FROM t"},
		"an expression": {Query: "SELECT CASE WHEN 1 THEN a END AS a FROM t"},
		"ANY":           {Table: "s"}, "a view of ANY": {Table: "vs"},
	} {
		t.Run(name, func(t *testing.T) {
			rows, rejects := read(t, f.source(o, connector.SourceEnv{Columns: []string{"a"}}))
			equal(t, "rows", rows, []string{`"5"`, `"1.5"`, `"x"`, "NULL"})
			if len(rejects) != 1 || !strings.Contains(rejects[0].Reason, `{"a": bytes}`) {
				t.Errorf("rejects: %+v", rejects)
			}
			s := f.source(o, connector.SourceEnv{Columns: []string{"a"}})
			schema, err := s.Schema(t.Context())
			if err != nil || schema.Fields[0].Type.Kind != batch.Untyped {
				t.Fatalf("schema %+v, %v", schema, err)
			}
			// The target's bytes are read from texts, as from any untyped column.
			s.SetTypes(map[string]batch.Type{"a": batch.Of(batch.Bytes)})
			rows, rejects = read(t, s)
			equal(t, "rows for bytes", rows, []string{`"\\x78"`, `"\\x61"`, "NULL"})
			if len(rejects) != 2 {
				t.Errorf("rejects for bytes: %+v", rejects)
			}
			o.Types = map[string]string{"a": "bytes"}
			rows, rejects = read(t, f.source(o, connector.SourceEnv{Columns: []string{"a"}}))
			equal(t, "rows as bytes", rows, []string{`"x"`, `"a"`, "NULL"})
			if len(rejects) != 2 {
				t.Errorf("rejects as bytes: %+v", rejects)
			}
		})
	}
}

// The columns of a view have the types of those behind them, or of a cast.
func TestColumnsOfAView(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(a, b BLOB, c DECIMAL(5,2), d TEXT); INSERT INTO t VALUES (1, x'00', 1.5, 'x');
CREATE VIEW v AS SELECT a, b, c, d, a + 1 AS e, a || 'x' AS f, CAST(a AS INTEGER) AS g, count(*) AS h, 7 AS i FROM t`)
	s := f.source(SourceOptions{Table: "v"}, connector.SourceEnv{})
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range schema.Fields {
		got = append(got, field.Name+" "+field.Type.String())
	}
	equal(t, "fields", got, []string{"a untyped", "b bytes", "c decimal(5,2)", "d text", "e untyped", "f untyped", "g int64", "h untyped", "i untyped"})
	rows, rejects := read(t, s)
	equal(t, "rows", rows, []string{`"1" "\x00" "1.50" "x" "2" "1x" "1" "1" "7"`})
	if len(rejects) != 0 {
		t.Errorf("rejects: %+v", rejects)
	}
}

func TestDeclaredTypesOfASource(t *testing.T) {
	f := newFile(t)
	f.exec(anyClass)
	for types, want := range map[string]string{"int64": "", "decimal(10,2)": "", "json": "", "int32": "int32 is none of the types", "frob": "types: a: "} {
		err := (&SourceOptions{Path: f.path, SplitRows: 1, Types: map[string]string{"a": types}}).Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", types, err)
		}
	}
	_, err := f.source(SourceOptions{Types: map[string]string{"b": "bytes"}}, connector.SourceEnv{}).Schema(t.Context())
	if connector.ClassOf(err) != connector.Usage || err == nil {
		t.Errorf("an unknown column: %v", err)
	}
}
