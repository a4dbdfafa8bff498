package mysql

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the server has it, and no attacker
	"fmt"
	"runtime"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// orderLine is a table of 16 mixed columns, like the one of TPC-H.
const orderLine = `CREATE TABLE t (l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, l_quantity DECIMAL(15,2), l_extendedprice DECIMAL(15,2),
 l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag CHAR(1), l_linestatus CHAR(1), l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE,
 l_shipinstruct CHAR(25), l_shipmode CHAR(10), l_comment VARCHAR(44))`

func orderLines(b *batch.Batch, rows int) {
	for i := range rows {
		for _, cell := range []string{"%d", "7919", "31", "7", "17.00", "10342.07", "0.04", "-0.02", "N", "O", "1996-03-13", "1996-02-29", "1996-03-31", "DELIVER IN PERSON", "TRUCK", "egular courts above the"} {
			if cell == "%d" {
				cell = fmt.Sprint(i)
			}
			b.Append([]byte(cell))
		}
	}
	b.Seal()
	b.ValidUTF8 = true
}

// Writing makes fewer than 0.1 allocations per row, whichever way rows go.
func TestAllocWriting(t *testing.T) {
	for _, load := range []string{"infile", "insert"} {
		t.Run(load, func(t *testing.T) {
			names := make([]string, 16)
			for i := range names {
				names[i] = []string{"l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus", "l_shipdate", "l_commitdate", "l_receiptdate", "l_shipinstruct", "l_shipmode", "l_comment"}[i]
			}
			r := newRig(t, orderLine, map[string]any{"load": load}, untyped(names...)...)
			r.prepare(1)
			const batches, rows = 8, 8000
			list := make([]*batch.Batch, batches)
			for i := range list {
				list[i] = r.pool.Get(r.in)
				orderLines(list[i], rows)
			}
			w, state := r.claim(0, 1)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for _, b := range list {
				check(t, w.Write(t.Context(), b))
			}
			check(t, w.Flush(t.Context()))
			state.Done = true
			state, err := w.Commit(t.Context(), state)
			runtime.ReadMemStats(&after)
			check(t, err)
			if state.Counters.Written != batches*rows {
				t.Fatalf("%d rows were written", state.Counters.Written)
			}
			if n := float64(after.Mallocs-before.Mallocs) / (batches * rows); n >= 0.1 {
				t.Errorf("%.3f allocations per row", n)
			}
		})
	}
}

// A row of 100 MiB takes at most four times its size, with the batch that
// brings it: LOAD DATA sends it in pieces, an INSERT has to be whole.
func TestMemoryOfALargeRow(t *testing.T) {
	const size = 100 << 20
	for load, most := range map[string]uint64{"infile": size / 20, "insert": 3 * size} {
		t.Run(load, func(t *testing.T) {
			r := newRig(t, "CREATE TABLE t (id INT, v LONGTEXT)", map[string]any{"load": load}, untyped("id", "v")...)
			r.prepare(1)
			text := bytes.Repeat([]byte("it's a long text,\tand\\so on... "), size/31+1)[:size]
			b := &batch.Batch{}
			b.Reset(r.in)
			b.Append([]byte("1"))
			b.Append(text)
			b.Seal()
			w, state := r.claim(0, 1)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			check(t, w.Write(t.Context(), b))
			check(t, w.Flush(t.Context()))
			state.Done = true
			state, err := w.Commit(t.Context(), state)
			runtime.ReadMemStats(&after)
			check(t, err)
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%d MiB were allocated, at most %d are allowed", n>>20, most>>20)
			}
			if state.Counters != (connector.Counters{Written: 1, BytesWritten: size + 1}) {
				t.Errorf("counters: %+v, rejected %.200q", state.Counters, r.rejected)
			}
			r.expect("SELECT LENGTH(v), MD5(v) FROM t", fmt.Sprintf("%d|%x", size, md5.Sum(text)))
		})
	}
}
