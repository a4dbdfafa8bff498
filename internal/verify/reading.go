package verify

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/task"
)

// reading reads splits of a side into counts of its own.
type reading struct {
	side            *side
	counts          *counts
	sample          *sample
	filtered, dirty int64

	mapper  *task.Mapper
	normals []*normal
	hash    *rowHash
	texts   []byte
	cells   []batch.Span
	order   []byte
}

// readAll reads all splits of the side, some at once, each into a reading of
// its own that merge takes.
func (s *side) readAll(ctx context.Context, parallelism int, begin func() *reading, merge func(*reading)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelism)
	pool := &batch.Pool{}
	err := s.eachSplit(ctx, parallelism, func(split connector.Split) {
		group.Go(func() error {
			r := begin()
			if err := r.prepare(); err != nil {
				return wrap(s.name, err)
			}
			if err := r.split(ctx, pool, split); err != nil {
				return fmt.Errorf("%s: read split %s: %w", s.name, split.Label, err)
			}
			merge(r)
			return nil
		})
	})
	return errors.Join(group.Wait(), err)
}

func (s *side) eachSplit(ctx context.Context, parallelism int, each func(connector.Split)) error {
	var cursor connector.Cursor
	next := connector.SplitID(0)
	for {
		e, err := s.source.Enumerate(ctx, cursor, next, connector.Want{Parallelism: parallelism})
		if err != nil {
			return fmt.Errorf("%s: list the splits: %w", s.name, err)
		}
		for _, split := range e.Splits {
			each(split)
		}
		if e.Done || ctx.Err() != nil {
			return ctx.Err()
		}
		cursor, next = e.Next, next+connector.SplitID(len(e.Splits))
	}
}

func (r *reading) prepare() (err error) {
	r.hash = newRowHash()
	r.texts = make([]byte, 0, 1024) // never nil, so that an empty cell is not NULL
	if r.side.mapper != nil {
		if r.mapper, err = r.side.mapper.Clone(); err != nil {
			return err
		}
	}
	r.normals, err = r.side.normals()
	return err
}

// split reads one split to its proved end.
func (r *reading) split(ctx context.Context, pool *batch.Pool, split connector.Split) error {
	reader, err := r.side.source.Open(ctx, split, "")
	if err != nil {
		return err
	}
	b := pool.Get(r.side.schema)
	for err == nil {
		b.Reset(r.side.schema)
		if err = reader.Next(ctx, b); err == nil {
			err = r.batch(b)
		}
	}
	b.Release()
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, reader.Close())
}

func (r *reading) batch(b *batch.Batch) error {
	if r.mapper != nil {
		r.filtered += r.mapper.Map(b)
		r.dirty += int64(len(b.Rejects))
	} else if len(b.Rejects) > 0 {
		return fmt.Errorf("%s: %s", b.Rejects[0].Where, b.Rejects[0].Reason)
	}
	for row := range b.Rows {
		if err := r.row(b, row); err != nil {
			return err
		}
	}
	return nil
}

// row adds a record to the counts. One that the target's types cannot hold is
// dirty on the source's side, and cannot be on the target's.
func (r *reading) row(b *batch.Batch, row int) (err error) {
	r.texts, r.cells = r.texts[:0], r.cells[:0]
	for i, at := range r.side.columns {
		cell := b.Columns[at].Cell(row)
		if cell == nil {
			r.cells = append(r.cells, batch.NullSpan())
			continue
		}
		off := len(r.texts)
		if r.texts, err = r.normals[i].append(r.texts, cell); err != nil {
			if r.mapper != nil {
				r.dirty++
				return nil
			}
			return fmt.Errorf("column %s: %w", r.side.to.Fields[i].Name, err)
		}
		r.cells = append(r.cells, batch.Span{Off: uint32(off), Len: int32(len(r.texts) - off)})
	}
	r.hash.begin()
	for i := range r.cells {
		r.hash.cell(r.cell(i))
	}
	r.order = r.order[:0]
	for _, i := range r.side.key {
		r.order = appendOrder(r.order, r.side.to.Fields[i].Type.Kind, r.cell(i))
	}
	r.counts.count(r.order, r.hash.end())
	if r.sample != nil && len(r.side.key) > 0 {
		r.sample.offer(r.order, r.keyTexts)
	}
	return nil
}

// cell returns the normal text of a compared column; nil is NULL.
func (r *reading) cell(i int) []byte {
	s := r.cells[i]
	if s.Len < 0 {
		return nil
	}
	end := s.Off + uint32(s.Len)
	return r.texts[s.Off:end:end]
}

func (r *reading) keyTexts() []string {
	texts := make([]string, len(r.side.key))
	for i, k := range r.side.key {
		texts[i] = "NULL"
		if cell := r.cell(k); cell != nil {
			texts[i] = string(cell)
		}
	}
	return texts
}
