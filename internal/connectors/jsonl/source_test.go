package jsonl

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/files/filestest"
	"github.com/leatdata/leat/internal/storage"
)

// sourceOf makes a source over files of the given texts.
func sourceOf(t *testing.T, options map[string]any, texts ...string) *Source {
	t.Helper()
	values := map[string]any{"path": filestest.Files(t, ".jsonl", texts...)}
	maps.Copy(values, options)
	var o SourceOptions
	if err := option.Parse(values, &o); err != nil {
		t.Fatal(err)
	}
	s, err := NewSource(storage.Local{}, nil, &o, connector.SourceEnv{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// read returns all rows as text, then the dirty records.
func read(t *testing.T, s *Source) (rows, dirty []string) {
	t.Helper()
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for sp, err := range s.splits(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Open(t.Context(), sp, "")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		b := &batch.Batch{}
		for {
			b.Reset(schema)
			if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, rowsOf(b)...)
			for _, r := range b.Rejects {
				_, line, _ := strings.Cut(r.Where, ": ")
				dirty = append(dirty, line+": "+r.Column+": "+r.Reason)
			}
		}
	}
	return rows, dirty
}

func rowsOf(b *batch.Batch) []string {
	var rows []string
	for i := range b.Rows {
		var row []string
		for _, cell := range b.Row(i) {
			if cell == nil {
				row = append(row, "NULL")
			} else {
				row = append(row, string(cell))
			}
		}
		rows = append(rows, strings.Join(row, "|"))
	}
	return rows
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func schemaText(s *batch.Schema) string {
	var fields []string
	for _, f := range s.Fields {
		fields = append(fields, f.Name+" "+f.Type.String())
	}
	return strings.Join(fields, ", ")
}

func TestColumnsAreTheKeysOfAllObjects(t *testing.T) {
	s := sourceOf(t, nil, `{"a":1,"b":"x"}`+"\n\n"+` { "b" : null , "c" : true } `+"\r\n", `{"d":"\u00e9\ud83d\ude00\"","a":""}`)
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{"1|x|NULL|NULL", "NULL|NULL|true|NULL", "|NULL|NULL|é😀\""})
	equal(t, "dirty", dirty, nil)
	schema, _ := s.Schema(t.Context())
	equal(t, "columns", schema.Names(), []string{"a", "b", "c", "d"})
}

func TestOrderOfColumnsDoesNotDependOnSplits(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 500 {
		fmt.Fprintf(&text, `{"id":%d,"k%03d":%d}`+"\n", i, i, i)
		want = append(want, fmt.Sprintf("k%03d", i))
	}
	for _, size := range []string{"1B", "100B", "1GiB"} {
		s := sourceOf(t, map[string]any{"split_size": size}, text.String())
		schema, err := s.Schema(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "columns", schema.Names(), append([]string{"id"}, want...))
		rows, dirty := read(t, s)
		if len(rows) != 500 || len(dirty) > 0 || !strings.HasPrefix(rows[7], "7|NULL|") {
			t.Errorf("%d rows, %d dirty, row 8 %.20s", len(rows), len(dirty), rows[7])
		}
	}
}

func TestNumbersKeepTheirDigits(t *testing.T) {
	numbers := []string{"18446744073709551615", "12345678901234567890.5", "7.10", "1e400", "-0", "1E+5", "0.1", "99999999999999.99"}
	var text strings.Builder
	for _, n := range numbers {
		text.WriteString(`{"n":` + n + "}\n")
	}
	rows, _ := read(t, sourceOf(t, nil, text.String()))
	equal(t, "numbers", rows, numbers)
}

func TestNestedValuesAreTheirJSON(t *testing.T) {
	rows, _ := read(t, sourceOf(t, nil, `{"a":{"x": [1, "\u00e9"]},"b":[1,2]}`+"\n"+`{"a":"s","b":null}`+"\n"))
	equal(t, "untyped", rows, []string{`{"x": [1, "\u00e9"]}|[1,2]`, "s|NULL"})
	rows, _ = read(t, sourceOf(t, map[string]any{"types": map[string]any{"a": "json"}}, `{"a":{"x":1}}`+"\n"+`{"a":"s\n"}`+"\n"+`{"a":1.0}`+"\n"+`{"a":null}`))
	equal(t, "json", rows, []string{`{"x":1}`, `"s\n"`, "1.0", "NULL"})
}

func TestWhatIsNoObjectIsDirty(t *testing.T) {
	lines := []string{`[1]`, `1`, `{"a":1`, `{"a":1}}`, `{"a":1,"a":2}`, `{"a":01}`, `{"a":"\ud800"}`, `{"a" 1}`, `{a:1}`, `{"a":1,}`, "{\"a\":\"x\ty\"}", `x`, `{"a":"` + "\xff" + `"}`}
	s := sourceOf(t, nil, `{"a":"first"}`+"\n"+strings.Join(lines, "\n")+"\n"+`{"a":"last"}`)
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{"first", "last"})
	if len(dirty) != len(lines) {
		t.Fatalf("%d of %d are dirty: %q", len(dirty), len(lines), dirty)
	}
	slices.Sort(dirty)
	for i, part := range map[int]string{2: "line 2: : character 1: the line is no JSON object"} {
		if !slices.ContainsFunc(dirty, func(d string) bool { return strings.Contains(d, part) }) {
			t.Errorf("line %d is not told as %q in %q", i, part, dirty)
		}
	}
	schema, _ := s.Schema(t.Context())
	equal(t, "columns", schema.Names(), []string{"a"})
}

func TestRejectHasTheLineAsItWas(t *testing.T) {
	line := `{"a":"\u0041\n","b":"x","a":1}`
	s := sourceOf(t, nil, `{"a":1,"b":2}`+"\n"+line+"\r\n")
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := newDecoder([]column{{name: "a"}, {name: "b"}}, true)
	b := &batch.Batch{}
	b.Reset(schema)
	if _, _, err := d.Decode(b, []byte(line+"\r\n"), true, 9); err != nil {
		t.Fatal(err)
	}
	if r := b.Rejects[0]; string(r.Raw) != line || r.Where != "line 9" || !strings.Contains(r.Reason, `the key "a" is there twice`) {
		t.Errorf("reject %+v %q", r, r.Raw)
	}
}

func TestNamedColumnsLeaveOthersOut(t *testing.T) {
	s := sourceOf(t, map[string]any{"columns": "c,a"}, `{"a":1,"b":{"x":[]},"c":"x"}`+"\n"+`{"z":0}`)
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{"x|1", "NULL|NULL"})
	equal(t, "dirty", dirty, nil)
}

func TestDeclaredTypes(t *testing.T) {
	s := sourceOf(t, map[string]any{"types": map[string]any{
		"n": "int32", "p": "decimal(6,2)", "raw": "bytes", "list": "array of int32", "at": "timestamp",
	}}, strings.Join([]string{
		`{"n":7,"p":7.1,"raw":"QUI=","list":[1,null,3],"at":"2024-01-31T10:00:00","rest":"a\tb"}`,
		`{"n":2147483648,"rest":"\u0041"}`,
		`{"n":"x","rest":"\u0041"}`,
		`{"p":1.234}`,
		`{"raw":"\\x00ff","list":[[1],[2]]}`,
		`{"raw":"?"}`,
		`{"list":["a"]}`,
		`{"n":null,"rest":""}`,
	}, "\n"))
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{
		"7|7.10|AB|{1,NULL,3}|2024-01-31 10:00:00|a\tb",
		"NULL|NULL|\x00\xff|{{1},{2}}|NULL|NULL",
		"NULL|NULL|NULL|NULL|NULL|",
	})
	if len(dirty) != 5 {
		t.Fatalf("dirty: %q", dirty)
	}
	for i, part := range []string{`line 2: n: "2147483648"`, `line 3: n: "x"`, `line 4: p: "1.234"`, `line 6: raw: "?"`, `line 7: list: `} {
		if !strings.HasPrefix(dirty[i], part) {
			t.Errorf("dirty %q, want %q", dirty[i], part)
		}
	}
	s = sourceOf(t, map[string]any{"types": map[string]any{"m": "int8"}}, `{"n":1}`)
	if _, err := s.Schema(t.Context()); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), `"m"`) {
		t.Errorf("a type for no column: %v", err)
	}
}

func TestTargetsTypesDecide(t *testing.T) {
	s := sourceOf(t, nil, `{"j":"x","b":"QUI=","l":["a,b",null,"\u00e9"]}`+"\n"+`{"j":1,"b":"\\x41","l":"{1}"}`)
	s.SetTypes(map[string]batch.Type{"j": batch.Of(batch.JSON), "b": batch.Of(batch.Bytes), "l": batch.Of(batch.Array)})
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{`"x"|\x4142|{"a,b",NULL,é}`, `1|\x41|{1}`})
	equal(t, "dirty", dirty, nil)
}

func TestElementsOfArraysAreReadByTheirType(t *testing.T) {
	s := sourceOf(t, nil, `{"j":["x",1.0,[2,["y"]],{"a":"b"},null],"b":["QUI=","\\x00ff",null]}`+"\n"+`{"j":[],"b":["?"]}`)
	json, raw := batch.Of(batch.JSON), batch.Of(batch.Bytes)
	s.SetTypes(map[string]batch.Type{"j": {Kind: batch.Array, Elem: &json}, "b": {Kind: batch.Array, Elem: &raw}})
	rows, dirty := read(t, s)
	equal(t, "rows", rows, []string{`{"\"x\"",1.0,"[2,[\"y\"]]","{\"a\":\"b\"}",NULL}|{"\\x4142","\\x00ff",NULL}`})
	if len(dirty) != 1 || !strings.Contains(dirty[0], "neither base64") {
		t.Errorf("dirty %q", dirty)
	}
}

func TestInferKeepsEveryValueAsItIs(t *testing.T) {
	s := sourceOf(t, nil, `{"i":1,"d":1.50,"f":1.5,"x":1e5,"s":"007","n":"12","t":"2024-01-31","u":"f47ac10b-58cc-4372-a567-0e02b2c3d479","b":true,"m":1,"o":{},"z":null,"big":1.5}`+"\n",
		`{"i":-20,"d":2.25,"f":2.25,"x":1,"s":"1","n":"13","t":"1999-12-31","u":null,"b":false,"m":"1","o":[],"z":null,"big":12345678901234567890.123}`)
	schema, err := s.Infer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := "i int64, d decimal(3,2), f float64, x text, s text, n text, t date, u uuid, b bool, m json, o json, z text, big decimal"
	if got := schemaText(schema); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	rows, _ := read(t, s)
	if want := `-20|2.25|2.25|1|1|13|1999-12-31|NULL|false|"1"|[]|NULL|12345678901234567890.123`; rows[1] != want {
		t.Errorf("got %s", rows[1])
	}
}

func TestStandardInputsColumnsAreThoseOfItsStart(t *testing.T) {
	long := strings.Repeat(`{"a":1,"b":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}`+"\n", 40000) // over 1 MiB
	for _, columns := range []string{"", "a,late"} {
		var o SourceOptions
		values := map[string]any{"path": "-"}
		if columns != "" {
			values["columns"] = columns
		}
		if err := option.Parse(values, &o); err != nil {
			t.Fatal(err)
		}
		s, err := NewSource(storage.Local{}, strings.NewReader(long+`{"late":2}`), &o, connector.SourceEnv{})
		if err != nil {
			t.Fatal(err)
		}
		schema, err := s.Infer(t.Context())
		if err != nil || schema.Fields[0].Type.Kind != batch.Text {
			t.Fatalf("%v, %v", schema, err)
		}
		rows, dirty := read(t, s)
		if columns == "" {
			if len(rows) != 40000 || len(dirty) != 1 || !strings.Contains(dirty[0], `no column for the key "late"`) {
				t.Errorf("%d rows, dirty %q", len(rows), dirty)
			}
		} else if len(rows) != 40001 || len(dirty) != 0 || rows[40000] != "NULL|2" {
			t.Errorf("%d rows, dirty %q", len(rows), dirty)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTooManyKeysAreRefused(t *testing.T) {
	var text strings.Builder
	for i := range maxColumns + 1 {
		fmt.Fprintf(&text, `{"k%d":1}`+"\n", i)
	}
	if _, err := sourceOf(t, nil, text.String()).Schema(t.Context()); err == nil || !strings.Contains(err.Error(), "option columns") {
		t.Errorf("got %v", err)
	}
}
