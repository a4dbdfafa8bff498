package mysql

import "github.com/leatdata/leat/batch"

// rowRef names a record of a batch.
type rowRef struct {
	batch *batch.Batch
	row   int32
}

// part is rows of one batch, from lo to hi but for the rejected ones, which
// are in order.
type part struct {
	batch    *batch.Batch
	lo, hi   int
	rejected []int
}

// chunk is the rows of one LOAD DATA. Of their encoded form only the piece is
// kept that is not sent yet, so that it stays in the processor's cache: rows
// that have to be sent again are encoded again.
type chunk struct {
	piece []byte
	parts []part
	sent  tally
	// started says that the LOAD DATA was begun, refused what the server said
	// against it before its end.
	started bool
	refused error
}

// tally counts rows and the bytes of their cells.
type tally struct{ rows, bytes int64 }

// begin makes rows of the batch, from row on, the next ones.
func (c *chunk) begin(b *batch.Batch, row int) {
	c.parts = append(c.parts, part{batch: b, lo: row, hi: row})
}

// add notes the next row, of so many bytes.
func (c *chunk) add(bytes int64) {
	c.parts[len(c.parts)-1].hi++
	c.sent.rows++
	c.sent.bytes += bytes
}

// reject takes back what was encoded of the next row, from start on.
func (c *chunk) reject(start int) {
	c.piece = c.piece[:start]
	p := &c.parts[len(c.parts)-1]
	p.rejected = append(p.rejected, p.hi)
	p.hi++
}

// rows names the chunk's rows.
func (c *chunk) rows() []rowRef {
	rows := make([]rowRef, 0, c.sent.rows)
	for _, p := range c.parts {
		for row := p.lo; row < p.hi; row++ {
			if len(p.rejected) > 0 && p.rejected[0] == row {
				p.rejected = p.rejected[1:]
				continue
			}
			rows = append(rows, rowRef{batch: p.batch, row: int32(row)})
		}
	}
	return rows
}

// reset empties the chunk; a buffer that one huge row has made is let go.
func (c *chunk) reset() {
	if cap(c.piece) > 4*pieceBytes {
		c.piece = nil
	}
	clear(c.parts)
	*c = chunk{piece: c.piece[:0], parts: c.parts[:0]}
}

// rowBytes counts the bytes of a row's cells.
func rowBytes(b *batch.Batch, i int) int64 {
	n := int64(0)
	for j := range b.Columns {
		n += int64(len(b.Columns[j].Cell(i)))
	}
	return n
}
