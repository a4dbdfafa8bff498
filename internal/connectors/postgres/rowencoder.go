package postgres

import (
	"bytes"
	"encoding/binary"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/database"
)

// copyHeader and copyTrailer frame a binary COPY.
const (
	copyHeader  = "PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	copyTrailer = "\xff\xff"
)

// rowEncoder makes COPY rows of batches for some columns of a table: binary,
// or text when a type among them has no binary encoder. It belongs to one
// writer.
type rowEncoder struct {
	columns []columnEncoder
	binary  bool
	// clean says that all cells of the batch are texts that PostgreSQL holds.
	clean   bool
	scratch []byte
	// batch is the one that was begun with.
	batch *batch.Batch
}

type columnEncoder struct {
	name    string
	notNull bool
	kind    oid // the type below domains, for the short ways of row
	// encoder is nil for a type that only the server can parse.
	encoder *encoder
}

// newRowEncoder returns the encoder for columns of a table.
func newRowEncoder(columns []*column, serverVersion int) *rowEncoder {
	r := &rowEncoder{columns: make([]columnEncoder, len(columns)), binary: true}
	for i, c := range columns {
		under, _ := c.typ.under(c.mod)
		e := newEncoder(c.typ, c.mod, serverVersion)
		r.columns[i] = columnEncoder{name: c.name, notNull: c.notNull, kind: under.oid, encoder: e}
		r.binary = r.binary && e != nil
	}
	return r
}

// begin prepares for rows of a batch, which may be a new one in the memory of
// the one before. One that is known to be UTF-8 has only its zero bytes looked
// for, in all of it at once.
func (r *rowEncoder) begin(b *batch.Batch) {
	r.batch = b
	clean := b.ValidUTF8
	var seen []byte
	for i := range b.Columns {
		data := b.Columns[i].Data
		if !clean || len(data) == 0 || len(data) == len(seen) && &data[0] == &seen[0] {
			continue
		}
		clean, seen = bytes.IndexByte(data, 0) < 0, data
	}
	if clean == r.clean {
		return
	}
	r.clean = clean
	for i := range r.columns {
		for e := r.columns[i].encoder; e != nil; e = e.elem {
			e.clean = clean
		}
	}
}

// row appends row i of a batch, and begins with that if it is another one than
// before. On an error it returns the column at fault, and dst is longer than it was.
func (r *rowEncoder) row(dst []byte, b *batch.Batch, i int) ([]byte, int, error) {
	if b != r.batch {
		r.begin(b)
	}
	if !r.binary {
		return r.textRow(dst, b, i)
	}
	if b.Packing != nil {
		return append(dst, b.PackedRow(i)...), -1, nil
	}
	n := len(r.columns)
	dst = append(dst, byte(n>>8), byte(n))
	cells := b.Columns
	for c := range r.columns {
		column := &r.columns[c]
		cell := cells[c].Cell(i)
		if cell == nil {
			if column.notNull {
				return dst, c, errNullRequired
			}
			dst = append(dst, 0xff, 0xff, 0xff, 0xff)
			continue
		}
		var err error
		switch column.kind {
		case oidInt8:
			var v int64
			v, err = value.ParseInt(cell, 64)
			dst = binary.BigEndian.AppendUint64(append(dst, 0, 0, 0, 8), uint64(v))
		case oidInt4:
			var v int64
			v, err = value.ParseInt(cell, 32)
			dst = binary.BigEndian.AppendUint64(dst, 4<<32|uint64(uint32(v)))
		case oidDate:
			dst, err = appendDate(column.encoder, append(dst, 0, 0, 0, 4), cell)
		case oidText:
			if !r.clean && !plainText(cell) {
				err = checkText(cell)
			}
			dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(cell))), cell...)
		default:
			dst, err = column.encoder.appendCell(dst, cell)
		}
		if err != nil {
			return dst, c, err
		}
	}
	return dst, -1, nil
}

// payload returns how many of the bytes sent are those of the cells.
func (r *rowEncoder) payload(sent database.Load) int64 {
	if r.binary {
		return sent.Bytes - sent.Rows*int64(2+4*len(r.columns))
	}
	return sent.Bytes - sent.Rows*int64(len(r.columns))
}

// textRow appends row i as COPY's text. Cells of types that have an encoder
// are checked by it first, for the server would round or cut some of them.
func (r *rowEncoder) textRow(dst []byte, b *batch.Batch, i int) ([]byte, int, error) {
	for c := range r.columns {
		column := &r.columns[c]
		if c > 0 {
			dst = append(dst, '\t')
		}
		cell := b.Columns[c].Cell(i)
		if cell == nil {
			if column.notNull {
				return dst, c, errNullRequired
			}
			dst = append(dst, '\\', 'N')
			continue
		}
		if err := r.check(column, cell); err != nil {
			return dst, c, err
		}
		if column.kind == oidBytea {
			r.scratch = value.AppendHex(r.scratch[:0], cell)
			cell = r.scratch
		}
		dst = appendEscaped(dst, cell)
	}
	return append(dst, '\n'), -1, nil
}

// check judges a cell that is sent as text.
func (r *rowEncoder) check(column *columnEncoder, cell []byte) (err error) {
	if column.encoder == nil {
		if r.clean {
			return nil
		}
		return checkText(cell)
	}
	r.scratch, err = column.encoder.append(column.encoder, r.scratch[:0], cell)
	return err
}

// appendEscaped appends a cell as COPY's text form has it.
func appendEscaped(dst, cell []byte) []byte {
	start := 0
	for i, c := range cell {
		var letter byte
		switch c {
		case '\\':
			letter = '\\'
		case '\t':
			letter = 't'
		case '\n':
			letter = 'n'
		case '\r':
			letter = 'r'
		default:
			continue
		}
		dst = append(append(dst, cell[start:i]...), '\\', letter)
		start = i + 1
	}
	return append(dst, cell[start:]...)
}
