package parquet

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// withDefaults fills in what a job file leaves out.
func (o SinkOptions) withDefaults() SinkOptions {
	if o.Mode == "" {
		o.Mode = "overwrite"
	}
	if o.Compression == "" {
		o.Compression = "zstd"
	}
	if o.RowGroupRows == 0 {
		o.RowGroupRows = 122880
	}
	if o.RowGroupSize == 0 {
		o.RowGroupSize = 8 << 20
	}
	if o.RollSize == 0 {
		o.RollSize = 128 << 20
	}
	return o
}

func newTestSink(t testing.TB, fs storage.FS, o SinkOptions) *files.Sink {
	t.Helper()
	o = o.withDefaults()
	s, err := NewSink(fs, &o, connector.SinkEnv{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newTestSource(t testing.TB, fs storage.FS, o SourceOptions) *Source {
	t.Helper()
	s, err := NewSource(fs, &o, connector.SourceEnv{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rejected is a record that a writer has refused.
type rejected struct {
	cells          [][]byte
	column, reason string
}

// write writes batches of a schema to a new target, in one attempt, and
// returns what was refused.
func write(t testing.TB, fs storage.FS, o SinkOptions, schema *batch.Schema, batches ...*batch.Batch) []rejected {
	t.Helper()
	s := newTestSink(t, fs, o)
	ctx := t.Context()
	if _, err := s.Resolve(ctx, schema); err != nil {
		t.Fatal(err)
	}
	run := connector.Run{ID: "11111111-1111-1111-1111-111111111111", Job: "j"}
	if err := s.Prepare(ctx, run); err != nil {
		t.Fatal(err)
	}
	var refused []rejected
	w, state, err := s.Claim(ctx, connector.Attempt{
		Run: run, Token: connector.NewToken(1, 1),
		Reject: func(b *batch.Batch, row int, column string, _ batch.Cause, reason string) {
			refused = append(refused, rejected{b.Row(row), column, reason})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range batches {
		if err := w.Write(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	state.Done = true
	if state, err = w.Commit(ctx, state); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(ctx, run, []connector.SplitState{state}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return refused
}

// readFrom reads a whole file from a position on.
func readFrom(t testing.TB, s *Source, o *opened, pos connector.Position) []connectortest.Row {
	t.Helper()
	sp := spec{Identity: o.id, To: len(o.footer.Groups)}
	rows, err := readSplit(t.Context(), s, connector.Split{Spec: sp.encode()}, pos)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// readSplit reads a split from a position on.
func readSplit(ctx context.Context, s *Source, split connector.Split, pos connector.Position) ([]connectortest.Row, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.Open(ctx, split, pos)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	var rows []connectortest.Row
	for {
		var b batch.Batch
		b.Reset(schema)
		if err := r.Next(ctx, &b); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return rows, err
		}
		rows = append(rows, connectortest.RowsOf(&b)...)
	}
}
