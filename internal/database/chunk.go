package database

import "github.com/leatdata/leat/batch"

// Row names a record of a batch; one without a batch is rejected.
type Row struct {
	Batch *batch.Batch
	Index int32
}

// Load is what was sent: rows, and the bytes that they count as.
type Load struct{ Rows, Bytes int64 }

// Add counts a row.
func (l *Load) Add(bytes int64) {
	l.Rows++
	l.Bytes += bytes
}

// Chunk is the rows of one statement that takes many. Of their encoded form
// only the piece is kept that is not sent yet, so that it stays in the
// processor's cache: rows that have to be sent again are encoded again.
type Chunk struct {
	Piece []byte
	Sent  Load
	// Started says that the statement is under way.
	Started bool

	parts []part
}

// part is rows of one batch, from lo to hi but for the rejected ones, which
// are in order.
type part struct {
	batch    *batch.Batch
	lo, hi   int
	rejected []int
}

// Begin makes rows of the batch, from row on, the next ones.
func (c *Chunk) Begin(b *batch.Batch, row int) {
	c.parts = append(c.parts, part{batch: b, lo: row, hi: row})
}

// Add notes the next row, which counts as so many bytes.
func (c *Chunk) Add(bytes int64) {
	c.parts[len(c.parts)-1].hi++
	c.Sent.Add(bytes)
}

// Reject takes back what was encoded of the next row, from start on.
func (c *Chunk) Reject(start int) {
	c.Piece = c.Piece[:start]
	p := &c.parts[len(c.parts)-1]
	p.rejected = append(p.rejected, p.hi)
	p.hi++
}

// Rows names the chunk's rows, but for the rejected ones.
func (c *Chunk) Rows() []Row {
	rows := make([]Row, 0, c.Sent.Rows)
	for _, p := range c.parts {
		for row := p.lo; row < p.hi; row++ {
			if len(p.rejected) > 0 && p.rejected[0] == row {
				p.rejected = p.rejected[1:]
				continue
			}
			rows = append(rows, Row{Batch: p.batch, Index: int32(row)})
		}
	}
	return rows
}

// Reset empties the chunk; a buffer larger than keep, which a huge row has
// made, is let go.
func (c *Chunk) Reset(keep int) {
	if cap(c.Piece) > keep {
		c.Piece = nil
	}
	clear(c.parts)
	*c = Chunk{Piece: c.Piece[:0], parts: c.parts[:0]}
}

// Held is the batches whose rows are not judged yet.
type Held struct{ batches []*batch.Batch }

// Add keeps a batch.
func (h *Held) Add(b *batch.Batch) { h.batches = append(h.batches, b) }

// Release gives the batches back, but for current, which may be nil.
func (h *Held) Release(current *batch.Batch) {
	for _, b := range h.batches {
		if b != current {
			b.Release()
		}
	}
	clear(h.batches)
	h.batches = h.batches[:0]
	if current != nil {
		h.batches = append(h.batches, current)
	}
}
