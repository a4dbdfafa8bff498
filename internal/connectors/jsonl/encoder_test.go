package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
)

// encode writes one record of one cell.
func encode(t batch.Type, cell []byte) (string, string) {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "k", Type: t}}}
	b := new(batch.Pool).Get(schema)
	b.Append(cell)
	b.Seal()
	fault := ""
	out := newEncoder(schema).Encode(nil, b, func(_ int, _, reason string) { fault = reason })
	return string(out), fault
}

func TestEncodeEachType(t *testing.T) {
	ints := batch.Of(batch.Int32)
	text := batch.Of(batch.Text)
	values := batch.Of(batch.JSON)
	decimals, raw := batch.Of(batch.Decimal), batch.Of(batch.Bytes)
	for _, c := range []struct {
		typ        batch.Type
		cell, want string
	}{
		{batch.Of(batch.Uint64), "18446744073709551615", "18446744073709551615"},
		{batch.Of(batch.Decimal), "7.10", "7.10"},
		{batch.Of(batch.Decimal), "12345678901234567890.5", "12345678901234567890.5"},
		{batch.Of(batch.Decimal), "NaN", `"NaN"`},
		{batch.Of(batch.Float64), "1e+21", "1e+21"},
		{batch.Of(batch.Float64), "-Infinity", `"-Infinity"`},
		{batch.Of(batch.Bool), "true", "true"},
		{text, "", `""`},
		{text, "a\"b\\c\n\r\t\x01\x7f/é😀\u2028", `"a\"b\\c\n\r\t\u0001` + "\x7f/é😀\u2028\""},
		{text, strings.Repeat("x", 20) + "\n" + strings.Repeat("y", 7), `"` + strings.Repeat("x", 20) + `\n` + strings.Repeat("y", 7) + `"`},
		{batch.Of(batch.Untyped), "12", `"12"`},
		{batch.Of(batch.JSON), " { \"a b\" : [ 1 ,\n 2.50 , \"x \\\" y\" ] } ", `{"a b":[1,2.50,"x \" y"]}`},
		{batch.Of(batch.JSON), "null", ""},
		{batch.Of(batch.JSON), " null ", ""},
		{batch.Of(batch.JSON), "[null]", "[null]"},
		{batch.Of(batch.JSON), ` {"b":  1,	"a" : [ ] }  `, `{"b":  1,	"a" : [ ] }`},
		{batch.Of(batch.Bytes), "\x00\xff", `"AP8="`},
		{batch.Of(batch.Bytes), "", `""`},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "{1,NULL,{3}}", ""},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "{{1,NULL},{3,4}}", "[[1,null],[3,4]]"},
		{batch.Type{Kind: batch.Array, Elem: &text}, `{a,"b c",NULL,"NULL",""}`, `["a","b c",null,"NULL",""]`},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "[0:1]={1,2}", ""},
		{batch.Type{Kind: batch.Array, Elem: &values}, `{"\"x\"","[1,[2]]",NULL}`, `["x",[1,[2]],null]`},
		{batch.Type{Kind: batch.Array, Elem: &values}, "{{1,2},{3,4}}", ""},
		{batch.Type{Kind: batch.Array, Elem: &values}, `{1,"null"}`, ""},
		{batch.Type{Kind: batch.Array, Elem: &values}, "{\"[1,\n2]\"}", "[[1,2]]"},
		{batch.Type{Kind: batch.Array, Elem: &decimals}, "{NaN,1.50,-Infinity,NULL}", `["NaN",1.50,"-Infinity",null]`},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "{}", "[]"},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "{1,x}", ""},
		{batch.Type{Kind: batch.Array, Elem: &ints}, "{1", ""},
		{batch.Type{Kind: batch.Array, Elem: &raw}, `{"\\x00ff",NULL}`, `["\\x00ff",null]`},
		{batch.Type{Kind: batch.Array}, `{a}`, `["a"]`},
		{batch.Of(batch.Timestamp), "2024-01-31 13:05:00.5", `"2024-01-31 13:05:00.5"`},
		{batch.Of(batch.UUID), "f47ac10b-58cc-4372-a567-0e02b2c3d479", `"f47ac10b-58cc-4372-a567-0e02b2c3d479"`},
		{text, "\xff", ""},
		{text, "long enough \xff", ""},
		{batch.Of(batch.JSON), "{", ""},
		{batch.Of(batch.JSON), "1 2", ""},
		{batch.Of(batch.JSON), "\"\xff\"", ""},
		{batch.Of(batch.Int32), "1x", ""},
		{batch.Of(batch.Int32), "", ""},
		{batch.Of(batch.Bool), "t", ""},
	} {
		got, fault := encode(c.typ, []byte(c.cell))
		want := ""
		if c.want != "" {
			want = `{"k":` + c.want + "}\n"
		}
		if got != want || (fault == "") != (want != "") {
			t.Errorf("%s %q: got %q, fault %q, want %q", c.typ, c.cell, got, fault, want)
		}
		if got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%q is not JSON", got)
		}
	}
	if got, _ := encode(text, nil); got != "{\"k\":null}\n" {
		t.Errorf("NULL: %q", got)
	}
}

func TestARefusedRowLeavesNothing(t *testing.T) {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "a", Type: batch.Of(batch.Text)}, {Name: "b\"", Type: batch.Of(batch.Int64)}}}
	b := new(batch.Pool).Get(schema)
	for _, cell := range []string{"x", "1", "y", "?", "z", "3"} {
		b.Append([]byte(cell))
	}
	b.Seal()
	var rows []int
	out := newEncoder(schema).Encode(nil, b, func(row int, column, _ string) {
		rows = append(rows, row)
		if column != `b"` {
			t.Errorf("column %q", column)
		}
	})
	if want := `{"a":"x","b\"":1}` + "\n" + `{"a":"z","b\"":3}` + "\n"; string(out) != want || len(rows) != 1 || rows[0] != 1 {
		t.Errorf("%q, refused %v", out, rows)
	}
}

// FuzzText holds strings to the standard library's, and to the decoder.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\x00", "éééééééé\"", "12345678\n", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		line, fault := encode(batch.Of(batch.Text), append([]byte{}, text...))
		if (fault == "") != utf8.Valid(text) {
			t.Fatalf("%q: fault %q", text, fault)
		}
		if fault != "" {
			return
		}
		var object map[string]string
		if err := json.Unmarshal([]byte(line), &object); err != nil || object["k"] != string(text) {
			t.Fatalf("%q became %q: %v", text, line, err)
		}
		b := &batch.Batch{}
		b.Reset(&batch.Schema{Fields: []batch.Field{{Name: "k"}}})
		b.Buf = append(b.Buf, line...)
		if _, _, err := newDecoder([]column{{name: "k"}}, true).Decode(b, b.Buf, true, 1); err != nil {
			t.Fatal(err)
		}
		b.Seal()
		if b.Rows != 1 || !bytes.Equal(b.Columns[0].Cell(0), text) {
			t.Fatalf("%q reads back as %q", text, rowsOf(b))
		}
	})
}

// FuzzJSON holds embedded JSON to its own text or, where that has line ends, to
// the standard library's compact form.
func FuzzJSON(f *testing.F) {
	for _, s := range corpus() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		line, fault := encode(batch.Of(batch.JSON), append([]byte{}, text...))
		if fault != "" {
			return // FuzzScan says whether rightly
		}
		var want bytes.Buffer
		if text = bytes.Trim(text, " \t\r\n"); !bytes.ContainsAny(text, "\r\n") {
			want.Write(text)
		} else if err := json.Compact(&want, text); err != nil {
			t.Fatalf("%q was taken: %v", text, err)
		}
		if !json.Valid(want.Bytes()) || want.String() == "null" {
			t.Fatalf("%q was taken", text)
		}
		if line != `{"k":`+want.String()+"}\n" {
			t.Fatalf("%q became %q, want %s", text, line, want.String())
		}
	})
}
