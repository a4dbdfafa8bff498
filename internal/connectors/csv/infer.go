package csv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
)

// Infer implements connector.Inferrer: it reads all files, by as many readers
// as there are processors, and finds what every value of a column allows.
// Records that are dirty say nothing. Standard input cannot be read twice:
// its columns are text.
func (s *Source) Infer(ctx context.Context) (*batch.Schema, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	if s.IsStandard() {
		return withTypes(schema, textTypes(len(schema.Fields))), nil
	}
	workers := make([]*inferrer, runtime.GOMAXPROCS(0))
	splits := make(chan connector.Split)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(splits)
		return s.eachSplit(ctx, len(workers), splits)
	})
	for i := range workers {
		workers[i] = newInferrer(s, schema)
		g.Go(func() error { return workers[i].run(ctx, splits) })
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("find the columns' types: %w", err)
	}
	all := workers[0]
	for _, w := range workers[1:] {
		for i := range all.columns {
			all.columns[i].Merge(&w.columns[i])
		}
	}
	return withTypes(schema, all.types()), nil
}

// eachSplit enumerates the files anew; these splits are not a run's.
func (s *Source) eachSplit(ctx context.Context, parallelism int, splits chan<- connector.Split) error {
	var cursor connector.Cursor
	for {
		e, err := s.Enumerate(ctx, cursor, 0, connector.Want{Parallelism: parallelism})
		if err != nil {
			return err
		}
		for _, sp := range e.Splits {
			select {
			case splits <- sp:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if e.Done {
			return nil
		}
		cursor = e.Next
	}
}

// inferrer is one of the readers that look for the types.
type inferrer struct {
	source  *Source
	schema  *batch.Schema
	columns []value.Inference
}

func newInferrer(s *Source, schema *batch.Schema) *inferrer {
	return &inferrer{source: s, schema: schema, columns: make([]value.Inference, len(schema.Fields))}
}

func (w *inferrer) run(ctx context.Context, splits <-chan connector.Split) error {
	var pool batch.Pool
	b := pool.Get(w.schema)
	for sp := range splits {
		if err := w.split(ctx, sp, b); err != nil {
			return err
		}
	}
	return nil
}

func (w *inferrer) split(ctx context.Context, sp connector.Split, b *batch.Batch) (err error) {
	r, err := w.source.Open(ctx, sp, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b.Reset(w.schema)
		if err := r.Next(ctx, b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for c := range w.columns {
			if w.schema.Fields[c].Type.Kind != batch.Untyped || w.columns[c].IsText() {
				continue
			}
			for i := range b.Rows {
				w.columns[c].Add(b.Columns[c].Cell(i))
			}
		}
	}
}

func (w *inferrer) types() []batch.Type {
	types := make([]batch.Type, len(w.columns))
	for i := range types {
		types[i] = w.columns[i].Type()
	}
	return types
}

func textTypes(n int) []batch.Type {
	types := make([]batch.Type, n)
	for i := range types {
		types[i] = batch.Of(batch.Text)
	}
	return types
}
