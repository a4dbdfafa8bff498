package stream

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// writer counts the records of one attempt and prints them if its sink does.
type writer struct {
	sink  *Sink
	base  connector.SplitState
	rows  int64
	bytes int64
	lines []byte
}

// Write counts the batch's records and makes lines of them.
func (w *writer) Write(ctx context.Context, b *batch.Batch) error {
	defer b.Release()
	if err := ctx.Err(); err != nil {
		return err
	}
	w.rows += int64(b.Rows)
	for c := range b.Columns {
		w.bytes += payload(&b.Columns[c], b.Rows)
	}
	if w.sink.out == nil {
		return nil
	}
	for i := range b.Rows {
		w.lines = appendLine(w.lines, b, i)
	}
	return w.print()
}

// payload is the size of a column's cells.
func payload(c *batch.Column, rows int) (size int64) {
	at := c.First
	for range rows {
		size += int64(max(0, c.Spans[at].Len)) // a NULL has -1
		at += c.Stride
	}
	return size
}

// print writes whole lines in one go.
func (w *writer) print() error {
	w.sink.outMu.Lock()
	defer w.sink.outMu.Unlock()
	_, err := w.sink.out.Write(w.lines)
	w.lines = w.lines[:0]
	if err != nil {
		return fmt.Errorf("print records: %w", err)
	}
	return nil
}

// Flush has nothing to wait for.
func (w *writer) Flush(ctx context.Context) error { return ctx.Err() }

// Commit adds what was counted to the state, which the engine then stores.
func (w *writer) Commit(ctx context.Context, state connector.SplitState) (connector.SplitState, error) {
	if err := ctx.Err(); err != nil {
		return connector.SplitState{}, err
	}
	if !w.sink.owns(w.base.Split, w.base.Token) {
		return connector.SplitState{}, connector.Errorf(connector.Fenced, "split %d belongs to a newer attempt than %s", w.base.Split, w.base.Token)
	}
	w.base.CommitNo++
	w.base.Counters.Written += w.rows
	w.base.Counters.BytesWritten += w.bytes
	w.rows, w.bytes = 0, 0
	state.Split, state.Token, state.CommitNo = w.base.Split, w.base.Token, w.base.CommitNo
	state.Counters.Written = w.base.Counters.Written
	state.Counters.Merged = w.base.Counters.Merged
	state.Counters.Refused = w.base.Counters.Refused
	state.Counters.BytesWritten = w.base.Counters.BytesWritten
	return state, nil
}

// Close forgets what is not committed.
func (w *writer) Close() error { return nil }
