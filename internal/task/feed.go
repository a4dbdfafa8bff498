package task

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// fedBatch is a mapped batch with what reading it amounted to.
type fedBatch struct {
	batch    *batch.Batch
	read     int64
	filtered int64
	bytes    int64
	readTime time.Duration
	position connector.Position
	// seekable says that reading can go on at position.
	seekable bool
	// taken is closed once the writer has a huge batch; nil for all others.
	taken chan struct{}
}

// feed reads a split into a channel until its end. Its goroutine ends when
// the channel is closed; err then says why, nil at the proved end.
type feed struct {
	reader *limited
	schema *batch.Schema
	mapper *Mapper
	pool   *batch.Pool
	out    chan fedBatch
	err    error
}

// ahead is the number of batches that wait between the two goroutines. One of
// more than huge bytes, a record or two of that size, passes alone: nothing is
// read until it is written, so that not many of them are in memory at once.
// Before one of more than vast bytes is passed on, what reading it took is
// collected, so that writing it does not come on top.
const (
	ahead = 2
	huge  = 4 * batch.MaxBytes
	vast  = 16 * batch.MaxBytes
)

func newFeed(r *limited, schema *batch.Schema, m *Mapper, pool *batch.Pool) *feed {
	return &feed{reader: r, schema: schema, mapper: m, pool: pool, out: make(chan fedBatch, ahead)}
}

// run is the feed's goroutine.
func (f *feed) run(ctx context.Context) {
	defer close(f.out)
	for {
		b := f.pool.Get(f.schema)
		if err := f.reader.Next(ctx, b); err != nil {
			b.Release()
			if !errors.Is(err, io.EOF) {
				f.err = err
			}
			return
		}
		fed := fedBatch{batch: b, read: b.Read, bytes: b.Bytes, readTime: f.reader.took()}
		fed.position, fed.seekable = f.reader.Position()
		fed.filtered = f.mapper.Map(b)
		if fed.bytes > huge {
			fed.taken = make(chan struct{})
		}
		if fed.bytes > vast {
			debug.FreeOSMemory()
		}
		if f.err = f.send(ctx, fed); f.err != nil {
			return
		}
	}
}

// send passes a batch on, and waits until a huge one is taken.
func (f *feed) send(ctx context.Context, fed fedBatch) error {
	select {
	case f.out <- fed:
	case <-ctx.Done():
		fed.batch.Release()
		return ctx.Err()
	}
	if fed.taken == nil {
		return nil
	}
	select {
	case <-fed.taken:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
