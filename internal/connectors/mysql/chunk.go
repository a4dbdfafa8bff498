package mysql

import (
	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/database"
)

// chunk is the rows of one LOAD DATA.
type chunk struct {
	database.Chunk
	// refused is what the server said against it before its end.
	refused error
}

// reset empties the chunk; a buffer that one huge row has made is let go.
func (c *chunk) reset() {
	c.Reset(4 * pieceBytes)
	c.refused = nil
}

// rowBytes counts the bytes of a row's cells.
func rowBytes(b *batch.Batch, i int) int64 {
	n := int64(0)
	for j := range b.Columns {
		n += int64(len(b.Columns[j].Cell(i)))
	}
	return n
}
