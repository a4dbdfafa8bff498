package csv

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
)

// drawRows draws records whose cells are likely to need care in a dialect.
func drawRows(t *rapid.T, d dialect, width int) [][]any {
	tokens := []string{
		"", "a", "N", `\N`, `\`, `\\`, `\.`, "NULL", "-", "é", "\x00", " ", "\n", "\r\n", "\r", "\xff", bom,
		strings.Repeat("some words ", 8), "exactly8", "sixteen bytes ok", string([]byte{d.delim}), string([]byte{d.quote}), string([]byte{d.quote, d.quote}),
	}
	rows := make([][]any, rapid.SampledFrom([]int{0, 1, 2, 20}).Draw(t, "rows"))
	for i := range rows {
		rows[i] = make([]any, width)
		for j := range rows[i] {
			if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
				continue
			}
			rows[i][j] = strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 0, 4).Draw(t, "cell"), "")
		}
	}
	return rows
}

func batchOf(schema *batch.Schema, rows [][]any) *batch.Batch {
	b := &batch.Batch{}
	b.Reset(schema)
	for _, r := range rows {
		for _, c := range r {
			if s, ok := c.(string); ok {
				b.Append([]byte(s))
			} else {
				b.AppendNull()
			}
		}
	}
	b.Seal()
	return b
}

// NULL, the empty text, quotes, line ends and every other byte come back.
func TestEncodedRowsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDialect(t)
		width := rapid.IntRange(1, 5).Draw(t, "width")
		rows := drawRows(t, d, width)
		e := newEncoder(d, d.quoting && rapid.Bool().Draw(t, "quote all"), schemaOf(width))
		refused := map[int]bool{}
		text := e.Encode(nil, batchOf(schemaOf(width), rows), func(row int, column, reason string) {
			if d.quoting || !strings.HasPrefix(column, "c") || reason == "" {
				t.Fatalf("row %d refused for column %q: %s", row, column, reason)
			}
			refused[row] = true
		})
		got, rejects := decodeAll(d, width, string(text), 1, 100)
		var want []rec
		for i, r := range rows {
			if !refused[i] {
				want = append(want, row(r...))
			}
		}
		compare(t, "rejects", rejects, nil)
		compare(t, fmt.Sprintf("rows of %q", text), got, want)
	})
}

// A dialect of backslashes without quotes can tell all that is not the text
// of its null token.
func TestBackslashesTellAllWithoutQuotes(t *testing.T) {
	d := dialect{delim: '\t', backslash: true, null: `\N`, ends: endsLF}
	e := newEncoder(d, false, schemaOf(3))
	text := e.Encode(nil, batchOf(schemaOf(3), [][]any{{nil, "", `\N`}, {"a\tb", "c\nd\r", `e\f`}}), func(row int, column, reason string) {
		t.Errorf("row %d, %s: %s", row, column, reason)
	})
	want := "\\N\t\t\\\\N\na\\\tb\tc\\\nd\\\r\te\\\\f\n"
	if string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

func TestEncodeTellsNullFromEmpty(t *testing.T) {
	for _, c := range []struct {
		name string
		d    dialect
		all  bool
		want string
	}{
		{"default", common(), false, "a,,\"\"\n"},
		{"null token", dialect{delim: ',', quote: '"', quoting: true, null: `\N`}, false, "a,\\N,\"\"\n"},
		{"quote all", common(), true, "\"a\",,\"\"\n"},
		{"crlf", dialect{delim: ';', quote: '\'', quoting: true, ends: endsCRLF}, false, "a;;''\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEncoder(c.d, c.all, schemaOf(3))
			got := e.Encode(nil, batchOf(schemaOf(3), [][]any{{"a", nil, ""}}), nil)
			if string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestEncodeTellsBytesAsHex(t *testing.T) {
	schema := schemaOf(2)
	schema.Fields[1].Type = batch.Of(batch.Bytes)
	got := newEncoder(common(), false, schema).Encode(nil, batchOf(schema, [][]any{{"a,b", "\x00\xffA"}, {"x", ""}, {"y", nil}}), nil)
	if want := "\"a,b\",\\x00ff41\nx,\\x\ny,\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A cell that looks like a byte order mark at the start of a file is quoted.
func TestEncodeKeepsAMarkThatIsData(t *testing.T) {
	got := newEncoder(common(), false, schemaOf(1)).Encode(nil, batchOf(schemaOf(1), [][]any{{bom + "a"}}), nil)
	if want := "\"" + bom + "a\"\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHeaderQuotesNames(t *testing.T) {
	schema := schemaOf(3)
	schema.Fields[0].Name, schema.Fields[1].Name = "a,b", "line\nend"
	e := newEncoder(common(), false, schema)
	e.header = true
	if got, want := string(e.Header(nil)), "\"a,b\",\"line\nend\",c3\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if e.header = false; len(e.Header(nil)) != 0 {
		t.Error("a header where none is asked for")
	}
}
