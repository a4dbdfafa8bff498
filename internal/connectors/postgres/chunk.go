package postgres

import "github.com/leatdata/leat/internal/database"

// chunk is the rows of one COPY. Its piece has room for the message's head,
// then rows; it is empty without any.
type chunk struct{ database.Chunk }

// next makes room for a row and returns where it starts.
func (c *chunk) next() int {
	if len(c.Piece) == 0 {
		if c.Piece == nil {
			c.Piece = make([]byte, 0, pieceBytes+pieceBytes/2)
		}
		c.Piece = c.Piece[:pieceHeader]
	}
	return len(c.Piece)
}

// take returns the piece that is to be sent, and nil when it has no rows. It
// is valid until the next row.
func (c *chunk) take() []byte {
	piece := c.Piece
	c.Piece = c.Piece[:0]
	if len(piece) <= pieceHeader {
		return nil
	}
	return piece
}

// reset empties the chunk; a buffer that one huge row has made is let go.
func (c *chunk) reset() { c.Reset(4 * pieceBytes) }

// living returns the number of rows that are not rejected.
func living(rows []database.Row) int {
	n := 0
	for i := range rows {
		if rows[i].Batch != nil {
			n++
		}
	}
	return n
}

// rowAt returns the index of the n-th living row, counted from 1; -1 when
// there is none.
func rowAt(rows []database.Row, n int) int {
	if n < 1 {
		return -1
	}
	for i := range rows {
		if rows[i].Batch == nil {
			continue
		}
		if n--; n == 0 {
			return i
		}
	}
	return -1
}
