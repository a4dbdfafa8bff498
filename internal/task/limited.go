package task

import (
	"context"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/ratelimit"
)

// limited is a reader whose batches wait until the job's limit lets them pass,
// by their true size (exactness rule 15). While there is a limit, batches that
// are larger than its bound are passed on in slices, so that they go evenly.
type limited struct {
	measured
	limiter *ratelimit.Limiter
	pool    *batch.Pool
	slices  slicer
}

// Next implements connector.Reader.
func (l *limited) Next(ctx context.Context, b *batch.Batch) error {
	if err := l.next(ctx, b); err != nil {
		return err
	}
	l.numbers.read(b)
	return nil
}

func (l *limited) next(ctx context.Context, b *batch.Batch) error {
	if !l.limiter.On() && l.slices.empty() {
		return l.measured.Next(ctx, b)
	}
	most, on := l.limiter.Bound()
	if l.slices.empty() {
		b.Most = batch.Bound{Rows: int(most.Records), Bytes: int(most.Bytes)}
		if err := l.measured.Next(ctx, b); err != nil {
			return err
		}
		b.Most = batch.Bound{}
		if !on || !l.slices.takes(b, most) {
			return l.limiter.Wait(ctx, ratelimit.Amount{Bytes: b.Bytes, Records: b.Read})
		}
		l.slices.hold(b, l.pool.Get(b.Schema))
	}
	l.slices.next(b, most)
	return l.limiter.Wait(ctx, ratelimit.Amount{Bytes: b.Bytes, Records: b.Read})
}

// Position implements connector.Reader: within a batch nothing can go on.
func (l *limited) Position() (connector.Position, bool) {
	pos, ok := l.Reader.Position()
	return pos, ok && l.slices.empty()
}

// Close implements connector.Reader. It may be called while Next runs.
func (l *limited) Close() error { return l.Reader.Close() }
