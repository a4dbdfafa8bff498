package csv

import (
	"context"
	"errors"
	"io"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/files/filestest"
	"github.com/leatdata/leat/internal/storage"
)

// tb is what a test and a check of rapid's have in common.
type tb interface {
	rapid.TB
	Context() context.Context
}

// result is what a whole source holds.
type result struct {
	schema  *batch.Schema
	splits  int
	rows    []rec
	rejects []batch.Reject
}

// sourceOf makes a source over files of the given texts, named a.csv, b.csv …
func sourceOf(t *testing.T, options map[string]any, texts ...string) (*Source, error) {
	t.Helper()
	values := map[string]any{"path": filestest.Files(t, ".csv", texts...)}
	maps.Copy(values, options)
	var o SourceOptions
	if err := option.Parse(values, &o); err != nil {
		return nil, err
	}
	return NewSource(storage.Local{}, nil, &o, connector.SourceEnv{})
}

func mustSource(t *testing.T, options map[string]any, texts ...string) *Source {
	t.Helper()
	s, err := sourceOf(t, options, texts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// readAll reads a source split by split.
func readAll(t tb, s *Source) (result, error) {
	t.Helper()
	ctx := t.Context()
	var res result
	var err error
	if res.schema, err = s.Schema(ctx); err != nil {
		return res, err
	}
	var cursor connector.Cursor
	for {
		e, err := s.Enumerate(ctx, cursor, connector.SplitID(res.splits), connector.Want{Parallelism: 2})
		if err != nil {
			return res, err
		}
		for _, sp := range e.Splits {
			res.splits++
			if err := readSplit(t, s, sp, &res); err != nil {
				return res, err
			}
		}
		if e.Done {
			return res, nil
		}
		cursor = e.Next
	}
}

func readSplit(t tb, s *Source, sp connector.Split, res *result) error {
	t.Helper()
	r, err := s.Open(t.Context(), sp, "")
	if err != nil {
		return err
	}
	defer r.Close()
	b := &batch.Batch{}
	for {
		b.Reset(res.schema)
		if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		for i := range b.Rows {
			cells := make([]any, len(b.Columns))
			for c := range cells {
				if cell := b.Columns[c].Cell(i); cell != nil {
					cells[c] = string(cell)
				}
			}
			res.rows = append(res.rows, row(cells...))
		}
		res.rejects = append(res.rejects, b.Rejects...)
	}
}

func mustRead(t *testing.T, options map[string]any, texts ...string) result {
	t.Helper()
	res, err := readAll(t, mustSource(t, options, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return res
}
