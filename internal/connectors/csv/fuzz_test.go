package csv

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
)

// FuzzDecode reads any bytes in any dialect: without a panic, as the grammar
// says, in pieces as in the whole, and what was read comes back when it has
// been written.
func FuzzDecode(f *testing.F) {
	f.Add("a,b\n\"c\"\"\n\",\r\n,\"\"\n", byte(','), byte('"'), byte(0), byte(2), uint16(3))
	f.Add("a\\,b\\\n\\N\t'x\\'y'\n", byte('\t'), byte('\''), byte(0b1001), byte(2), uint16(7))
	f.Add("a\rb\r\n\"\r\"x\r", byte(','), byte('"'), byte(0b0110), byte(1), uint16(2))
	f.Add(strings.Repeat("lorem ipsum,", 20)+"\n", byte(','), byte('"'), byte(0b10000), byte(21), uint16(100))
	f.Fuzz(func(t *testing.T, text string, delim, quote, flags, width byte, at uint16) {
		o := DialectOptions{Delimiter: string([]byte{delim}), Quote: string([]byte{quote}), Escape: "doubled"}
		if flags&1 != 0 {
			o.Escape = "backslash"
		}
		if flags&16 != 0 {
			o.Quote = "none"
		}
		if flags&8 != 0 {
			o.Null = `\N`
		}
		d, err := o.dialect([]string{"auto", "lf", "crlf", "cr"}[flags>>1&3])
		if err != nil {
			return
		}
		checkText(t, d, text, int(width)%24+1, int(at))
	})
}

func checkText(t *testing.T, d dialect, text string, width, at int) {
	t.Helper()
	recs, _ := oracle(d, width, text)
	wantRows, wantRejects := split(recs)
	rows, rejects := decodeAll(d, width, text, 1, max(1, at%300))
	compare(t, "rows", rows, wantRows)
	compare(t, "rejects", rejects, wantRejects)

	rows, rejects = nil, nil
	line, from := int64(1), 0
	for _, cut := range append(cutAll(d, text, []int{at, at * 2}, at%70+1), len(text)) {
		r, j := decodeAll(d, width, text[from:cut], line, 1<<20)
		rows, rejects = append(rows, r...), append(rejects, j...)
		line += int64(strings.Count(text[from:cut], string(rune(d.endByte()))))
		from = cut
	}
	compare(t, "rows of the pieces", rows, wantRows)
	compare(t, "rejects of the pieces", rejects, wantRejects)
	checkReencoded(t, d, text, width)
}

// checkReencoded writes the rows of a text and reads them again.
func checkReencoded(t *testing.T, d dialect, text string, width int) {
	t.Helper()
	b := &batch.Batch{}
	b.Reset(schemaOf(width))
	b.Buf = []byte(text)
	if _, _, err := (&decoder{dialect: d, width: width}).Decode(b, b.Buf, true, 1); err != nil {
		t.Fatal(err)
	}
	b.Rejects = nil
	b.Seal()
	refused := map[int]bool{}
	out := newEncoder(d, false, b.Schema).Encode(nil, b, func(row int, _, _ string) { refused[row] = true })
	if d.quoting && len(refused) > 0 {
		t.Fatalf("refused %v", refused)
	}
	var want []rec
	for i := range b.Rows {
		cells := make([]any, width)
		for c := range cells {
			if cell := b.Columns[c].Cell(i); cell != nil {
				cells[c] = string(cell)
			}
		}
		if !refused[i] {
			want = append(want, row(cells...))
		}
	}
	rows, rejects := decodeAll(d, width, string(out), 1, 1<<20)
	compare(t, "rejects of what was written", rejects, nil)
	compare(t, "rows of what was written", rows, want)
}

// FuzzDialect takes any options: those that are valid tell NULL, the empty
// text and any other text apart.
func FuzzDialect(f *testing.F) {
	f.Add(",", "\"", "doubled", "", "lf", "a,\"b\"\n")
	f.Add("tab", "none", "backslash", `\N`, "crlf", "a\tb\r\n")
	f.Add(";", "'", "backslash", "NULL", "cr", `\'`)
	f.Add("x", "y", "doubled", "z", "auto", "xyz")
	f.Fuzz(func(t *testing.T, delim, quote, escape, null, ends, text string) {
		if escape != "backslash" {
			escape = "doubled"
		}
		o := DialectOptions{Delimiter: delim, Quote: quote, Escape: escape, Null: null}
		d, err := o.dialect(ends)
		if err != nil {
			return
		}
		cells := [][]any{{text, nil, ""}, {null, text + text, delim + quote}}
		refused := map[int]bool{}
		out := newEncoder(d, false, schemaOf(3)).Encode(nil, batchOf(schemaOf(3), cells), func(row int, _, _ string) { refused[row] = true })
		if d.quoting && len(refused) > 0 {
			t.Fatalf("refused %v", refused)
		}
		var want []rec
		for i, r := range cells {
			if !refused[i] {
				want = append(want, row(r...))
			}
		}
		rows, rejects := decodeAll(d, 3, string(out), 1, 1<<20)
		compare(t, "rejects", rejects, nil)
		compare(t, "rows", rows, want)
		if len(text) < 1000 {
			checkText(t, d, text, 2, len(null))
		}
	})
}
