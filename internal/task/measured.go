package task

import (
	"context"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// measured is a reader that notes how large its batches are and how long reading
// takes.
type measured struct {
	connector.Reader
	numbers *Numbers
	time    time.Duration
}

// Next implements connector.Reader.
func (m *measured) Next(ctx context.Context, b *batch.Batch) error {
	began := time.Now()
	err := m.Reader.Next(ctx, b)
	took := time.Since(began)
	m.time += took
	m.numbers.readTime.Add(took)
	if err == nil {
		m.numbers.batchBytes.Observe(float64(b.Bytes))
	}
	return err
}

// took is the time since it was last asked for.
func (m *measured) took() time.Duration {
	t := m.time
	m.time = 0
	return t
}
