package jsonl

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
)

// encoder is the files.Encoder of lines of JSON: one object a record, with all
// columns in their order, NULL as null.
type encoder struct {
	fields []field
}

// field is how a column is written.
type field struct {
	name string
	// lead is what stands before the value: {"id": or ,"id":
	lead  []byte
	value appender
}

// appender appends a cell as a JSON value, or says why it cannot.
type appender func(dst, cell []byte) (out []byte, fault string)

func newEncoder(schema *batch.Schema) *encoder {
	e := &encoder{}
	for i, f := range schema.Fields {
		lead := []byte{','}
		if i == 0 {
			lead[0] = '{'
		}
		lead, _ = appendString(lead, []byte(f.Name))
		e.fields = append(e.fields, field{name: f.Name, lead: append(lead, ':'), value: appenderOf(f.Type)})
	}
	return e
}

// Header implements files.Encoder: there is none.
func (e *encoder) Header(dst []byte) []byte { return dst }

// Encode implements files.Encoder.
func (e *encoder) Encode(dst []byte, b *batch.Batch, reject func(row int, column, reason string)) []byte {
rows:
	for row := range b.Rows {
		start := len(dst)
		for i := range e.fields {
			f := &e.fields[i]
			dst = append(dst, f.lead...)
			cell := b.Columns[i].Cell(row)
			if cell == nil {
				dst = append(dst, "null"...)
				continue
			}
			var fault string
			if dst, fault = f.value(dst, cell); fault != "" {
				reject(row, f.name, fault)
				dst = dst[:start]
				continue rows
			}
		}
		dst = append(dst, '}', '\n')
	}
	return dst
}

// appenderOf returns how values of a type are written: numbers as they are,
// with all their digits, and NaN and the infinities, which JSON lacks, as
// strings; JSON as it is, in one line; bytes in base64; arrays as arrays;
// everything else as a string of its canonical text.
func appenderOf(t batch.Type) appender {
	switch k := t.Kind; {
	case k.IsInteger(), k.IsFloat(), k == batch.Decimal:
		return appendNumber
	case k == batch.Bool:
		return appendBool
	case k == batch.JSON:
		return appendJSON
	case k == batch.Bytes:
		return appendBase64
	case k == batch.Array:
		return arrayAppender(t)
	}
	return appendString
}

func appendNumber(dst, cell []byte) ([]byte, string) {
	switch string(cell) {
	case "NaN", "Infinity", "-Infinity":
		return append(append(append(dst, '"'), cell...), '"'), ""
	}
	if n := numberLength(cell); n == 0 || n < len(cell) {
		return dst, "is not a number as JSON writes it"
	}
	return append(dst, cell...), ""
}

func appendBool(dst, cell []byte) ([]byte, string) {
	switch string(cell) {
	case "true", "false":
		return append(dst, cell...), ""
	}
	return dst, "is neither true nor false"
}

// appendJSON checks the value, since one that is broken would break its line,
// and writes it as it stands; what goes over several lines is put into one.
func appendJSON(dst, cell []byte) ([]byte, string) {
	s := scanner{data: cell}
	s.space()
	from := s.pos
	var v value
	if !s.value(&v, 0) {
		return dst, "is not JSON: " + s.fault
	}
	end := s.pos
	s.space()
	switch {
	case s.pos < len(cell):
		return dst, "is not JSON: more follows the value"
	case !utf8.Valid(cell):
		return dst, "is not valid UTF-8"
	case v.kind == isNull:
		return dst, "is JSON's null, which could not be told from NULL in JSON lines"
	}
	cell = cell[from:end]
	if bytes.IndexByte(cell, '\n') < 0 && bytes.IndexByte(cell, '\r') < 0 {
		return append(dst, cell...), ""
	}
	return appendCompact(dst, cell), ""
}

// appendCompact leaves out the spaces and line ends between a value's parts.
func appendCompact(dst, text []byte) []byte {
	quoted, from := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++ // within a string, as everything with a backslash is
		case c <= ' ' && !quoted:
			dst = append(dst, text[from:i]...)
			from = i + 1
		}
	}
	return append(dst, text[from:]...)
}

func appendBase64(dst, cell []byte) ([]byte, string) {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, cell)
	return append(dst, '"'), ""
}

// appendString writes a text with only those escapes that JSON demands.
func appendString(dst, text []byte) ([]byte, string) {
	dst = append(dst, '"')
	from, ascii := 0, true
	for i := 0; ; i++ {
		i = nextSpecial(text, i, &ascii)
		dst = append(dst, text[from:i]...)
		if i == len(text) {
			break
		}
		from = i + 1
		dst = cells.AppendJSONEscape(dst, text[i])
	}
	if !ascii && !utf8.Valid(text) {
		return dst, "is not valid UTF-8"
	}
	return append(dst, '"'), ""
}

// nextSpecial returns the index at or after i of the next byte that has to be
// escaped, and notes a byte that is not ASCII before it.
func nextSpecial(text []byte, i int, ascii *bool) int {
	for i+8 <= len(text) {
		x := binary.LittleEndian.Uint64(text[i:])
		if x&highs != 0 {
			*ascii = false
		}
		if mask := special(x); mask != 0 {
			return i + bits.TrailingZeros64(mask)/8
		}
		i += 8
	}
	for i < len(text) && text[i] >= ' ' && text[i] != '"' && text[i] != '\\' {
		if text[i] >= utf8.RuneSelf {
			*ascii = false
		}
		i++
	}
	return i
}
