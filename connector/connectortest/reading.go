package connectortest

import (
	"errors"
	"io"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// ReadAll reads all records of a source, for harnesses whose targets can be
// read by the connector's own source. It closes the source.
func ReadAll(t testing.TB, s connector.Source) []Row {
	t.Helper()
	defer closing(t, s)
	var rows []Row
	for _, split := range enumerate(t, s, connector.Want{Parallelism: 1}) {
		got, rejects := readSplit(t, s, split, "")
		if len(rejects) > 0 {
			t.Fatalf("%s %s: %s", rejects[0].Where, rejects[0].Column, rejects[0].Reason)
		}
		rows = append(rows, got...)
	}
	return rows
}

// enumerate collects all splits. A source with more than maxSteps steps has no end.
func enumerate(t tb, s connector.Source, want connector.Want) []connector.Split {
	t.Helper()
	const maxSteps = 1000
	var splits []connector.Split
	var cursor connector.Cursor
	for range maxSteps {
		e, err := s.Enumerate(t.Context(), cursor, connector.SplitID(len(splits)), want)
		if err != nil {
			t.Fatalf("enumerate after %q: %v", cursor, err)
		}
		splits = append(splits, e.Splits...)
		if e.Done {
			return splits
		}
		cursor = e.Next
	}
	t.Fatalf("the enumeration has no end within %d steps", maxSteps)
	return nil
}

// readBatches reads a split from a position and hands on each batch, until
// more is false. It reports whether the split has ended.
func readBatches(t tb, s connector.Source, split connector.Split, pos connector.Position, each func(r connector.Reader, b *batch.Batch) (more bool)) (ended bool) {
	t.Helper()
	return readBounded(t, s, split, pos, batch.Bound{}, each)
}

// readBounded is readBatches that asks for batches of a bound.
func readBounded(t tb, s connector.Source, split connector.Split, pos connector.Position, most batch.Bound, each func(r connector.Reader, b *batch.Batch) (more bool)) (ended bool) {
	t.Helper()
	r, err := s.Open(t.Context(), split, pos)
	if err != nil {
		t.Fatalf("open split %d at %q: %v", split.ID, pos, err)
	}
	defer closing(t, r)
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	b := new(batch.Batch)
	for {
		b.Reset(schema)
		b.Most = most
		if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
			return true
		} else if err != nil {
			t.Fatalf("read split %d: %v", split.ID, err)
		}
		if !each(r, b) {
			return false
		}
	}
}

// readSplit reads a split from a position to its end.
func readSplit(t tb, s connector.Source, split connector.Split, pos connector.Position) (rows []Row, rejects []batch.Reject) {
	t.Helper()
	readBatches(t, s, split, pos, func(_ connector.Reader, b *batch.Batch) bool {
		rows = append(rows, RowsOf(b)...)
		rejects = append(rejects, b.Rejects...)
		return true
	})
	return rows, rejects
}

// stops are the positions of a split and how many rows come before each.
func stops(t tb, s connector.Source, split connector.Split) (positions []connector.Position, before []int, rows []Row) {
	t.Helper()
	readBatches(t, s, split, "", func(r connector.Reader, b *batch.Batch) bool {
		rows = append(rows, RowsOf(b)...)
		if pos, ok := r.Position(); ok {
			positions, before = append(positions, pos), append(before, len(rows))
		}
		return true
	})
	return positions, before, rows
}

// readSome reads some batches, more where there is no position after them, and
// returns the position then.
func readSome(t tb, s connector.Source, split connector.Split, pos connector.Position, batches int) (rows []Row, next connector.Position, ended bool) {
	t.Helper()
	ended = readBatches(t, s, split, pos, func(r connector.Reader, b *batch.Batch) bool {
		rows = append(rows, RowsOf(b)...)
		batches--
		var ok bool
		next, ok = r.Position()
		return batches > 0 || !ok
	})
	return rows, next, ended
}

func closing(t tb, c io.Closer) {
	t.Helper()
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
