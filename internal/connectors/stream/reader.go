package stream

import (
	"context"
	"io"
	"os"
	"strconv"
	"sync/atomic"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// reader makes the records of one split.
type reader struct {
	source *Source
	row    int64
	end    int64
	random random
	closed atomic.Bool
}

// Next fills b with the next rows.
func (r *reader) Next(ctx context.Context, b *batch.Batch) error {
	if r.closed.Load() {
		return os.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.row >= r.end {
		return io.EOF
	}
	b.First = r.row + 1
	generators := r.source.generators
	for r.row < r.end && !b.Full() {
		for i := range generators {
			generators[i].appendCell(b, &r.random, r.row)
		}
		r.row++
	}
	b.Seal()
	b.Bytes = int64(len(b.Buf))
	return nil
}

// Position is the number of the next row.
func (r *reader) Position() (connector.Position, bool) {
	return connector.Position(strconv.FormatInt(r.row, 10)), true
}

// Close makes further calls of Next fail.
func (r *reader) Close() error {
	r.closed.Store(true)
	return nil
}
