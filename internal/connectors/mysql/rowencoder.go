package mysql

import (
	"errors"
	"fmt"

	"github.com/leatdata/leat/batch"
)

// largeCell is from when on a cell is not copied with its row: the row is then
// judged whole, and sent cell by cell.
const largeCell = pieceBytes

// errLarge says that a row has a large cell.
var errLarge = errors.New("a row has a large cell")

// rowEncoder makes rows of batches the lines of a file for LOAD DATA: fields
// with a tab between and a line end behind, \N for NULL.
type rowEncoder struct {
	columns  []*column
	encoders []encoder
	forms    []fieldForm
	// most is the largest row that the server takes.
	most int64
	// overhead is what an INSERT takes besides its tuples.
	overhead int64
	// bytes are those of the row's cells.
	bytes int64
}

func newRowEncoder(t *target, tinyint string) *rowEncoder {
	e := &rowEncoder{columns: t.columns, most: t.maxPacket}
	for _, c := range t.columns {
		encoder := newEncoder(c, t.server, tinyint)
		e.encoders = append(e.encoders, encoder)
		e.forms = append(e.forms, encoder.form)
	}
	return e
}

// begin takes up a batch.
func (e *rowEncoder) begin(b *batch.Batch) {
	for i := range e.encoders {
		e.encoders[i].clean = b.ValidUTF8
	}
}

// row appends row i of b. After an error, which is about the cell of the
// column returned, dst is to be cut; errLarge means that nothing was judged yet.
func (e *rowEncoder) row(dst []byte, b *batch.Batch, i int) ([]byte, int, error) {
	start := len(dst)
	e.bytes = 0
	for j := range e.encoders {
		cell := b.Columns[j].Cell(i)
		var err error
		if cell == nil {
			if e.columns[j].notNull {
				return dst, j, errNullRequired
			}
			dst = append(dst, '\\', 'N', '\t')
			continue
		}
		e.bytes += int64(len(cell))
		if len(cell) > largeCell {
			return dst, j, errLarge
		}
		if dst, err = e.encoders[j].field(dst, cell); err != nil {
			return dst, j, err
		}
		dst = append(dst, '\t')
	}
	dst[len(dst)-1] = '\n'
	if int64(len(dst)-start) > e.most {
		return dst, -1, e.tooLarge(int64(len(dst) - start))
	}
	return dst, -1, nil
}

// tooLarge is the error of a row that the server does not take.
func (e *rowEncoder) tooLarge(bytes int64) error {
	return fmt.Errorf("a record of %d bytes is larger than the server takes at once: its max_allowed_packet is %d", bytes, e.most)
}

// judgeLarge judges a row with a large cell, as row does. scratch is memory.
func (e *rowEncoder) judgeLarge(scratch []byte, b *batch.Batch, i int) (int, error) {
	e.bytes = 0
	for j := range e.encoders {
		cell := b.Columns[j].Cell(i)
		if cell == nil {
			if e.columns[j].notNull {
				return j, errNullRequired
			}
			continue
		}
		e.bytes += int64(len(cell))
		var err error
		if enc := &e.encoders[j]; enc.check != nil {
			err = enc.check(enc, cell)
		} else {
			_, err = enc.field(scratch[:0], cell)
		}
		if err != nil {
			return j, err
		}
	}
	if e.bytes > e.most {
		return -1, e.tooLarge(e.bytes)
	}
	return -1, nil
}

// sendLarge appends a row that judgeLarge has passed, and calls send whenever
// a piece is full; send returns memory for the next.
func (e *rowEncoder) sendLarge(piece []byte, b *batch.Batch, i int, send func([]byte) ([]byte, error)) ([]byte, error) {
	for j := range e.encoders {
		cell := b.Columns[j].Cell(i)
		enc := &e.encoders[j]
		var err error
		switch {
		case cell == nil:
			piece = append(piece, '\\', 'N')
		case enc.check == nil:
			if piece, err = enc.field(piece, cell); err != nil {
				return piece, err
			}
		default:
			for len(cell) > pieceBytes {
				piece = appendEscaped(piece, cell[:pieceBytes])
				cell = cell[pieceBytes:]
				if piece, err = send(piece); err != nil {
					return piece, err
				}
			}
			piece = appendEscaped(piece, cell)
		}
		piece = append(piece, '\t')
	}
	piece[len(piece)-1] = '\n'
	return piece, nil
}

// columnName names a column that row or judgeLarge has returned.
func (e *rowEncoder) columnName(j int) string {
	if j < 0 {
		return ""
	}
	return e.columns[j].name
}

// tuple appends row i of b as the tuple of an INSERT, as row does.
func (e *rowEncoder) tuple(dst []byte, b *batch.Batch, i int) ([]byte, int, error) {
	start := len(dst)
	e.bytes = 0
	dst = append(dst, '(')
	for j := range e.encoders {
		cell := b.Columns[j].Cell(i)
		if cell == nil {
			if e.columns[j].notNull {
				return dst, j, errNullRequired
			}
			dst = append(dst, "NULL,"...)
			continue
		}
		e.bytes += int64(len(cell))
		if e.forms[j] == fieldBytes {
			dst = append(dst, "_binary"...)
		}
		if len(cell) > largeCell {
			dst = batch.Grow(dst, len(dst)+escapedLength(cell)+largeCell)
		}
		dst = append(dst, '\'')
		var err error
		if dst, err = e.encoders[j].field(dst, cell); err != nil {
			return dst, j, err
		}
		dst = append(dst, '\'', ',')
	}
	dst[len(dst)-1] = ')'
	if int64(len(dst)-start) > e.most-e.overhead {
		return dst, -1, e.tooLarge(int64(len(dst) - start))
	}
	return dst, -1, nil
}
