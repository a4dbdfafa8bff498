package connectortest

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

const (
	memoryRows  = 95
	memorySplit = 40
	memoryBatch = 10
)

// memorySource counts to memoryRows, in splits and batches of its own sizes.
// fault is one thing that it does wrong, "" for none.
type memorySource struct{ fault string }

func (s *memorySource) Schema(context.Context) (*batch.Schema, error) {
	return &batch.Schema{
		Fields: []batch.Field{{Name: "n", Type: batch.Of(batch.Int64), NotNull: true}, {Name: "v", Type: batch.Of(batch.Text)}},
		Key:    []string{"n"},
	}, nil
}

// Enumerate gives one split in each step.
func (s *memorySource) Enumerate(_ context.Context, cursor connector.Cursor, first connector.SplitID, _ connector.Want) (connector.Enumeration, error) {
	from, _ := strconv.Atoi(string(cursor))
	to := min(from+memorySplit, memoryRows)
	e := connector.Enumeration{Next: connector.Cursor(strconv.Itoa(to)), Done: to == memoryRows}
	if s.fault == "splits overlap" && from > 0 {
		from--
	}
	if s.fault == "ids start anew" {
		first = 0
	}
	e.Splits = []connector.Split{{ID: first, Spec: fmt.Sprintf("%d %d", from, to)}}
	return e, nil
}

func (s *memorySource) Open(_ context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	r := &memoryReader{source: s}
	if _, err := fmt.Sscanf(split.Spec, "%d %d", &r.next, &r.end); err != nil {
		return nil, err
	}
	if pos != "" {
		var err error
		if r.next, err = strconv.Atoi(string(pos)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (s *memorySource) Close() error { return nil }

type memoryReader struct {
	source    *memorySource
	next, end int
	closed    atomic.Bool
}

func (r *memoryReader) Next(ctx context.Context, b *batch.Batch) error {
	fault := r.source.fault
	switch {
	case r.closed.Load() && fault != "closing does not end reading":
		return io.ErrClosedPipe
	case ctx.Err() != nil && fault != "contexts are ignored":
		return ctx.Err()
	case r.next >= r.end:
		return io.EOF
	}
	end := min(r.next+memoryBatch, r.end)
	if most := b.Most.Rows; most > 0 && fault != "batches are larger than asked for" {
		end = min(end, r.next+most)
	}
	if fault == "the end comes early" && end == r.end {
		end--
	}
	for ; r.next < end; r.next++ {
		cell := strconv.Itoa(r.next)
		if fault == "cells are not canonical" {
			cell = "0" + cell
		}
		b.Append([]byte(cell))
		if r.next%3 == 0 {
			b.AppendNull()
			continue
		}
		b.Append([]byte("text"))
	}
	if len(b.Spans) == 0 {
		r.next = r.end
		return io.EOF
	}
	b.Seal()
	b.Bytes = int64(len(b.Buf))
	if fault == "too little is said to be read" {
		b.Read--
	}
	return nil
}

func (r *memoryReader) Position() (connector.Position, bool) {
	if r.source.fault == "positions are one too early" {
		return connector.Position(strconv.Itoa(max(0, r.next-1))), true
	}
	return connector.Position(strconv.Itoa(r.next)), true
}

func (r *memoryReader) Close() error {
	r.closed.Store(true)
	return nil
}

func memoryWant() []Row {
	var rows []Row
	for n := range memoryRows {
		v := "text"
		if n%3 == 0 {
			v = Null
		}
		rows = append(rows, Row{strconv.Itoa(n), v})
	}
	return rows
}
