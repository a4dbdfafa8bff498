package task

import (
	"context"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// measured is a reader that counts what it reads and how long that takes.
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
	m.numbers.read(b, took)
	return err
}

// took is the time since it was last asked for.
func (m *measured) took() time.Duration {
	t := m.time
	m.time = 0
	return t
}
