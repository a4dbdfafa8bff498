package postgres

import "github.com/leatdata/leat/batch"

// rowRef names a record of a batch. Dead ones were rejected by the server.
type rowRef struct {
	batch *batch.Batch
	row   int32
	dead  bool
}

// living returns the number of rows that are not dead.
func living(rows []rowRef) int {
	n := 0
	for i := range rows {
		if !rows[i].dead {
			n++
		}
	}
	return n
}

// rowAt returns the index of the n-th living row, counted from 1; -1 when
// there is none.
func rowAt(rows []rowRef, n int) int {
	if n < 1 {
		return -1
	}
	for i := range rows {
		if rows[i].dead {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	return -1
}

// part is rows of one batch, from lo to hi but for the rejected ones, which
// are in order.
type part struct {
	batch    *batch.Batch
	lo, hi   int
	rejected []int
}

// chunk is the rows of one COPY. Of their encoded form only the piece is kept
// that is not sent yet, so that it stays in the processor's cache: rows that
// have to be sent again are encoded again.
type chunk struct {
	// piece has room for the message's head, then rows; empty without any.
	piece []byte
	parts []part
	sent  load
	// started says that the COPY is under way.
	started bool
}

// load is what was sent: rows, and the bytes of their encoded form.
type load struct{ rows, bytes int64 }

func (l *load) add(bytes int) {
	l.rows++
	l.bytes += int64(bytes)
}

// begin makes rows of the batch, from row on, the next ones.
func (c *chunk) begin(b *batch.Batch, row int) {
	c.parts = append(c.parts, part{batch: b, lo: row, hi: row})
}

// next makes room for a row and returns where it starts.
func (c *chunk) next() int {
	if len(c.piece) == 0 {
		if c.piece == nil {
			c.piece = make([]byte, 0, pieceBytes+pieceBytes/2)
		}
		c.piece = c.piece[:pieceHeader]
	}
	return len(c.piece)
}

// add notes the next row; start is where it was encoded to.
func (c *chunk) add(start int) {
	c.parts[len(c.parts)-1].hi++
	c.sent.add(len(c.piece) - start)
}

// reject takes back what was encoded of the next row.
func (c *chunk) reject(start int) {
	c.piece = c.piece[:start]
	p := &c.parts[len(c.parts)-1]
	p.rejected = append(p.rejected, p.hi)
	p.hi++
}

// take returns the piece that is to be sent, and nil when it has no rows. It
// is valid until the next row.
func (c *chunk) take() []byte {
	piece := c.piece
	c.piece = c.piece[:0]
	if len(piece) <= pieceHeader {
		return nil
	}
	return piece
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
