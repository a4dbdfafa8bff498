package csv

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

const bom = "\xef\xbb\xbf"

// Why a row cannot be told in a dialect without quotes.
const (
	needsQuotes = "holds a delimiter or a line end, which cannot be told without quotes"
	emptyIsNull = "is the empty text, which reads as NULL without quotes"
	textIsNull  = "is the text of the null token, which reads as NULL without quotes"
	markIsLost  = "begins with a byte order mark, which at the start of a file is not data without quotes"
)

// encoder is a files.Encoder of one dialect. In the common dialects it looks
// at a cell of up to 16 bytes once, eight bytes at a time, as it copies it.
type encoder struct {
	dialect
	quoteAll bool
	header   bool
	end      string
	schema   *batch.Schema
	hex      []bool    // columns of bytes, told as \x and digits
	fast     []bool    // columns whose short cells are looked at as they are copied
	slow     []bool    // none of them
	copies   bool      // cells that stand side by side are copied together
	special  [4]uint64 // what has to be quoted, each byte repeated
	below    uint64    // the byte above all of these, repeated: most words hold none below it
	scratch  []byte
}

func newEncoder(d dialect, quoteAll bool, schema *batch.Schema) *encoder {
	width := len(schema.Fields)
	e := &encoder{dialect: d, quoteAll: quoteAll, schema: schema, end: "\n"}
	e.hex, e.fast, e.slow = make([]bool, width), make([]bool, width), make([]bool, width)
	for i, f := range schema.Fields {
		e.hex[i] = f.Type.Kind == batch.Bytes
		// One that stands alone in its line may be \., which needsQuote knows.
		e.fast[i] = d.quoting && !d.backslash && !quoteAll && !e.hex[i] && width > 1
	}
	e.copies = !slices.Contains(e.fast, false)
	switch d.ends {
	case endsCRLF:
		e.end = "\r\n"
	case endsCR:
		e.end = "\r"
	}
	e.special = [4]uint64{repeat(d.delim), repeat(d.quote), repeat('\n'), repeat('\r')}
	e.below = repeat(max(d.delim, d.quote, '\n', '\r') + 1)
	return e
}

// Header implements files.Encoder.
func (e *encoder) Header(dst []byte) []byte {
	if !e.header || len(e.schema.Fields) == 0 {
		return dst
	}
	for i, f := range e.schema.Fields {
		if i > 0 {
			dst = append(dst, e.delim)
		}
		dst, _ = e.append(dst, []byte(f.Name), len(dst) == 0)
	}
	return append(dst, e.end...)
}

// Encode implements files.Encoder.
func (e *encoder) Encode(dst []byte, b *batch.Batch, reject func(row int, column, reason string)) []byte {
	asRead, copied := e.copies && isAsRead(b), 0
	for r := range b.Rows {
		start := len(dst)
		var why fault
		if asRead && r > 0 {
			var n int
			dst, n, why = e.rowAsRead(dst, b, r)
			copied += n
			asRead = r != fewRows || copied > fewRows*len(b.Columns)/2
		} else {
			dst, why = e.cells(dst, b, r, 0, len(b.Columns))
		}
		if why.reason != "" {
			reject(r, e.schema.Fields[why.column].Name, why.reason)
			dst = dst[:start]
			continue
		}
		dst = append(dst[:len(dst)-1], e.end...)
	}
	return dst
}

// fault is why a row cannot be told.
type fault struct {
	column int
	reason string
}

// cells appends the cells of row r of b from column first up to end, with a
// delimiter after each.
func (e *encoder) cells(dst []byte, b *batch.Batch, r, first, end int) ([]byte, fault) {
	nullLen, fast := len(e.null), e.fast
	if r == 0 {
		fast = e.slow // the first cell may begin with a byte order mark
	}
	for c := first; c < end; c++ {
		col := &b.Columns[c]
		s := col.Spans[col.First+r*col.Stride]
		size := int(s.Len)
		if uint(size-1) < 16 && size != nullLen && fast[c] && int(s.Off)+16 <= len(col.Data) {
			n := len(dst)
			if cap(dst)-n < 17 {
				dst = slices.Grow(dst, 4096)
			}
			to := (*[17]byte)(dst[n : n+17])
			if e.short((*[16]byte)(col.Data[s.Off:]), to, size) {
				to[size] = e.delim
				dst = dst[:n+size+1]
				continue
			}
		}
		if size < 0 {
			dst = append(append(dst, e.null...), e.delim)
			continue
		}
		cell := col.Cell(r)
		if e.hex[c] {
			e.scratch = value.AppendHex(e.scratch[:0], cell)
			cell = e.scratch
		}
		var reason string
		if dst, reason = e.append(dst, cell, r == 0 && c == 0); reason != "" {
			return dst, fault{c, reason}
		}
		dst = append(dst, e.delim)
	}
	return dst, fault{}
}

// short copies 16 bytes, of which the first n, 1 to 16, are a cell, and
// reports whether that may stand without quotes.
func (e *encoder) short(from *[16]byte, to *[17]byte, n int) bool {
	low, high := binary.LittleEndian.Uint64(from[:8]), binary.LittleEndian.Uint64(from[8:])
	binary.LittleEndian.PutUint64(to[:8], low)
	binary.LittleEndian.PutUint64(to[8:16], high)
	if n <= 8 {
		low |= ^uint64(0) << uint(8*n) // what follows the cell; a shift by 64 gives 0
		return (low-e.below)&^low&highs == 0 || !e.holds(low)
	}
	high |= ^uint64(0) << uint(8*n-64)
	return ((low-e.below)&^low|(high-e.below)&^high)&highs == 0 || !e.holds(low) && !e.holds(high)
}

// holds reports whether a byte of w is one that has to be quoted.
func (e *encoder) holds(w uint64) bool {
	p, q, r, s := w^e.special[0], w^e.special[1], w^e.special[2], w^e.special[3]
	p, q = (p-ones)&^p, (q-ones)&^q
	r, s = (r-ones)&^r, (s-ones)&^s
	return (p|q|r|s)&highs != 0
}

// append appends a cell that is not NULL, quoted where it has to be, or says
// why it cannot be told. first marks the first cell that a file may have: one
// that begins with a byte order mark is quoted, or it would be taken for one.
func (e *encoder) append(dst, cell []byte, first bool) ([]byte, string) {
	if !e.quoting {
		return e.bare(dst, cell, first)
	}
	if !e.quoteAll && !e.needsQuote(cell) && !(first && bytes.HasPrefix(cell, []byte(bom))) {
		return append(dst, cell...), ""
	}
	dst = append(dst, e.quote)
	for {
		i := bytes.IndexByte(cell, e.quote)
		if e.backslash {
			i = bytes.IndexAny(cell, "\\"+string(rune(e.quote)))
		}
		if i < 0 {
			break
		}
		dst = append(dst, cell[:i]...)
		if e.backslash {
			dst = append(dst, '\\', cell[i])
		} else {
			dst = append(dst, e.quote, e.quote)
		}
		cell = cell[i+1:]
	}
	dst = append(dst, cell...)
	return append(dst, e.quote), ""
}

// needsQuote reports whether a cell would not read back as it is. A lone \.
// in its line ends the data for PostgreSQL before version 17.
func (e *encoder) needsQuote(cell []byte) bool {
	if len(cell) == 0 || string(cell) == e.null || string(cell) == `\.` && len(e.hex) == 1 {
		return true
	}
	if e.backslash && bytes.IndexByte(cell, '\\') >= 0 {
		return true
	}
	for ; len(cell) >= 8; cell = cell[8:] {
		if e.holds(binary.LittleEndian.Uint64(cell)) {
			return true
		}
	}
	for _, c := range cell {
		if c == e.delim || c == e.quote || c == '\n' || c == '\r' {
			return true
		}
	}
	return false
}

// bare appends a cell in a dialect without quotes.
func (e *encoder) bare(dst, cell []byte, first bool) ([]byte, string) {
	start := len(dst)
	if first && bytes.HasPrefix(cell, []byte(bom)) {
		return dst, markIsLost
	}
	for _, c := range cell {
		switch {
		case e.backslash && e.escapes(c, false):
			dst = append(dst, '\\', c)
		case c == e.delim || c == '\n' || c == '\r':
			return dst, needsQuotes
		default:
			dst = append(dst, c)
		}
	}
	if string(dst[start:]) == e.null {
		if len(cell) == 0 {
			return dst, emptyIsNull
		}
		return dst, textIsNull
	}
	return dst, ""
}
