package task

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/metrics"
	"github.com/leatdata/leat/ratelimit"
)

// told is what a batch says of each record read: a row's text, or that it is none.
type told struct {
	ordinal int64
	text    string
}

// tell lists a batch's rows with their ordinals, where it tells them.
func tell(b *batch.Batch) []told {
	var list []told
	for i := range b.Rows {
		n, _ := b.Ordinal(i)
		list = append(list, told{n, fmt.Sprintf("%q", b.Row(i))})
	}
	return list
}

type plainPacking struct{}

func (plainPacking) Cells(row []byte) [][]byte { return [][]byte{row} }

// drawBatch makes a batch as readers do: rows and rejects in their order.
func drawBatch(t *rapid.T, pool *batch.Pool, s *batch.Schema, packed bool) *batch.Batch {
	b := pool.Get(s)
	b.Origin = "x: line"
	known := !packed && rapid.Bool().Draw(t, "ordinals known")
	n := rapid.IntRange(1, 40).Draw(t, "records")
	for i := range n {
		if !packed && rapid.IntRange(0, 5).Draw(t, "kind") == 0 {
			r := batch.Reject{Reason: fmt.Sprint(i)}
			if known {
				r.At = int64(100 + i)
			}
			b.Rejects = append(b.Rejects, r)
			continue
		}
		cell := make([]byte, rapid.IntRange(0, 50).Draw(t, "size"))
		for j := range cell {
			cell[j] = byte('a' + (i+j)%26)
		}
		if packed {
			b.AppendPacked(append(cell, "head"...))
			b.Bytes += int64(len(cell))
			continue
		}
		b.Append(cell)
		b.Append(nil)
		b.Bytes += int64(len(cell)) + 2
	}
	if packed {
		b.SealPacked(plainPacking{})
		return b
	}
	b.Seal()
	if known {
		b.First = 100
		b.NoteRejects()
	}
	return b
}

// TestSlicesAreTheBatch shows that a batch that is passed on in slices is the same
// records, with the same ordinals, rejects and sums (exactness rules 14 and 15),
// each slice within the bound or a single row.
func TestSlicesAreTheBatch(t *testing.T) {
	cells := &batch.Schema{Fields: []batch.Field{{Name: "a"}, {Name: "b"}}}
	rapid.Check(t, func(t *rapid.T) {
		var pool batch.Pool
		b := drawBatch(t, &pool, cells, rapid.Bool().Draw(t, "packed"))
		most := ratelimit.Amount{
			Bytes: int64(rapid.IntRange(0, 200).Draw(t, "bytes")), Records: int64(rapid.IntRange(0, 10).Draw(t, "rows")),
		}
		want, rejects, read, bytes, valid := tell(b), slices.Clone(b.Rejects), b.Read, b.Bytes, b.ValidUTF8
		var s slicer
		if !s.takes(b, most) {
			return
		}
		var got []told
		var gotRejects []batch.Reject
		s.hold(b, pool.Get(cells))
		for !s.empty() {
			b.Reset(cells)
			s.next(b, most)
			if b.Rows == 0 {
				t.Fatal("a slice without a row")
			}
			if b.Rows > 1 && (most.Bytes > 0 && b.Bytes > most.Bytes && !s.empty() || most.Records > 0 && int64(b.Rows) > most.Records) {
				t.Fatalf("a slice of %d rows, %d bytes, beyond %+v", b.Rows, b.Bytes, most)
			}
			got = append(got, tell(b)...)
			gotRejects = append(gotRejects, b.Rejects...)
			read -= b.Read
			bytes -= b.Bytes
			if b.ValidUTF8 != valid || b.Origin != "x: line" {
				t.Fatal("a slice lacks what the batch says")
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("rows\n%v\nwant\n%v", got, want)
		}
		if !slices.EqualFunc(gotRejects, rejects, func(a, b batch.Reject) bool { return a.Reason == b.Reason }) {
			t.Fatalf("rejects %v, want %v", gotRejects, rejects)
		}
		if read != 0 || bytes != 0 {
			t.Fatalf("%d records and %d bytes are missing", read, bytes)
		}
	})
}

// endless is a reader of batches of so many rows.
type endless struct {
	connector.Reader
	rows int
	most batch.Bound
}

func (e *endless) Next(_ context.Context, b *batch.Batch) error {
	e.most = b.Most
	for range e.rows {
		b.Append([]byte("0123456789"))
	}
	b.Seal()
	b.Bytes = int64(10 * e.rows)
	return nil
}

func (e *endless) Position() (connector.Position, bool) { return "p", true }

func newLimitedReader(r connector.Reader, limiter *ratelimit.Limiter) *limited {
	n := newNumbers(metrics.NewRegistry().Group("x"), limiter)
	return &limited{measured: measured{Reader: r, numbers: n}, limiter: limiter, pool: &batch.Pool{}}
}

// With a limit, batches are cut to limit ÷ (200 × subtasks), within a batch
// nothing can be gone on with, and readers are asked for small ones.
func TestBatchesAreBoundedWhileALimitIsOn(t *testing.T) {
	limiter := ratelimit.NewLimiter(true)
	limiter.Grant(ratelimit.Lease{
		Epoch: 1, Seq: 1, Limit: ratelimit.Amount{Bytes: 40_000}, Parallelism: 2, Window: 1 << 40,
		Steps: []ratelimit.Amount{{Bytes: 1 << 40}},
	})
	r := &endless{rows: 25}
	l := newLimitedReader(r, limiter)
	s := &batch.Schema{Fields: []batch.Field{{Name: "a"}}}
	var rows []int
	var seekable []bool
	for range 3 {
		b := l.pool.Get(s)
		if err := l.Next(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		_, ok := l.Position()
		rows, seekable = append(rows, b.Rows), append(seekable, ok)
		b.Release()
	}
	if !slices.Equal(rows, []int{10, 10, 5}) || !slices.Equal(seekable, []bool{false, false, true}) {
		t.Errorf("slices of %v rows, seekable %v", rows, seekable)
	}
	if (r.most != batch.Bound{Bytes: 100}) {
		t.Errorf("the reader was asked for %+v", r.most)
	}
	if passed := limiter.State().Passed; passed != (ratelimit.Amount{Bytes: 250, Records: 25}) {
		t.Errorf("charged %s", passed)
	}
	// The limit ends between two slices: the rest comes, and then whole batches.
	b := l.pool.Get(s)
	if err := l.Next(t.Context(), b); err != nil || b.Rows != 10 {
		t.Fatal(b.Rows, err)
	}
	limiter.Grant(ratelimit.Lease{Epoch: 1, Seq: 2})
	for _, want := range []int{15, 25} {
		b.Reset(s)
		if err := l.Next(t.Context(), b); err != nil || b.Rows != want {
			t.Errorf("%d rows, want %d; %v", b.Rows, want, err)
		}
	}
}

// BenchmarkBatch is what a batch of the reader costs on its way through the
// decorators: with the limit off beside no limit at all.
func BenchmarkBatch(b *testing.B) {
	s := &batch.Schema{Fields: []batch.Field{{Name: "a"}}}
	limiter := ratelimit.NewLimiter(false)
	l := newLimitedReader(&endless{rows: 1}, limiter)
	for _, c := range []struct {
		name string
		next func(context.Context, *batch.Batch) error
	}{{"no limit", func(ctx context.Context, b *batch.Batch) error {
		err := l.measured.Next(ctx, b)
		l.numbers.read(b)
		return err
	}}, {"limit off", l.Next}} {
		b.Run(c.name, func(b *testing.B) {
			batch, ctx := l.pool.Get(s), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				batch.Reset(s)
				if err := c.next(ctx, batch); err != nil && err != io.EOF { //nolint:errorlint // there is no other
					b.Fatal(err)
				}
			}
		})
	}
}
