package csv

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"

	"github.com/leatdata/leat/batch"
)

// decoder is a files.Extender of one dialect into records of width fields.
// Its state lasts for one Decode; between two only memory is kept.
type decoder struct {
	dialect
	width int
	typed []typedColumn

	b       *batch.Batch
	line    int64 // of data[counted], 0 when unknown
	counted int
	limit   int // records still allowed

	spans []batch.Span // b.Spans at its full capacity
	used  int          // spans of whole records and of the running one

	// The running record.
	start, first int // its first byte, its first span
	col          int
	fault        string
	escaped      []escapedField

	extra  []byte       // canonical texts that the last Decode made
	asRead []batch.Span // of the row that is checked
}

// escapedField is a field of the running record that has to be unescaped once
// the record is whole: until then its bytes must stay as they are.
type escapedField struct {
	span   int
	quoted bool
}

// Decode implements files.Decoder.
func (d *decoder) Decode(b *batch.Batch, data []byte, final bool, line int64) (int, int64, error) {
	if uint64(len(data)) > 1<<31-1 {
		return 0, 0, fmt.Errorf("a record of more than 2 GiB")
	}
	d.b, d.line, d.counted, d.limit = b, line, 0, b.Room(len(b.Schema.Fields)).Rows
	from := len(b.Spans)
	d.spans, d.used = b.Spans[:cap(b.Spans)], from
	n := 0
	if !d.backslash {
		n = d.scan(data)
	}
	if d.backslash || final {
		n = d.walk(data, n, final)
	}
	d.extra = d.extra[:0]
	if len(d.typed) > 0 {
		d.line, d.counted = line, 0
		d.convert(data, from, n)
	}
	b.Spans = d.spans[:d.used]
	lines := int64(bytes.Count(data[:n], []byte{d.endByte()}))
	d.b, d.spans = nil, nil
	return n, lines, nil
}

// scan takes the records of data that end with a line end, 64 bytes at a
// time, for dialects without a backslash. It leaves the last record when its
// end cannot be told, and returns where that starts.
func (d *decoder) scan(data []byte) int {
	delim, end, quote := d.delim, d.endByte(), uint16(d.quote)
	if !d.quoting {
		quote = 1 << 8 // no byte equals it
	}
	delims, ends := repeat(delim), repeat(end)
	null, width, mode := d.null, d.width, d.ends
	d.begin(0)
	spans, used, col, field := d.spans, d.used, 0, 0
	for base := 0; base < len(data); {
		var m uint64
		if len(data)-base >= 64 {
			m = hits64((*[64]byte)(data[base:]), delims, ends)
		} else {
			m = hitsTail(data[base:], delims, ends)
		}
		next := base + 64
		for m != 0 {
			at := base + bits.TrailingZeros64(m)
			m &= m - 1
			length := at - field
			if uint16(data[field]) == quote {
				d.used, d.col = used, col
				stop, n, ok := d.quoted(data, field, false)
				if !ok {
					d.used = d.first
					return d.start
				}
				used, col, at = d.used, d.col, stop+max(n-1, 0)
				if at < next {
					m &= ^uint64(1) << uint(at-base)
				} else {
					m, next = 0, at+1
				}
			} else {
				if data[at] == end && mode != endsLF && mode != endsCR {
					if length > 0 && data[at-1] == '\r' {
						length--
					} else if mode == endsCRLF {
						continue
					}
				}
				if length == len(null) && (length == 0 || string(data[field:field+length]) == null) {
					length = -1
				}
				if col < width {
					spans[used] = batch.Span{Off: uint32(field), Len: int32(length)}
					used++
				}
				col++
			}
			field = at + 1
			if data[at] != end {
				continue
			}
			d.used, d.col = used, col
			d.endRecord(data, at, field)
			if d.limit == 0 {
				return field
			}
			d.begin(field)
			spans, used, col = d.spans, d.used, 0
		}
		base = next
	}
	d.used = d.first
	return d.start
}

// walk takes records from data[i] on, field by field, in any dialect.
func (d *decoder) walk(data []byte, i int, final bool) int {
	for i < len(data) && d.limit > 0 {
		n, ok := d.record(data, i, final)
		if !ok {
			break
		}
		i = n
	}
	return i
}

// record takes the record at data[i] and returns where the next one starts;
// not ok when more data is needed to tell its end.
func (d *decoder) record(data []byte, i int, final bool) (int, bool) {
	d.begin(i)
	for {
		at, n, ok := d.fieldAt(data, i, final)
		switch {
		case !ok:
			d.used = d.first
			return 0, false
		case at == len(data) || n > 0:
			d.endRecord(data, at, at+n)
			return at + n, true
		}
		i = at + 1
	}
}

// fieldAt takes the field at data[i]. It returns where its separator is and,
// when that is a line end, how long it is.
func (d *decoder) fieldAt(data []byte, i int, final bool) (at, n int, ok bool) {
	if d.quoting && i < len(data) && data[i] == d.quote {
		return d.quoted(data, i, final)
	}
	at, escaped := d.separator(data, i)
	if at == len(data) {
		if !final {
			return 0, 0, false
		}
	} else {
		n, _ = d.endAt(data, at)
	}
	if string(data[i:at]) == d.null {
		d.put(i, -1, false, false)
	} else {
		d.put(i, at-i, escaped, false)
	}
	return at, n, true
}

// quoted takes the quoted field at data[i], as fieldAt does.
func (d *decoder) quoted(data []byte, i int, final bool) (at, n int, ok bool) {
	stop, escaped := d.closing(data, i+1)
	if stop < 0 {
		if final {
			line := d.lineAt(data, d.start) + int64(bytes.Count(data[d.start:i], []byte{d.endByte()}))
			d.fault = fmt.Sprintf("the quote that opens in line %d is never closed", line)
			d.put(i, 0, false, true)
		}
		return len(data), 0, final
	}
	at = stop + 1
	if at == len(data) {
		d.put(i+1, stop-i-1, escaped, true)
		return at, 0, final
	}
	if data[at] != d.delim {
		var more bool
		if n, more = d.endAt(data, at); more && !final {
			return 0, 0, false
		}
		if n == 0 {
			d.fault = "text after the closing quote"
			if at, _ = d.separator(data, at); at == len(data) {
				return at, 0, final
			}
			n, _ = d.endAt(data, at)
		}
	}
	d.put(i+1, stop-i-1, escaped, true)
	return at, n, true
}

// begin starts a record at data[i], with room for its spans.
func (d *decoder) begin(i int) {
	d.start, d.first, d.col = i, d.used, 0
	d.fault, d.escaped = "", d.escaped[:0]
	if d.used+d.width > len(d.spans) {
		// By halves or doubles, and no further than the batch may have.
		more := min(max(64*d.width, d.used), batch.RowsOf(d.width)*d.width-d.used)
		grown := slices.Grow(d.spans[:d.used], max(d.width, more))
		d.spans = grown[:cap(grown)]
	}
}

// put adds a field to the running record; length -1 is NULL.
func (d *decoder) put(off, length int, escaped, quoted bool) {
	if d.col < d.width {
		if escaped {
			d.escaped = append(d.escaped, escapedField{span: d.used, quoted: quoted})
		}
		d.spans[d.used] = batch.Span{Off: uint32(off), Len: int32(length)}
		d.used++
	}
	d.col++
}

// endRecord judges the running record, whose text ends at stop and whose
// line end ends at next.
func (d *decoder) endRecord(data []byte, stop, next int) {
	d.limit--
	if d.col != d.width || d.fault != "" {
		d.reject(data, stop, next)
		return
	}
	for _, e := range d.escaped {
		s := &d.spans[e.span]
		s.Len = int32(d.unescape(data[s.Off:s.Off+uint32(s.Len)], e.quoted))
	}
}

// reject makes the running record a dirty one.
func (d *decoder) reject(data []byte, stop, next int) {
	d.used = d.first
	raw := data[d.start:stop]
	if next == stop+1 && data[stop] == '\n' && d.ends != endsLF && !d.backslash {
		raw = bytes.TrimSuffix(raw, []byte{'\r'})
	}
	reason := d.fault
	if reason == "" {
		reason = countFault(d.col, d.width, len(raw) == 0)
	}
	line := d.lineAt(data, d.start)
	d.b.Rejects = append(d.b.Rejects, batch.Reject{
		Where: lineName(line), At: line, Reason: reason, Raw: bytes.Clone(raw),
	})
}

// countFault says that a record has another number of fields than the schema.
func countFault(got, want int, empty bool) string {
	switch {
	case empty:
		return fmt.Sprintf("an empty line where %d fields are expected", want)
	case got == 1:
		return fmt.Sprintf("1 field where %d are expected", want)
	case want == 1:
		return fmt.Sprintf("%d fields where 1 is expected", got)
	default:
		return fmt.Sprintf("%d fields where %d are expected", got, want)
	}
}

// lineAt returns the line of data[i], which must not lie before that of an
// earlier call in the same Decode.
func (d *decoder) lineAt(data []byte, i int) int64 {
	d.line += int64(bytes.Count(data[d.counted:i], []byte{d.endByte()}))
	d.counted = i
	return d.line
}

// lineName names a line to people.
func lineName(line int64) string { return fmt.Sprintf("line %d", line) }
