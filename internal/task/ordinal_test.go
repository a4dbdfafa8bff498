package task_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/task"
)

// A record is told by its own ordinal wherever it is set aside, by the reader,
// the filter, a conversion or the sink, and whatever left the batch before it.
func TestOrdinalsStayExact(t *testing.T) {
	schema := &batch.Schema{Fields: []batch.Field{{Name: "n", Type: batch.Of(batch.Text)}}}
	whole := batch.Of(batch.Int64)
	pool := &batch.Pool{}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		m, err := task.NewMapper(schema, []task.Column{{Name: "n", Source: 0, Cast: &whole}}, `n != "skip"`)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Bind(&batch.Schema{Fields: []batch.Field{{Name: "n", Type: whole}}}); err != nil {
			t.Fatal(err)
		}
		b := pool.Get(schema)
		fillWithRejects(b, random)
		m.Map(b)
		if b.Rows+len(b.Gone) != int(b.Read) {
			t.Fatalf("seed %d: %d rows and %d gone of %d", seed, b.Rows, len(b.Gone), b.Read)
		}
		for i := range b.Rows {
			want, _ := strconv.ParseInt(string(b.Columns[0].Cell(i)), 10, 64)
			if n, ok := b.Ordinal(i); !ok || n != want {
				t.Fatalf("seed %d: row %d is said to be record %d (%v), and is %d", seed, i, n, ok, want)
			}
		}
		for _, r := range b.Rejects {
			if r.At == 0 && r.Where != "record "+string(r.Values[0][1:]) {
				t.Fatalf("seed %d: %s is said to be %s", seed, r.Values[0], r.Where)
			}
		}
		b.Release()
	}
}

// fillWithRejects makes records that hold their ordinals: as they are, with an
// x before (no number), to be skipped, and rejected by the reader, out of order.
func fillWithRejects(b *batch.Batch, random *rand.Rand) {
	first := random.Int64N(100) + 1
	for n := first; n < first+random.Int64N(60)+1; n++ {
		switch random.IntN(5) {
		case 0:
			b.Append([]byte("skip"))
		case 1:
			b.Append(fmt.Appendf(nil, "x%d", n))
		case 2:
			b.Rejects = append(b.Rejects, batch.Reject{At: n})
		default:
			b.Append(strconv.AppendInt(nil, n, 10))
		}
	}
	random.Shuffle(len(b.Rejects), func(i, j int) { b.Rejects[i], b.Rejects[j] = b.Rejects[j], b.Rejects[i] })
	b.Seal()
	b.First = first
	b.NoteRejects()
}

// What the sink refuses of a batch that lost records before is told exactly;
// where the reader cannot say which ones it set aside, the range is.
func TestRefusedAfterOthersAreGone(t *testing.T) {
	for _, c := range []struct {
		at   int64
		want string
	}{{at: 2, want: "record 4"}, {at: 0, want: "record 1 to 4"}} {
		sink, w := &ledger{reject: map[string]string{"4": "write"}}, &watcher{}
		source := &numbers{rows: 1, seekable: true, fill: func(b *batch.Batch) {
			for _, text := range []string{"1", "3", "4"} {
				b.Append([]byte(text))
			}
			b.Rejects = append(b.Rejects, batch.Reject{At: c.at, Where: "record 2"})
			b.Seal()
			b.First = 1
			b.NoteRejects()
		}}
		if err := subtask(t, source, sink, nil).Run(t.Context(), connector.Split{}, 1, connector.SplitState{}, connector.FormatState{}, w); err != nil {
			t.Fatal(err)
		}
		if len(w.dirty) != 2 || w.dirty[1].Where != c.want {
			t.Errorf("with a reject at %d: dirty %+v, want the last at %s", c.at, w.dirty, c.want)
		}
	}
}
