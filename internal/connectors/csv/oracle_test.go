package csv

import (
	"bytes"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
)

// rec is a record as tests compare it: its cells, or that it is dirty.
type rec struct {
	cells string // each cell quoted by %q, NULL as -
	dirty string // the reason without its numbers' line
	line  string
}

func row(cells ...any) rec {
	var b strings.Builder
	for _, c := range cells {
		if c == nil {
			b.WriteString("-,")
		} else {
			fmt.Fprintf(&b, "%q,", c)
		}
	}
	return rec{cells: b.String()}
}

// oracle reads a whole text by the grammar of the package comment, byte by
// byte, with nothing in common with the decoder. starts are the offsets at
// which records start.
func oracle(d dialect, width int, text string) (recs []rec, starts []int) {
	end := func(i int) int {
		rest := text[i:]
		switch {
		case d.ends == endsCR && strings.HasPrefix(rest, "\r"), d.ends == endsLF && strings.HasPrefix(rest, "\n"), d.ends == endsAny && strings.HasPrefix(rest, "\n"):
			return 1
		case (d.ends == endsAny || d.ends == endsCRLF) && strings.HasPrefix(rest, "\r\n"):
			return 2
		}
		return 0
	}
	isQuote := func(i int) bool { return d.quoting && i < len(text) && text[i] == d.quote }
	lineEnd := "\n"
	if d.ends == endsCR {
		lineEnd = "\r"
	}
	for i := 0; i < len(text); {
		start := i
		starts = append(starts, start)
		var cells []any
		fault := ""
		for more := true; more; {
			var cell []byte
			raw, quoted := i, isQuote(i)
			if quoted {
				open := i
				closed := false
				for i++; i < len(text); i++ {
					if d.backslash && text[i] == '\\' && i+1 < len(text) && strings.IndexByte("\\\n\r"+string(d.quote), text[i+1]) >= 0 {
						i++
					} else if isQuote(i) {
						if !isQuote(i + 1) {
							i++
							closed = true
							break
						}
						i++
					}
					cell = append(cell, text[i])
				}
				if !closed {
					fault = fmt.Sprintf("the quote that opens in line %d is never closed", 1+strings.Count(text[:open], lineEnd))
				} else if i < len(text) && text[i] != d.delim && end(i) == 0 {
					fault = "text after the closing quote"
				}
			}
			for i < len(text) && text[i] != d.delim && end(i) == 0 {
				if d.backslash && text[i] == '\\' && i+1 < len(text) && d.escapes(text[i+1], false) {
					i++
				}
				cell = append(cell, text[i])
				i++
			}
			if !quoted && text[raw:i] == d.null {
				cells = append(cells, nil)
			} else {
				cells = append(cells, string(cell))
			}
			if more = i < len(text) && text[i] == d.delim; more {
				i++
			}
		}
		stop := i
		if i < len(text) {
			i += end(i)
		}
		if fault == "" && len(cells) != width {
			fault = countFault(len(cells), width, stop == start)
		}
		if fault != "" {
			recs = append(recs, rec{dirty: fault, line: fmt.Sprintf("line %d", 1+strings.Count(text[:start], lineEnd))})
		} else {
			recs = append(recs, row(cells...))
		}
	}
	return recs, starts
}

func schemaOf(width int) *batch.Schema {
	s := &batch.Schema{}
	for i := range width {
		s.Fields = append(s.Fields, batch.Field{Name: fmt.Sprintf("c%d", i+1)})
	}
	return s
}

// decodeAll decodes a text as a source would: in chunks that grow by step
// bytes until a record fits. Rows and rejects come apart; in the order of
// their places in the text.
func decodeAll(d dialect, width int, text string, line int64, step int) (rows, rejects []rec) {
	dec := &decoder{dialect: d, width: width}
	rest := []byte(text)
	var pool batch.Pool
	for size := step; len(rest) > 0; {
		b := pool.Get(schemaOf(width))
		size = min(size, len(rest))
		chunk := bytes.Clone(rest[:size])
		n, lines, err := dec.Decode(b, chunk, size == len(rest), line)
		if err != nil {
			panic(err)
		}
		if n == 0 {
			if size == len(rest) {
				panic("nothing taken from the final chunk")
			}
			size += step
			continue
		}
		if !bytes.Equal(chunk[n:], rest[n:size]) {
			panic("bytes that were not taken have changed")
		}
		line += lines
		b.Buf = chunk
		for _, r := range b.Rejects {
			rejects = append(rejects, rec{dirty: r.Reason, line: r.Where})
			if !bytes.HasPrefix(rest, r.Raw) && !bytes.Contains(rest[:n], r.Raw) {
				panic("the raw record is not in the text")
			}
		}
		b.Seal()
		for i := range b.Rows {
			cells := make([]any, width)
			for j := range cells {
				if c := b.Columns[j].Cell(i); c != nil {
					cells[j] = string(c)
				}
			}
			rows = append(rows, row(cells...))
		}
		rest = rest[n:]
		size = step
		b.Release()
	}
	return rows, rejects
}

// cutAll cuts a text at the record ends after the given offsets, feeding the
// cutter blocks of the given size, and returns where it cut.
func cutAll(d dialect, text string, offsets []int, block int) []int {
	c := &cutter{dialect: d}
	var cuts []int
	at, next := 0, 0
	for at < len(text) && next < len(offsets) {
		p := []byte(text[at:min(at+block-at%block, len(text))])
		end := c.Cut(p, max(0, offsets[next]-at))
		if end < 0 {
			at += len(p)
			continue
		}
		at += end
		cuts = append(cuts, at)
		for next < len(offsets) && offsets[next] < at {
			next++
		}
	}
	return cuts
}

func drawDialect(t *rapid.T) dialect {
	d := dialect{
		delim:   rapid.SampledFrom([]byte{',', ';', '\t', '|', 'x'}).Draw(t, "delimiter"),
		quote:   rapid.SampledFrom([]byte{'"', '\''}).Draw(t, "quote"),
		quoting: rapid.IntRange(0, 4).Draw(t, "quoting") > 0,
		null:    rapid.SampledFrom([]string{"", `\N`, "NULL", "-"}).Draw(t, "null"),
		ends:    lineEnds(rapid.IntRange(0, 3).Draw(t, "line ends")),
	}
	d.backslash = rapid.IntRange(0, 3).Draw(t, "backslash") == 0
	return d
}

func drawText(t *rapid.T, d dialect) string {
	tokens := []string{"a", "N", `\N`, `\`, "NULL", "-", "é", "\x00", " ", "\n", "\r\n", "\r", strings.Repeat("long ", 20), "\xff"}
	for range 3 {
		tokens = append(tokens, string([]byte{d.delim}), string([]byte{d.quote}))
	}
	tokens = append(tokens, string([]byte{d.quote, d.quote}), string([]byte{d.delim, d.quote}), string([]byte{d.quote, d.delim}),
		string([]byte{d.quote, '\n'}), string([]byte{'\n', d.quote}), string([]byte{'\r', '\n', d.quote}))
	n := rapid.SampledFrom([]int{0, 3, 10, 30, 100, 200}).Draw(t, "count")
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), n, n).Draw(t, "tokens"), "")
}
