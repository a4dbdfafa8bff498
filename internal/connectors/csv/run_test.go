package csv

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
)

// What one dialect has read another writes so that it reads back, whether
// cells are copied together or singly.
func TestWhatWasReadIsWrittenAsItWas(t *testing.T) {
	copied := 0
	rapid.Check(t, func(rt *rapid.T) {
		from, to := drawDialect(rt), drawDialect(rt)
		from.quoting, to.quoting = true, true
		if rapid.Bool().Draw(rt, "same") {
			from.delim, from.quote, from.null, from.backslash, to.backslash = to.delim, to.quote, to.null, false, false
		}
		width := rapid.IntRange(2, 8).Draw(rt, "width")
		words := []string{"", "a", "some words", "0.50", "2024-01-31", strings.Repeat("long ", 9), from.null, to.null}
		special := []string{",", ";", "\t", "|", "x", `"`, "'", "\n", "\r", "\\", bom}
		rows := make([][]any, rapid.SampledFrom([]int{1, 3, 80}).Draw(rt, "rows"))
		strange := rapid.SampledFrom([]int{1, 5, 40}).Draw(rt, "strange")
		for i := range rows {
			for range width {
				cell := any(rapid.SampledFrom(words).Draw(rt, "word"))
				switch rapid.IntRange(0, strange).Draw(rt, "kind") {
				case 0:
					cell = cell.(string) + rapid.SampledFrom(special).Draw(rt, "special")
				case 1:
					cell = nil
				}
				rows[i] = append(rows[i], cell)
			}
		}
		schema := schemaOf(width)
		refuse := func(int, string, string) { rt.Fatal("refused") }
		text := newEncoder(from, false, schema).Encode(nil, batchOf(schema, rows), refuse)
		b := &batch.Batch{}
		b.Reset(schema)
		b.Buf = text
		dec := &decoder{dialect: from, width: width}
		if n, _, err := dec.Decode(b, b.Buf, true, 1); n != len(text) || err != nil || len(b.Rejects) > 0 {
			rt.Fatal(n, err, b.Rejects)
		}
		b.Seal()
		e := newEncoder(to, false, schema)
		if e.copies && isAsRead(b) {
			for r := range b.Rows {
				if _, n, _ := e.rowAsRead(nil, b, r); n > 0 {
					copied++
				}
			}
		}
		out := e.Encode(nil, b, refuse)
		got, rejects := decodeAll(to, width, string(out), 1, 200)
		var want []rec
		for _, r := range rows {
			want = append(want, row(r...))
		}
		compare(rt, "rejects", rejects, nil)
		compare(rt, "rows", got, want)
	})
	if copied == 0 {
		t.Error("no cells were copied together")
	}
}

// A byte order mark at the start of a file that is data is quoted, however
// short its cell.
func TestFirstCellWithAMarkIsQuoted(t *testing.T) {
	schema := schemaOf(2)
	e := newEncoder(common(), false, schema)
	text := e.Encode(nil, batchOf(schema, [][]any{{bom + "a", bom + "b"}, {bom + "c", "a cell that makes the buffer long"}}), nil)
	if want := "\"" + bom + "a\"," + bom + "b\n" + bom + "c,a cell that makes the buffer long\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// Whatever made the batch: a cell that holds a delimiter is no two cells.
func TestRunWithADelimiterInACellIsNone(t *testing.T) {
	schema := schemaOf(2)
	b := &batch.Batch{}
	b.Reset(schema)
	first := strings.Repeat("of a text of some length ", 3) + ","
	for range 2 {
		off := len(b.Buf)
		b.Buf = append(b.Buf, first+",second,"...)
		b.Spans = append(b.Spans, batch.Span{Off: uint32(off), Len: int32(len(first))}, batch.Span{Off: uint32(off + len(first) + 1), Len: 6})
	}
	b.Seal()
	text := newEncoder(common(), false, schema).Encode(nil, b, nil)
	if want := strings.Repeat(`"`+first+"\",second\n", 2); string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}
