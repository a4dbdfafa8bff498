package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// conversions say how a column's text in COPY becomes the canonical one.
type conversion uint8

const (
	asIs     conversion = iota
	toBool              // t and f
	toBytes             // \x and hexadecimal digits
	toTimeTZ            // an offset without minutes
	toBools             // an array of t and f
)

// bools stands at the start of each batch's data when there are columns of it.
const bools = "truefalse"

var (
	errNoLineEnd = errors.New("a row of COPY does not end as one")
	errBool      = errors.New("a boolean that is neither t nor f")
	errBytea     = errors.New("a bytea that is not hexadecimal")
)

// rowDecoder takes the rows of COPY's text form apart.
type rowDecoder struct {
	columns []column
	convert []conversion
	// keys are the columns of the position; keyAt is the place of each among
	// the columns, or beyond them, for those that are read for it only.
	keys  []column
	keyAt []int
	extra [][]byte
	// plain says that no column needs a conversion.
	plain   bool
	bools   bool
	scratch []byte
}

func newRowDecoder(columns, keys []column) *rowDecoder {
	d := &rowDecoder{columns: columns, keys: keys, plain: true}
	for _, c := range columns {
		how := conversionOf(c.typ)
		d.convert = append(d.convert, how)
		d.plain = d.plain && how == asIs
		d.bools = d.bools || how == toBool
	}
	for _, k := range keys {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == k.name })
		if at < 0 {
			at = len(columns) + len(d.extra)
			d.extra = append(d.extra, nil)
		}
		d.keyAt = append(d.keyAt, at)
	}
	return d
}

func conversionOf(t *typeInfo) conversion {
	t, _ = t.under(0)
	switch t.oid {
	case oidBool:
		return toBool
	case oidBytea:
		return toBytes
	case oidTimeTZ:
		return toTimeTZ
	}
	if t.elem != nil {
		if elem, _ := t.elem.under(0); elem.oid == oidBool {
			return toBools
		}
	}
	return asIs
}

// selected implements rowTaker.
func (d *rowDecoder) selected() []string {
	var names []string
	for _, c := range d.columns {
		names = append(names, c.name)
	}
	for i, at := range d.keyAt {
		if at >= len(d.columns) {
			names = append(names, d.keys[i].name)
		}
	}
	return names
}

func (d *rowDecoder) format() string { return "" }

func (d *rowDecoder) full(b *batch.Batch) bool { return b.Full() }

func (d *rowDecoder) seal(b *batch.Batch) { b.Seal() }

// take implements rowTaker: a row is a message.
func (d *rowDecoder) take(b *batch.Batch, line []byte) (int64, error) {
	if err := d.decode(b, line); err != nil {
		return 0, err
	}
	return 1, nil
}

// begin implements rowTaker.
func (d *rowDecoder) begin(b *batch.Batch) {
	if d.bools {
		b.Buf = append(b.Buf, bools...)
	}
}

// decode appends a row to the batch.
func (d *rowDecoder) decode(b *batch.Batch, line []byte) error {
	n := len(line) - 1
	if n < 0 || line[n] != '\n' {
		return errNoLineEnd
	}
	line = line[:n]
	start := len(b.Buf)
	b.Buf = append(b.Buf, line...)
	rest := b.Buf[start:]
	off := start
	escaped := bytes.IndexByte(line, '\\') >= 0
	if d.plain && !escaped && len(d.extra) == 0 {
		return d.plainRow(b, start)
	}
	last := len(d.columns) + len(d.extra) - 1
	for i := 0; i <= last; i++ {
		n := bytes.IndexByte(rest, '\t')
		switch {
		case n < 0 && i == last:
			n = len(rest)
		case n < 0 || i == last:
			return fmt.Errorf("a row of COPY has other than %d columns", last+1)
		}
		if err := d.cell(b, i, off, n, escaped); err != nil {
			return err
		}
		if n < len(rest) {
			rest = rest[n+1:]
			off += n + 1
		}
	}
	return nil
}

// plainRow adds the cells of a row that stands in Buf from start on and needs
// nothing undone: the tabs are all there is to find, eight bytes at a time.
func (d *rowDecoder) plainRow(b *batch.Batch, start int) error {
	const lows, tabs = 0x7f7f7f7f7f7f7f7f, 0x0909090909090909
	row, before, from, i := b.Buf[start:], len(b.Spans), 0, 0
	spans := b.Spans
	for ; i+8 <= len(row); i += 8 {
		w := binary.LittleEndian.Uint64(row[i:]) ^ tabs
		// The high bit of each byte that is zero, and of no other.
		for m := ^((w&lows + lows) | w | lows); m != 0; m &= m - 1 {
			at := i + bits.TrailingZeros64(m)/8
			spans = append(spans, batch.Span{Off: uint32(start + from), Len: int32(at - from)})
			from = at + 1
		}
	}
	for ; i < len(row); i++ {
		if row[i] == '\t' {
			spans = append(spans, batch.Span{Off: uint32(start + from), Len: int32(i - from)})
			from = i + 1
		}
	}
	b.Spans = append(spans, batch.Span{Off: uint32(start + from), Len: int32(len(row) - from)})
	if got := len(b.Spans) - before; got != len(d.columns) {
		return fmt.Errorf("a row of COPY has %d columns where %d are wanted", got, len(d.columns))
	}
	b.Bytes += int64(len(row) - len(d.columns) + 1)
	return nil
}

// cell adds the cell of column i, which stands in Buf from off on.
func (d *rowDecoder) cell(b *batch.Batch, i, off, n int, escaped bool) error {
	if escaped {
		field := b.Buf[off : off+n]
		if at := bytes.IndexByte(field, '\\'); at >= 0 {
			if n == 2 && field[1] == 'N' {
				if i < len(d.columns) {
					b.Spans = append(b.Spans, batch.NullSpan())
				}
				return nil
			}
			n = unescape(field, at)
		}
	}
	if i >= len(d.columns) {
		at := i - len(d.columns)
		d.extra[at] = append(d.extra[at][:0], b.Buf[off:off+n]...)
		return nil
	}
	if d.convert[i] != asIs {
		var err error
		if off, n, err = d.converted(b, d.convert[i], off, n); err != nil {
			return fmt.Errorf("column %s: %w", d.columns[i].name, err)
		}
	}
	b.Bytes += int64(n)
	b.Spans = append(b.Spans, batch.Span{Off: uint32(off), Len: int32(n)})
	return nil
}

// converted makes the canonical text of a cell and returns its place.
func (d *rowDecoder) converted(b *batch.Batch, how conversion, off, n int) (int, int, error) {
	cell := b.Buf[off : off+n]
	switch how {
	case toBool:
		switch string(cell) {
		case "t":
			return 0, 4, nil
		case "f":
			return 4, 5, nil
		}
		return 0, 0, errBool
	case toBytes:
		if !value.IsHex(cell) {
			return 0, 0, errBytea
		}
		raw, err := value.ParseHex(cell[:0], cell)
		return off, len(raw), err
	case toTimeTZ:
		t, err := value.ParseTimeTZ(cell)
		if err != nil {
			return 0, 0, err
		}
		d.scratch = value.AppendTimeTZ(d.scratch[:0], t)
	case toBools:
		d.scratch = d.scratch[:0]
		for _, c := range cell {
			switch c {
			case 't':
				d.scratch = append(d.scratch, "true"...)
			case 'f':
				d.scratch = append(d.scratch, "false"...)
			default:
				d.scratch = append(d.scratch, c)
			}
		}
	}
	off = len(b.Buf)
	b.Buf = append(b.Buf, d.scratch...)
	return off, len(d.scratch), nil
}

// key implements rowTaker.
func (d *rowDecoder) key(b *batch.Batch) ([]string, error) {
	key := make([]string, len(d.keys))
	for i, at := range d.keyAt {
		if at >= len(d.columns) {
			key[i] = string(d.extra[at-len(d.columns)])
			continue
		}
		key[i] = keyText(d.convert[at], b.Columns[at].Cell(b.Rows-1))
	}
	return key, nil
}

// keyText is the text that the server reads of a canonical one.
func keyText(how conversion, cell []byte) string {
	if how == toBytes {
		cell = value.AppendHex(nil, cell)
	}
	return string(cell)
}

// unescape undoes COPY's escapes in place, from the first backslash on, and
// returns the length that is left.
func unescape(field []byte, first int) int {
	to := first
	for from := first; from < len(field); from++ {
		c := field[from]
		if c == '\\' && from+1 < len(field) {
			from++
			switch c = field[from]; c {
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'v':
				c = '\v'
			}
		}
		field[to] = c
		to++
	}
	return to
}
