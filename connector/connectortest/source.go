package connectortest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// SourceHarness is what the suite has to know of a source. The data should
// make several batches and, where the source can be split, several splits.
type SourceHarness struct {
	// New makes a source over the same data each time, as another process
	// would. The suite closes it.
	New func(t testing.TB) connector.Source
	// Rows are all records, in the source's order; the cells are canonical.
	Rows []Row
	// Rejects is the number of records that the source rejects.
	Rejects int
	// NoPositions says that a split can only be read from its start.
	NoPositions bool
	// Unordered says that even an ordered enumeration has an order of its own.
	Unordered bool
	// Checks is the number of random readings, 10 when 0.
	Checks int
}

// RunSource runs the source's contract.
func RunSource(t *testing.T, h SourceHarness) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, *SourceHarness)
	}{
		{"the schema is the same each time", schemaAgain},
		{"splits have each record once", splitsHaveEachRecordOnce},
		{"enumerating goes on at a stored cursor", enumeratingGoesOn},
		{"batches are bounded and canonical", batchesAreBounded},
		{"batches are as small as asked for", batchesAsAskedFor},
		{"reading goes on at every position", readingGoesOn},
		{"closing ends the reading", closingEndsReading},
		{"contexts end the reading", contextEndsReading},
		{"random readings", randomReadings},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaks := goleak.IgnoreCurrent()
			t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
			c.test(t, &h)
		})
	}
}

// source makes a source that is closed, twice, at the end.
func (h *SourceHarness) source(t *testing.T) connector.Source {
	t.Helper()
	s := h.New(t)
	t.Cleanup(func() {
		closing(t, s)
		closing(t, s)
	})
	return s
}

func schemaAgain(t *testing.T, h *SourceHarness) {
	s, other := h.source(t), h.source(t)
	first, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, again := range []connector.Source{s, other} {
		if schema, err := again.Schema(t.Context()); err != nil || !schema.Equal(first) {
			t.Errorf("schema %+v, %v; the first time %+v", schema, err, first)
		}
	}
	names := first.Names()
	slices.Sort(names)
	if len(slices.Compact(names)) != len(first.Fields) {
		t.Errorf("names come twice: %q", first.Names())
	}
	for _, k := range first.Key {
		if first.Index(k) < 0 {
			t.Errorf("the key's column %q is not one of the schema", k)
		}
	}
}

func splitsHaveEachRecordOnce(t *testing.T, h *SourceHarness) {
	for _, want := range []connector.Want{{Parallelism: 1}, {Parallelism: 4}, {Parallelism: 1, Ordered: true}} {
		s, other := h.source(t), h.source(t)
		var rows []Row
		rejects := 0
		for i, split := range enumerate(t, s, want) {
			if split.ID != connector.SplitID(i) {
				t.Errorf("split %d has id %d", i, split.ID)
			}
			// A split is a value: another process opens what was stored.
			text, err := json.Marshal(split)
			if err != nil {
				t.Fatal(err)
			}
			var stored connector.Split
			if err := json.Unmarshal(text, &stored); err != nil {
				t.Fatal(err)
			}
			got, dirty := readSplit(t, other, stored, "")
			rows = append(rows, got...)
			rejects += len(dirty)
		}
		if want.Ordered && !h.Unordered {
			same(t, "in order", rows, h.Rows)
		} else {
			same(t, "all splits", sorted(rows), sorted(h.Rows))
		}
		if rejects != h.Rejects {
			t.Errorf("%d records were rejected, want %d", rejects, h.Rejects)
		}
	}
}

func enumeratingGoesOn(t *testing.T, h *SourceHarness) {
	var splits []connector.Split
	var cursor connector.Cursor
	for done := false; !done; {
		// Each step by another process, from the cursor that was stored.
		e, err := h.source(t).Enumerate(t.Context(), cursor, connector.SplitID(len(splits)), connector.Want{Parallelism: 2})
		if err != nil {
			t.Fatal(err)
		}
		splits = append(splits, e.Splits...)
		if done = e.Done; !done && e.Next == cursor {
			t.Fatalf("the enumeration stands still at %q", cursor)
		}
		cursor = e.Next
	}
	s := h.source(t)
	var rows []Row
	for _, split := range splits {
		got, _ := readSplit(t, s, split, "")
		rows = append(rows, got...)
	}
	same(t, "all steps", sorted(rows), sorted(h.Rows))
}

func batchesAreBounded(t *testing.T, h *SourceHarness) {
	s := h.source(t)
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	check := newCellChecks(t, schema)
	for _, split := range enumerate(t, s, connector.Want{Parallelism: 2}) {
		r, err := s.Open(t.Context(), split, "")
		if err != nil {
			t.Fatal(err)
		}
		b := new(batch.Batch)
		for {
			b.Reset(schema)
			if err = r.Next(t.Context(), b); err != nil {
				break
			}
			check.batch(b)
		}
		if !errors.Is(err, io.EOF) {
			t.Fatalf("read split %d: %v", split.ID, err)
		}
		b.Reset(schema)
		if err := r.Next(t.Context(), b); !errors.Is(err, io.EOF) || b.Rows != 0 || len(b.Rejects) != 0 {
			t.Errorf("after the end: %v with %d rows", err, b.Rows)
		}
		closing(t, r)
		closing(t, r)
	}
}

// batchesAsAskedFor reads with bounds of rows and of bytes: a job with a limit goes
// by small batches, and has a place to go on from behind each of them.
func batchesAsAskedFor(t *testing.T, h *SourceHarness) {
	s := h.source(t)
	const slack = 8 << 10
	for _, most := range []batch.Bound{{Rows: 3}, {Bytes: 100}, {Rows: 1, Bytes: 1 << 30}} {
		var rows []Row
		for _, split := range enumerate(t, s, connector.Want{Parallelism: 1, Ordered: true}) {
			readBounded(t, s, split, "", most, func(r connector.Reader, b *batch.Batch) bool {
				if most.Rows > 0 && b.Rows > most.Rows {
					t.Errorf("%d rows where %d are asked for", b.Rows, most.Rows)
				}
				if most.Bytes > 0 && b.Rows > 1 && len(b.Buf) > most.Bytes+slack {
					t.Errorf("%d rows of %d bytes where %d are asked for", b.Rows, len(b.Buf), most.Bytes)
				}
				if _, ok := r.Position(); ok == h.NoPositions {
					t.Errorf("behind a small batch there is a position: %t", ok)
				}
				rows = append(rows, RowsOf(b)...)
				return !t.Failed()
			})
		}
		same(t, "all in small batches", sorted(rows), sorted(h.Rows))
	}
}

func readingGoesOn(t *testing.T, h *SourceHarness) {
	s, other := h.source(t), h.source(t)
	const most = 20
	tried := 0
	for _, split := range enumerate(t, s, connector.Want{Parallelism: 1, Ordered: true}) {
		positions, before, rows := stops(t, s, split)
		if h.NoPositions != (len(positions) == 0 && len(rows) > 0) {
			t.Errorf("split %d gives %d positions", split.ID, len(positions))
		}
		for i, pos := range positions {
			if tried++; tried > most {
				return
			}
			got, _ := readSplit(t, other, split, pos)
			same(t, "after position "+string(pos), got, rows[before[i]:])
		}
	}
}

func closingEndsReading(t *testing.T, h *SourceHarness) {
	s := h.source(t)
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range enumerate(t, s, connector.Want{Parallelism: 1}) {
		r, err := s.Open(t.Context(), split, "")
		if err != nil {
			t.Fatal(err)
		}
		started, ended := make(chan struct{}), make(chan error, 1)
		go func() {
			b := new(batch.Batch)
			close(started)
			for {
				b.Reset(schema)
				if err := r.Next(t.Context(), b); err != nil {
					ended <- err
					return
				}
			}
		}()
		<-started
		closing(t, r)
		timer := time.NewTimer(patience)
		select {
		case err := <-ended:
			if err == nil {
				t.Error("Next ended without a word")
			}
		case <-timer.C:
			t.Fatal("Next goes on after Close")
		}
		timer.Stop()
		b := new(batch.Batch)
		b.Reset(schema)
		if err := r.Next(t.Context(), b); err == nil {
			t.Error("Next gives records after Close")
		}
		closing(t, r)
		closedAtOnce(t, s, split, schema)
	}
}

// closedAtOnce closes a reader before its first Next, which must not give
// records or a proper end.
func closedAtOnce(t *testing.T, s connector.Source, split connector.Split, schema *batch.Schema) {
	t.Helper()
	r, err := s.Open(t.Context(), split, "")
	if err != nil {
		t.Fatal(err)
	}
	closing(t, r)
	b := new(batch.Batch)
	b.Reset(schema)
	if err := r.Next(t.Context(), b); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Next of a closed reader: %v", err)
	}
}

func contextEndsReading(t *testing.T, h *SourceHarness) {
	s := h.source(t)
	schema, err := s.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, split := range enumerate(t, s, connector.Want{Parallelism: 1}) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := s.Open(ctx, split, "")
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		b := new(batch.Batch)
		b.Reset(schema)
		if err := r.Next(ctx, b); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("Next under a context that had ended: %v", err)
		}
		closing(t, r)
	}
}

// randomReadings reads splits in pieces: some batches, then a new reader at
// the position, perhaps of another process.
func randomReadings(t *testing.T, h *SourceHarness) {
	limitChecks(t, h.Checks)
	s := h.source(t)
	splits := enumerate(t, s, connector.Want{Parallelism: 3})
	if len(splits) == 0 {
		return
	}
	rapid.Check(t, func(rt *rapid.T) {
		split := splits[rapid.IntRange(0, len(splits)-1).Draw(rt, "split")]
		want, _ := readSplit(rt, s, split, "")
		var got []Row
		var pos connector.Position
		for done := false; !done; {
			source := s
			if rapid.Bool().Draw(rt, "another process") {
				source = h.New(t)
				defer closing(rt, source)
			}
			batches := rapid.IntRange(1, 3).Draw(rt, "batches")
			rows, next, ended := readSome(rt, source, split, pos, batches)
			if !ended && next == pos {
				// No position: only a reading to the end counts.
				continue
			}
			got, pos, done = append(got, rows...), next, ended
		}
		same(rt, "pieces", got, want)
	})
}
