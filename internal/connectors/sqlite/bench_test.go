package sqlite

import (
	"errors"
	"io"
	"strconv"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

const benchRows = 8000

// benchSchema is 16 mixed columns, as in the measured jobs.
func benchSchema(t testing.TB) *batch.Schema {
	return fields(t, "a int64", "b int64", "c int64", "d int32", "e decimal(15,2)", "f decimal(15,2)", "g decimal(15,2)", "h decimal(15,2)",
		"i date", "j date", "k date", "l text", "m text", "n text", "o text", "p text")
}

func fillBench(b *batch.Batch, from int) {
	for row := from; row < from+benchRows; row++ {
		for c := range b.Schema.Fields {
			off := len(b.Buf)
			switch {
			case c < 4:
				b.Buf = strconv.AppendInt(b.Buf, int64(row*(c+1)), 10)
			case c < 8:
				b.Buf = append(strconv.AppendInt(b.Buf, int64(row*c), 10), ".25"...)
			case c < 11:
				b.Buf = append(b.Buf, "1995-07-21"...)
			default:
				b.Buf = append(b.Buf, "carefully final requests"[:c+4]...)
			}
			b.AppendFrom(off)
		}
	}
	b.Seal()
}

// BenchmarkWrite measures the sink, from batches in memory to the commit.
func BenchmarkWrite(b *testing.B) {
	ctx := b.Context()
	in := benchSchema(b)
	f := newFile(b)
	s := f.sink(nil, nil)
	run := connector.Run{ID: "r"}
	_, err := s.Resolve(ctx, in)
	if err = errors.Join(err, s.Prepare(ctx, run), s.Register(ctx, run, []connector.Split{{ID: 0}})); err != nil {
		b.Fatal(err)
	}
	w, state, err := s.Claim(ctx, connector.Attempt{Run: run, Token: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	var pool batch.Pool
	rows := 0
	b.ReportAllocs()
	for b.Loop() {
		bt := pool.Get(in)
		fillBench(bt, rows)
		if err := w.Write(ctx, bt); err != nil {
			b.Fatal(err)
		}
		if rows += benchRows; rows%(20*benchRows) == 0 {
			if state, err = w.Commit(ctx, state); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkRead measures the source, from the file to batches.
func BenchmarkRead(b *testing.B) {
	ctx := b.Context()
	in := benchSchema(b)
	f := newFile(b)
	bt := new(batch.Batch)
	bt.Reset(in)
	fillBench(bt, 0)
	if _, _, err := f.load(f.sink(nil, nil), "r", in, bt); err != nil {
		b.Fatal(err)
	}
	f.exec("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 12) INSERT INTO t SELECT t.* FROM t, n")
	s := NewSource(&SourceOptions{Path: f.path, Table: "t", SplitRows: 1 << 40}, connector.SourceEnv{})
	e, err := s.Enumerate(ctx, "", 0, connector.Want{})
	if err != nil {
		b.Fatal(err)
	}
	schema, err := s.Schema(ctx)
	if err != nil {
		b.Fatal(err)
	}
	rows := 0
	out := new(batch.Batch)
	b.ReportAllocs()
	for b.Loop() {
		r, err := s.Open(ctx, e.Splits[0], "")
		if err != nil {
			b.Fatal(err)
		}
		for {
			out.Reset(schema)
			if err := r.Next(ctx, out); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			rows += out.Rows
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}
