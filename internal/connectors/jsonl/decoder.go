package jsonl

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
)

// decoder is the files.Decoder of lines that each hold one object. Strings are
// unescaped where they stand; what cannot be, because its text becomes another,
// is made in extra.
type decoder struct {
	columns []column
	byName  map[string]int
	// strict makes a key that is no column a fault: the columns were found and
	// not chosen.
	strict bool

	scan scanner
	key  []byte // an unescaped key
	// unknown is where in the line the first key stands that is no column, -1
	// without one, and other is the key. What breaks the line comes before it:
	// it may be why the key was not found.
	unknown int
	other   []byte

	row   []value
	found []uint32 // by column, the number of the row that has it
	rowNo uint32
	extra []byte
	// moved are the cells that stand in extra, by their index in Spans.
	moved []int
}

// column is what a decoder makes of a key's values.
type column struct {
	name string
	// raw cells are the value's JSON as it stands, a string's too.
	raw bool
	// convert makes the cell of a typed column, nil when the text is the cell.
	convert cells.Converter
}

func newDecoder(columns []column, strict bool) *decoder {
	d := &decoder{
		columns: columns, strict: strict, byName: make(map[string]int, len(columns)),
		row: make([]value, len(columns)), found: make([]uint32, len(columns)),
	}
	for i, c := range columns {
		d.byName[c.name] = i
	}
	return d
}

// Decode implements files.Decoder. Lines of spaces alone are passed over.
func (d *decoder) Decode(b *batch.Batch, data []byte, final bool, line int64) (int, int64, error) {
	d.extra, d.moved = d.extra[:0], d.moved[:0]
	n, lines := 0, int64(0)
	for rows, most := 0, b.Room(len(d.columns)).Rows; rows < most && n < len(data); {
		end := bytes.IndexByte(data[n:], '\n')
		size := end + 1
		if end < 0 {
			if !final {
				break
			}
			end, size = len(data)-n, len(data)-n
		}
		if d.line(b, data, n, n+end, line+lines) {
			rows++
		}
		n += size
		lines++
	}
	for _, i := range d.moved {
		b.Spans[i].Off += uint32(n)
	}
	return n, lines, nil
}

// Extra implements files.Extender.
func (d *decoder) Extra() []byte { return d.extra }

// line reads the line data[from:to] and reports whether there is a record in it.
func (d *decoder) line(b *batch.Batch, data []byte, from, to int, line int64) bool {
	d.scan = scanner{data: data[:to], pos: from}
	d.scan.space()
	if d.scan.pos == to {
		return false
	}
	d.rowNo++
	if d.rowNo == 0 { // it has gone round
		clear(d.found)
		d.rowNo = 1
	}
	if !d.object() {
		b.Rejects = append(b.Rejects, batch.Reject{
			Where:  fmt.Sprintf("line %d", line),
			At:     line,
			Reason: fmt.Sprintf("character %d: %s", d.scan.pos-from+1, d.scan.fault),
			Raw:    bytes.Clone(bytes.TrimSuffix(data[from:to], []byte{'\r'})),
		})
		return true
	}
	d.cells(b, data, line)
	return true
}

// object reads the object of a line into row.
func (d *decoder) object() bool {
	s := &d.scan
	d.unknown = -1
	if s.peek() != '{' {
		return s.fail(noObject)
	}
	s.pos++
	s.space()
	for next, first := 0, true; ; first = false {
		if first && s.peek() == '}' {
			break
		}
		i, ok := d.member(next)
		if !ok {
			return false
		}
		if i >= 0 {
			next = i + 1
		}
		s.space()
		c := s.peek()
		if c == '}' {
			break
		}
		if c != ',' {
			return s.fail(noEnd)
		}
		s.pos++
		s.space()
	}
	s.pos++
	s.space()
	if s.pos < len(s.data) {
		return s.fail(tooMuch)
	}
	if d.unknown >= 0 {
		s.pos = d.unknown
		return s.fail(fmt.Sprintf("there is no column for the key %q: name the columns to read by the option columns", d.other))
	}
	return true
}

// member reads a key and its value and returns the column, -1 when it is left
// out. next is the column that it is likely to be.
func (d *decoder) member(next int) (int, bool) {
	s := &d.scan
	at := s.pos
	if s.peek() != '"' {
		return 0, s.fail(noName)
	}
	s.pos++
	start := s.pos
	var escaped bool
	if !s.string(&escaped) {
		return 0, false
	}
	key := s.data[start : s.pos-1]
	if escaped {
		d.key = append(d.key[:0], key...)
		key = d.key[:unescape(d.key)]
	}
	i, ok := next, next < len(d.columns) && string(key) == d.columns[next].name
	if !ok {
		i, ok = d.byName[string(key)]
	}
	if !s.colon() {
		return 0, false
	}
	if !ok {
		var v value
		if d.strict && d.unknown < 0 {
			d.unknown, d.other = at, append(d.other[:0], key...)
		}
		return -1, s.value(&v, 0)
	}
	if d.found[i] == d.rowNo {
		s.pos = at
		return 0, s.fail(fmt.Sprintf("the key %q is there twice", key))
	}
	d.found[i] = d.rowNo
	return i, s.value(&d.row[i], 0)
}

// cells makes the spans of a row. A key that is not there is NULL.
func (d *decoder) cells(b *batch.Batch, data []byte, line int64) {
	spans, extra, moved := len(b.Spans), len(d.extra), len(d.moved)
	for i := range d.columns {
		v := &d.row[i]
		if d.found[i] != d.rowNo || v.kind == isNull {
			b.Spans = append(b.Spans, batch.NullSpan())
			continue
		}
		c := &d.columns[i]
		switch {
		case v.kind != isString:
		case c.raw:
			v.start, v.end = v.start-1, v.end+1
		case v.escaped:
			v.end = v.start + unescape(data[v.start:v.end])
		}
		span := batch.Span{Off: uint32(v.start), Len: int32(v.end - v.start)}
		if c.convert != nil {
			n := len(d.extra)
			out, err := c.convert(d.extra, data[v.start:v.end])
			if err != nil {
				b.Spans, d.extra, d.moved = b.Spans[:spans], d.extra[:extra], d.moved[:moved]
				d.reject(b, data, i, line, err)
				return
			}
			if !bytes.Equal(out[n:], data[v.start:v.end]) {
				d.moved = append(d.moved, len(b.Spans))
				span = batch.Span{Off: uint32(n), Len: int32(len(out) - n)}
				d.extra = out
			}
		}
		b.Spans = append(b.Spans, span)
	}
}

// reject keeps a row aside whose value at column bad is none of its type. The
// strings of the columns after it are unescaped now.
func (d *decoder) reject(b *batch.Batch, data []byte, bad int, line int64, err error) {
	values := make([][]byte, len(d.columns))
	for i := range d.columns {
		v := &d.row[i]
		if d.found[i] != d.rowNo || v.kind == isNull {
			continue
		}
		if i > bad && v.kind == isString && v.escaped {
			v.end = v.start + unescape(data[v.start:v.end])
		}
		values[i] = append([]byte{}, data[v.start:v.end]...)
	}
	b.Rejects = append(b.Rejects, batch.Reject{
		Where: fmt.Sprintf("line %d", line), At: line, Column: d.columns[bad].name,
		Reason: fmt.Sprintf("%s: %s", cells.Quote(values[bad]), err), Values: values,
	})
}

// newColumn returns what is made of the values of a field of a type. Of a type
// that is the target's alone the cell stays a text, which the target reads.
func newColumn(name string, t batch.Type, declared bool) (column, error) {
	c := column{name: name}
	var err error
	switch t.Kind {
	case batch.Untyped, batch.Named:
		return c, nil
	case batch.JSON:
		c.raw = true // it was checked
		return c, nil
	case batch.Bytes:
		var check cells.Converter
		if check, err = cells.Canonical(t); declared && err == nil {
			c.convert = bytesThen(check)
		} else {
			c.convert = hexOf
		}
	case batch.Array:
		c.convert = arrayLiteral(t)
		if declared {
			var check cells.Converter
			if check, err = cells.Canonical(t); err == nil {
				c.convert = arrayThen(c.convert, check)
			}
		}
	default:
		if declared {
			c.convert, err = cells.Canonical(t)
		}
	}
	if err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// appendBytes appends the bytes that a string stands for: \x and hexadecimal
// digits, or base64.
func appendBytes(dst, text []byte) ([]byte, error) {
	if bytes.HasPrefix(text, []byte(`\x`)) {
		return cells.ParseHex(dst, text)
	}
	out, err := base64.StdEncoding.AppendDecode(dst, text)
	if err != nil {
		return dst, fmt.Errorf("neither base64 nor \\x and hexadecimal digits: %w", cells.ErrSyntax)
	}
	return out, nil
}

// hexOf writes the bytes as \x and hexadecimal digits, which is how a text
// tells bytes.
func hexOf(dst, text []byte) ([]byte, error) {
	n := len(dst)
	out, err := appendBytes(dst, text)
	if err != nil {
		return dst, err
	}
	size := len(out) - n
	out = slices.Grow(out, size+2)[:n+2+2*size]
	for i := size - 1; i >= 0; i-- { // from the end, so that none is overwritten unread
		c := out[n+i]
		out[n+2+2*i], out[n+3+2*i] = hexDigits[c>>4], hexDigits[c&15]
	}
	out[n], out[n+1] = '\\', 'x'
	return out, nil
}

const hexDigits = "0123456789abcdef"

// bytesThen reads bytes and checks them.
func bytesThen(check cells.Converter) cells.Converter {
	return func(dst, text []byte) ([]byte, error) {
		n := len(dst)
		out, err := appendBytes(dst, text)
		if err != nil {
			return dst, err
		}
		if _, err := check(out, out[n:]); err != nil { // what it appends is let go
			return dst, err
		}
		return out, nil
	}
}
