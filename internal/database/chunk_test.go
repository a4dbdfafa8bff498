package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
)

// A chunk names the rows that were added, of several batches, without those
// that were rejected; and keeps no large buffer.
func TestChunkNamesItsRows(t *testing.T) {
	t.Parallel()
	a, b := new(batch.Batch), new(batch.Batch)
	var c Chunk
	c.Begin(a, 3)
	for i := range 4 {
		start := len(c.Piece)
		c.Piece = append(c.Piece, 'x')
		if i%2 == 1 {
			c.Reject(start)
		} else {
			c.Add(10)
		}
	}
	c.Begin(b, 0)
	c.Add(5)
	var got strings.Builder
	for _, r := range c.Rows() {
		got.WriteString(fmt.Sprintf("%t%d ", r.Batch == a, r.Index))
	}
	if want := "true3 true5 false0 "; got.String() != want || c.Sent != (Load{Rows: 3, Bytes: 25}) || string(c.Piece) != "xx" {
		t.Errorf("rows %q, want %q; sent %+v, piece %q", got.String(), want, c.Sent, c.Piece)
	}
	if again := len(c.Rows()); again != 3 {
		t.Errorf("asked again, it names %d rows", again)
	}
	c.Piece = make([]byte, 100)
	c.Reset(50)
	if cap(c.Piece) != 0 || len(c.Rows()) != 0 || c.Sent.Rows != 0 {
		t.Errorf("after a reset: %+v", c)
	}
}
