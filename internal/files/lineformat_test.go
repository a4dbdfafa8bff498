package files

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/leatdata/leat/batch"
)

// lineFormat is the smallest format there can be: a record is a line, "|"
// stands between fields, a header names them, "\N" is NULL. A field may be
// quoted with ' to hold line ends.
type lineFormat struct {
	header bool
	// rows bounds a batch, so that small data makes many of them.
	rows int
}

func (f lineFormat) Suffix() string { return ".txt" }

func (f lineFormat) schemaOf(head []byte, whole bool) (*batch.Schema, bool, error) {
	line, _, ok := bytes.Cut(head, []byte{'\n'})
	if !ok && !whole {
		return nil, false, nil
	}
	s := &batch.Schema{}
	for name := range strings.SplitSeq(string(line), "|") {
		s.Fields = append(s.Fields, batch.Field{Name: name})
	}
	if !f.header {
		for i := range s.Fields {
			s.Fields[i].Name = fmt.Sprintf("c%d", i+1)
		}
	}
	return s, true, nil
}

func (f lineFormat) Preamble(head []byte, whole bool) (int, int64, bool, error) {
	if !f.header {
		return 0, 0, true, nil
	}
	i := bytes.IndexByte(head, '\n')
	if i < 0 {
		return len(head), 0, whole, nil
	}
	return i + 1, 1, true, nil
}

func (f lineFormat) NewDecoder(schema *batch.Schema) Decoder {
	rows := f.rows
	if rows == 0 {
		rows = batch.MaxRows
	}
	return &lineDecoder{width: len(schema.Fields), rows: rows}
}

func (f lineFormat) NewCutter() Cutter { return &lineCutter{} }

func (f lineFormat) NewEncoder(schema *batch.Schema) Encoder { return lineEncoder{f, schema} }

type lineDecoder struct{ width, rows int }

// end returns the index after the record's line end, or 0.
func recordEnd(data []byte, final bool) int {
	quoted := false
	for i, c := range data {
		switch {
		case c == '\'':
			quoted = !quoted
		case c == '\n' && !quoted:
			return i + 1
		}
	}
	if final {
		return len(data)
	}
	return 0
}

func (d *lineDecoder) Decode(b *batch.Batch, data []byte, final bool, line int64) (int, int64, error) {
	n, lines := 0, int64(0)
	for row := 0; row < d.rows && n < len(data); row++ {
		end := recordEnd(data[n:], final)
		if end == 0 {
			break
		}
		record := data[n : n+end]
		text := bytes.TrimSuffix(record, []byte{'\n'})
		fields := bytes.Split(text, []byte{'|'})
		if len(fields) == d.width {
			off := n
			for _, field := range fields {
				span := batch.Span{Off: uint32(off), Len: int32(len(field))}
				if string(field) == `\N` {
					span = batch.NullSpan()
				}
				b.Spans = append(b.Spans, span)
				off += len(field) + 1
			}
		} else {
			b.Rejects = append(b.Rejects, batch.Reject{
				Where: fmt.Sprintf("line %d", line+lines), At: line + lines, Reason: "wrong number of fields", Raw: bytes.Clone(text),
			})
		}
		n += end
		lines += int64(bytes.Count(record, []byte{'\n'}))
	}
	return n, lines, nil
}

type lineCutter struct{ quoted bool }

func (c *lineCutter) Cut(p []byte, from int) int {
	for i, b := range p {
		switch {
		case b == '\'':
			c.quoted = !c.quoted
		case b == '\n' && !c.quoted && i+1 >= from:
			return i + 1
		}
	}
	return -1
}

type lineEncoder struct {
	format lineFormat
	schema *batch.Schema
}

func (e lineEncoder) Header(dst []byte) []byte {
	if !e.format.header {
		return dst
	}
	return append(append(dst, strings.Join(e.schema.Names(), "|")...), '\n')
}

func (e lineEncoder) Encode(dst []byte, b *batch.Batch, reject func(row int, column, reason string)) []byte {
rows:
	for row := range b.Rows {
		start := len(dst)
		for i := range b.Columns {
			if i > 0 {
				dst = append(dst, '|')
			}
			cell := b.Columns[i].Cell(row)
			if bytes.Contains(cell, []byte("|")) {
				reject(row, e.schema.Fields[i].Name, "holds the delimiter")
				dst = dst[:start]
				continue rows
			}
			if cell == nil {
				cell = []byte(`\N`)
			}
			dst = append(dst, cell...)
		}
		dst = append(dst, '\n')
	}
	return dst
}
