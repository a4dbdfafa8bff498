package postgres

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// lineitem is a table of 16 mixed columns, like the one of TPC-H.
const lineitem = `CREATE UNLOGGED TABLE li (l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, l_quantity decimal(15,2), l_extendedprice decimal(15,2),
l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag text, l_linestatus text, l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct text, l_shipmode text, l_comment text)`

const lineitemRows = `INSERT INTO li SELECT i / 4, i * 7919 %% 200000, i * 31 %% 10000, i %% 7, i %% 50, (i * 7 %% 10000000) / 100.0, (i %% 11) / 100.0, (i %% 9) / 100.0, 'N', 'O',
date '1992-01-01' + i %% 2500, date '1992-02-01' + i %% 2500, date '1992-03-01' + i %% 2500, 'DELIVER IN PERSON', 'TRUCK', 'carefully final deposits ' || i FROM generate_series(1, %d) i`

// readBatches reads all of a source's first split into batches.
func readBatches(t testing.TB, s *Source) []*batch.Batch {
	t.Helper()
	schema := must(s.Schema(t.Context()))(t)
	e := must(s.Enumerate(t.Context(), "", 0, connector.Want{Ordered: true}))(t)
	rd := must(s.Open(t.Context(), e.Splits[0], ""))(t)
	var pool batch.Pool
	var list []*batch.Batch
	for {
		b := pool.Get(schema)
		err := rd.Next(t.Context(), b)
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
		list = append(list, b)
	}
	check(t, rd.Close())
	return list
}

func openSource(t testing.TB, url, table string) *Source {
	t.Helper()
	o := new(SourceOptions)
	check(t, option.Parse(map[string]any{"url": url, "table": table}, o))
	s := must(newSource(o, connector.SourceEnv{}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// openWriter claims split 0 of a new run into a table like li.
func openWriter(t testing.TB, url string, in *batch.Schema, token int) connector.Writer {
	t.Helper()
	o := new(SinkOptions)
	check(t, option.Parse(map[string]any{"url": url, "table": "t"}, o))
	k := must(newSink(o, connector.SinkEnv{}))(t)
	t.Cleanup(func() { _ = k.Close() })
	must(k.Resolve(t.Context(), in))(t)
	run := newRun(token)
	check(t, k.Prepare(t.Context(), run))
	check(t, k.Register(t.Context(), run, splitsOf(1)))
	w, _, err := k.Claim(t.Context(), connector.Attempt{Run: run, Token: connector.Token(token), Reject: func(_ *batch.Batch, row int, column string, _ batch.Cause, reason string) {
		t.Errorf("row %d, column %s: %s", row, column, reason)
	}})
	check(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func BenchmarkEncode(b *testing.B) {
	types := []oid{oidInt8, oidInt8, oidInt8, oidInt4, oidNumeric, oidNumeric, oidNumeric, oidNumeric, oidText, oidText, oidDate, oidDate, oidDate, oidText, oidText, oidText}
	columns := make([]*column, len(types))
	names := make([]string, len(types))
	for i, id := range types {
		columns[i] = &column{typ: &typeInfo{oid: id, kind: 'b'}, mod: -1}
		names[i] = string(rune('a' + i))
		if id == oidNumeric {
			columns[i].mod = 15<<16 | 2 + 4
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	in := &batch.Batch{}
	in.Reset(newSchema(untyped(names...)...))
	for i := range 8000 {
		var line strings.Builder
		fmt.Fprintf(&line, "%d,%d,%d,%d,%d.00,%d.%02d,0.%02d,0.%02d,N,O", i/4*8, random.IntN(2e6), random.IntN(1e5), i%4, random.IntN(50), random.IntN(1e5), random.IntN(100), random.IntN(11), random.IntN(9))
		for range 3 {
			fmt.Fprintf(&line, ",199%d-%02d-%02d", random.IntN(10), 1+random.IntN(12), 1+random.IntN(28))
		}
		line.WriteString(",DELIVER IN PERSON,TRUCK," + "carefully final deposits of the most even sort"[:10+random.IntN(30)])
		for cell := range strings.SplitSeq(line.String(), ",") {
			in.Append([]byte(cell))
		}
	}
	in.Seal()
	for _, valid := range []bool{false, true} {
		b.Run(fmt.Sprintf("valid=%t", valid), func(b *testing.B) { encodeAll(b, columns, []*batch.Batch{in}, valid) })
	}
}

// encodeAll encodes batches of which it is known, or not, that they are UTF-8.
func encodeAll(b *testing.B, columns []*column, list []*batch.Batch, valid bool) {
	e := newRowEncoder(columns, 150000)
	rows := 0
	var buf []byte
	b.ReportAllocs()
	start := cpuTime(b)
	for b.Loop() {
		rows = 0
		for _, in := range list {
			in.ValidUTF8 = valid
			buf = buf[:0]
			e.begin(in)
			for i := range in.Rows {
				var err error
				if buf, _, err = e.row(buf, in, i); err != nil {
					b.Fatal(err)
				}
			}
			rows += in.Rows
		}
	}
	b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N)/float64(rows), "cpu-ns/row")
}

// cpuTime is the processor time that this process has taken, which says more
// than the clock on a busy machine.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	check(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkEncodeNarrow(b *testing.B) {
	e := newRowEncoder([]*column{{typ: &typeInfo{oid: oidInt8, kind: 'b'}, mod: -1}, {typ: &typeInfo{oid: oidFloat8, kind: 'b'}, mod: -1}, {typ: &typeInfo{oid: oidTimestamp, kind: 'b'}, mod: -1}}, 150000)
	in := &batch.Batch{}
	in.Reset(newSchema(untyped("a", "b", "c")...))
	for i := range 8000 {
		in.Append(fmt.Append(nil, i*7919))
		in.Append(fmt.Append(nil, float64(i)/7))
		in.Append(fmt.Appendf(nil, "2024-01-%02d 13:%02d:59.%03d", i%28+1, i%60, i%999))
	}
	in.Seal()
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = buf[:0]
		for i := range in.Rows {
			var err error
			if buf, _, err = e.row(buf, in, i); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8000, "ns/row")
}

func BenchmarkRead(b *testing.B) {
	pg := testenv.Postgres(b)
	url := pg.Database(b)
	pg.Exec(b, url, lineitem)
	pg.Exec(b, url, fmt.Sprintf(lineitemRows, 200000))
	s := openSource(b, url, "li")
	schema := must(s.Schema(b.Context()))(b)
	e := must(s.Enumerate(b.Context(), "", 0, connector.Want{Ordered: true}))(b)
	in := &batch.Batch{}
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		rd := must(s.Open(b.Context(), e.Splits[0], ""))(b)
		for {
			in.Reset(schema)
			if err := rd.Next(b.Context(), in); err != nil {
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
				break
			}
		}
		check(b, rd.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200000, "ns/row")
}

func BenchmarkDecode(b *testing.B) {
	pg := testenv.Postgres(b)
	url := pg.Database(b)
	pg.Exec(b, url, lineitem)
	pg.Exec(b, url, fmt.Sprintf(lineitemRows, 8000))
	s := openSource(b, url, "li")
	sh := must(s.resolve(b.Context()))(b)
	var lines [][]byte
	for _, in := range readBatches(b, s) {
		for i := range in.Rows {
			var line []byte
			for c := range in.Columns {
				if c > 0 {
					line = append(line, '\t')
				}
				line = append(line, in.Columns[c].Cell(i)...)
			}
			lines = append(lines, append(line, '\n'))
		}
	}
	d := newRowDecoder(sh.columns, nil)
	in := &batch.Batch{}
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		in.Reset(sh.schema)
		for _, line := range lines {
			check(b, d.decode(in, line))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(lines)), "ns/row")
}

// One line by itself, without what the memory of many does.
func BenchmarkDecodeLine(b *testing.B) {
	text := column{name: "v", typ: &typeInfo{oid: oidText, kind: 'b'}}
	cols := make([]column, 16)
	names := make([]string, 16)
	for i := range cols {
		cols[i] = text
		names[i] = string(rune('a' + i))
	}
	d := newRowDecoder(cols, nil)
	line := []byte("1\t1736174\t90338\t1\t37.00\t34785.92\t0.09\t0.08\tA\tF\t1993-06-30\t1993-07-05\t1993-07-03\tTAKE BACK RETURN\tREG AIR\tideas among blithely\n")
	in := &batch.Batch{}
	sch := newSchema(untyped(names...)...)
	in.Reset(sch)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%5000 == 0 {
			in.Reset(sch)
		}
		if err := d.decode(in, line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	pg := testenv.Postgres(b)
	url := pg.Database(b)
	pg.Exec(b, url, lineitem+"; CREATE UNLOGGED TABLE t (LIKE li)")
	pg.Exec(b, url, fmt.Sprintf(lineitemRows, 200000))
	s := openSource(b, url, "li")
	list := readBatches(b, s)
	w := openWriter(b, url, must(s.Schema(b.Context()))(b), 1)
	state := connector.SplitState{}
	b.ResetTimer()
	b.ReportAllocs()
	for b.Loop() {
		for _, in := range list {
			// The writer's release gives it to a pool that nobody asks.
			check(b, w.Write(b.Context(), in))
		}
		check(b, w.Flush(b.Context()))
		var err error
		state, err = w.Commit(b.Context(), state)
		check(b, err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200000, "ns/row")
}
