package postgres

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// allocations returns how many f makes.
func allocations(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// Reading and writing make fewer than 0.1 allocations per row.
func TestAllocations(t *testing.T) {
	const rows = 60000
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	pg.Exec(t, url, lineitem+"; CREATE UNLOGGED TABLE t (LIKE li)")
	pg.Exec(t, url, fmt.Sprintf(lineitemRows, rows))
	s := openSource(t, url, "li")
	schema := must(s.Schema(t.Context()))(t)
	e := must(s.Enumerate(t.Context(), "", 0, connector.Want{Ordered: true}))(t)
	in := &batch.Batch{}
	read := allocations(func() {
		rd := must(s.Open(t.Context(), e.Splits[0], ""))(t)
		for {
			in.Reset(schema)
			if err := rd.Next(t.Context(), in); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		check(t, rd.Close())
	})
	if read/rows >= 0.1 {
		t.Errorf("reading makes %.3f allocations per row", read/rows)
	}
	list := readBatches(t, s)
	w := openWriter(t, url, schema, 1)
	written := allocations(func() {
		for _, in := range list {
			check(t, w.Write(t.Context(), in))
		}
		check(t, w.Flush(t.Context()))
		must(w.Commit(t.Context(), connector.SplitState{}))(t)
	})
	if written/rows >= 0.1 {
		t.Errorf("writing makes %.3f allocations per row", written/rows)
	}
}
