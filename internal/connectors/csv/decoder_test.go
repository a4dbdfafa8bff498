package csv

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
)

// split parts the oracle's records into rows and rejects.
func split(recs []rec) (rows, rejects []rec) {
	for _, r := range recs {
		if r.dirty != "" {
			rejects = append(rejects, r)
		} else {
			rows = append(rows, r)
		}
	}
	return rows, rejects
}

func compare(t interface{ Fatalf(string, ...any) }, what string, got, want []rec) {
	if len(got) == 0 && len(want) == 0 {
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func TestDecoderReadsByTheGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDialect(t)
		text := drawText(t, d)
		width := rapid.IntRange(1, 4).Draw(t, "width")
		step := rapid.SampledFrom([]int{1, 3, 64, 100, 1 << 20}).Draw(t, "step")
		recs, _ := oracle(d, width, text)
		rows, rejects := decodeAll(d, width, text, 1, step)
		wantRows, wantRejects := split(recs)
		compare(t, "rows", rows, wantRows)
		compare(t, "rejects", rejects, wantRejects)
	})
}

func TestPiecesReadAsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDialect(t)
		text := drawText(t, d)
		width := rapid.IntRange(1, 3).Draw(t, "width")
		offsets := rapid.SliceOfNDistinct(rapid.IntRange(0, len(text)), 0, 10, rapid.ID).Draw(t, "offsets")
		cuts := cutAll(d, text, slices.Sorted(slices.Values(offsets)), rapid.IntRange(1, 80).Draw(t, "block"))
		_, starts := oracle(d, width, text)
		var rows, rejects []rec
		line, at := int64(1), 0
		for _, cut := range append(cuts, len(text)) {
			if cut < len(text) && !slices.Contains(starts, cut) {
				t.Fatalf("cut at %d of %q, records start at %v", cut, text, starts)
			}
			r, j := decodeAll(d, width, text[at:cut], line, 1<<20)
			rows, rejects = append(rows, r...), append(rejects, j...)
			line += int64(strings.Count(text[at:cut], string(rune(d.endByte()))))
			at = cut
		}
		wantRows, wantRejects := decodeAll(d, width, text, 1, 1<<20)
		compare(t, "rows", rows, wantRows)
		compare(t, "rejects", rejects, wantRejects)
	})
}

func TestCutterFindsTheFirstEndPastTheOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDialect(t)
		text := drawText(t, d)
		offset := rapid.IntRange(0, len(text)).Draw(t, "offset")
		cuts := cutAll(d, text, []int{offset}, rapid.IntRange(1, 80).Draw(t, "block"))
		_, starts := oracle(d, 1, text)
		want := -1
		for _, s := range starts {
			if s > 0 && s >= offset && (want < 0 || s < want) {
				want = s
			}
		}
		switch {
		case len(cuts) == 0 && want >= 0:
			t.Fatalf("no cut at or after %d, records start at %v", offset, starts)
		case len(cuts) > 0 && cuts[0] != want && cuts[0] != len(text):
			t.Fatalf("cut at %d, want %d", cuts[0], want)
		}
	})
}

func TestDecodeTakesNoMoreThanABatch(t *testing.T) {
	text := []byte(strings.Repeat("1,2\nx\n", batch.MaxRows))
	b := &batch.Batch{Schema: schemaOf(2)}
	n, lines, err := (&decoder{dialect: common(), width: 2}).Decode(b, text, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(b.Spans)/2 + len(b.Rejects); got != batch.MaxRows || lines != batch.MaxRows || n != len(text)/2 {
		t.Errorf("%d records, %d lines, %d of %d bytes", got, lines, n, len(text))
	}
}

// Reading and writing allocate for a batch, never for a record.
// A batch whose cells are clean text has a buffer of clean text.
func TestUnescapeLeavesCleanText(t *testing.T) {
	for _, d := range []*dialect{{quote: '"', quoting: true}, {quote: '"', quoting: true, backslash: true}} {
		for _, c := range []struct{ text, want string }{
			{`é""é""日`, `é"é"日`},
			{"\"\"\n\"\"\n", "\"\n\"\n"},
		} {
			text := []byte(c.text)
			n := d.unescape(text, true)
			rest := string(text[n:])
			if string(text[:n]) != c.want || rest != strings.Repeat(" ", len(text)-n) {
				t.Errorf("%q became %q, with %q behind it", c.text, text[:n], rest)
			}
		}
	}
}

func TestNoAllocationPerRecord(t *testing.T) {
	for _, s := range shapes() {
		text, width := textOf(s, 1<<20)
		dec, schema, b := &decoder{dialect: common(), width: width}, schemaOf(width), &batch.Batch{}
		e := newEncoder(common(), false, schema)
		var out []byte
		rows := 0
		allocs := testing.AllocsPerRun(5, func() {
			b.Reset(schema)
			b.Buf = append(b.Buf, text...)
			if _, _, err := dec.Decode(b, b.Buf, false, 1); err != nil {
				t.Fatal(err)
			}
			b.Seal()
			rows = b.Rows
			out = e.Encode(out[:0], b, nil)
		})
		if allocs > 2 || rows < 1000 {
			t.Errorf("%s: %.0f allocations for %d rows", s.name, allocs, rows)
		}
	}
}
