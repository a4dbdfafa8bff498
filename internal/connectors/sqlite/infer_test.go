package sqlite

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// What the values of a column without a type are read as: each reads back as
// it was, and its number is no other.
func TestTypesOfColumnsWithoutOne(t *testing.T) {
	for name, c := range map[string]struct{ values, typ, rows string }{
		"integers":            {"(1), (-9223372036854775808), (NULL)", "int64", `"1" "-9223372036854775808" NULL`},
		"reals":               {"(1.5), (2.25), (1e300), (9e999)", "float64", `"1.5" "2.25" "1e+300" "Infinity"`},
		"reals of one scale":  {"(1.5), (2.5)", "float64", `"1.5" "2.5"`},
		"integers and reals":  {"(1), (1.5)", "float64", `"1" "1.5"`},
		"too large for reals": {"(9007199254740993), (1.5)", "text", `"9007199254740993" "1.5"`},
		"blobs":               {"(x'00ff'), (NULL), (x'')", "bytes", `"\x00\xff" NULL ""`},
		"texts":               {"('a'), ('007')", "text", `"a" "007"`},
		"texts of numbers":    {"('12'), (7), ('-3')", "int64", `"12" "7" "-3"`},
		"whole reals, texts":  {"('12'), (7.0)", "int64", `"12" "7"`},
		"texts of decimals":   {"('12.50'), ('7.25')", "decimal(4,2)", `"12.50" "7.25"`},
		"and a real":          {"('12.50'), (7.25)", "decimal(4,2)", `"12.50" "7.25"`},
		"and a shorter real":  {"('12.50'), (7.5)", "text", `"12.50" "7.5"`},
		"numbers and a text":  {"(1), ('x'), (1.5)", "text", `"1" "x" "1.5"`},
		"leading zeros":       {"('01'), (2)", "text", `"01" "2"`},
		"dates":               {"('2024-02-29'), (NULL)", "date", `"2024-02-29" NULL`},
		"moments":             {"('2024-02-29 10:00:00+00')", "instant", `"2024-02-29 10:00:00+00"`},
		"a zone of its own":   {"('2024-02-29 10:00:00+02')", "text", `"2024-02-29 10:00:00+02"`},
		"nothing":             {"(NULL)", "text", `NULL`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			f.exec("CREATE TABLE t(a, n INTEGER); INSERT INTO t(a) VALUES " + c.values)
			s := f.source(SourceOptions{Table: "t"}, connector.SourceEnv{Columns: []string{"a"}})
			schema, err := s.Infer(t.Context())
			if err != nil || schema.Fields[0].Type.String() != c.typ {
				t.Fatalf("schema %+v, %v, want %s", schema, err, c.typ)
			}
			// Another start of the run does not look again.
			again := f.source(SourceOptions{Table: "t"}, connector.SourceEnv{Columns: []string{"a"}})
			again.Recall(schema)
			for _, s := range []*Source{s, again} {
				s.SetTypes(map[string]batch.Type{"a": schema.Fields[0].Type})
				rows, rejects := read(t, s)
				equal(t, "rows", []string{join(rows)}, []string{c.rows})
				if len(rejects) != 0 {
					t.Errorf("rejects: %+v", rejects)
				}
			}
		})
	}
}

func join(rows []string) (text string) {
	for i, r := range rows {
		if i > 0 {
			text += " "
		}
		text += r
	}
	return text
}

// Blobs among other values are none of their texts: the column stays text and
// they are told. What a type was declared for keeps it, and the job's where
// says what is looked at.
func TestWhatIsNotInferred(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(id INTEGER PRIMARY KEY, a, d DATETIME, n INT); INSERT INTO t(a, d, n) VALUES (1, '2024-01-01 10:00:00', 'x'), (x'61', 'soon', 2), ('late', '2024-01-01 10:00:00+02', 3)")
	s := f.source(SourceOptions{Table: "t"}, connector.SourceEnv{})
	schema, err := s.Infer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, field := range schema.Fields {
		types = append(types, field.Type.String())
	}
	equal(t, "types", types, []string{"int64", "text", "timestamp", "int64"})
	if !schema.Fields[0].NotNull || len(schema.Key) != 1 {
		t.Errorf("the key was lost: %+v", schema)
	}
	rows, rejects := read(t, s)
	if len(rows) != 0 || len(rejects) != 3 {
		t.Errorf("rows %q, rejects %+v: want each row set aside for a value that its column's type has not", rows, rejects)
	}
	s = f.source(SourceOptions{Table: "t"}, connector.SourceEnv{Where: "typeof(a) = 'integer' -- no others", Columns: []string{"a"}})
	if schema, err = s.Infer(t.Context()); err != nil || schema.Fields[0].Type.Kind != batch.Int64 {
		t.Errorf("schema %+v, %v", schema, err)
	}
}

// A value that came after the types were found is set aside when it is none.
func TestLaterValuesOfColumnsWithoutAType(t *testing.T) {
	f := newFile(t)
	f.exec("CREATE TABLE t(i, b, r); INSERT INTO t VALUES (1, x'00', 1.5)")
	s := f.source(SourceOptions{Table: "t"}, connector.SourceEnv{})
	if _, err := s.Infer(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.exec("INSERT INTO t VALUES ('x', x'00', 1.5), (1, 'x', 1.5), (1, 2, 1.5), (1, x'00', 9007199254740993), (1.5, x'00', 1.5), (x'00', x'00', 1.5), (2, x'01', 2)")
	rows, rejects := read(t, s)
	equal(t, "rows", rows, []string{`"1" "\x00" "1.5"`, `"2" "\x01" "2"`})
	if len(rejects) != 6 {
		t.Errorf("rejects: %+v", rejects)
	}
}
