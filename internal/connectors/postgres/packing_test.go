package postgres

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// packable are the columns of src whose binary form is known.
const packable = `id, b, i2, i8, f4, f8, n, np, nn, p, t, v, c, ba, d, ti, tz, ts, tstz, u, j, jb, m`

// openPacked opens a split for packed rows, which the writer has to take.
func openPacked(t *testing.T, s *Source, w connector.Writer, split connector.Split, fields []string) connector.Reader {
	t.Helper()
	p := must(s.Packing(t.Context(), fields))(t)
	if p == nil || w != nil && !w.(connector.PackedWriter).TakesPacked(p) {
		t.Fatalf("no packed rows of %v", fields)
	}
	return must(s.OpenPacked(t.Context(), split, "", p))(t)
}

// readCells reads to the end and returns each row's cells between bars and the
// last position.
func readCells(t *testing.T, s *Source, rd connector.Reader) (rows []string, last connector.Position) {
	t.Helper()
	in := must(s.Schema(t.Context()))(t)
	var pool batch.Pool
	for {
		b := pool.Get(in)
		if err := rd.Next(t.Context(), b); errors.Is(err, io.EOF) {
			check(t, rd.Close())
			return rows, last
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			var row strings.Builder
			for _, cell := range b.Row(i) {
				if cell == nil {
					row.WriteString("NULL|")
				} else {
					fmt.Fprintf(&row, "%s|", cell)
				}
			}
			rows = append(rows, row.String())
		}
		last, _ = rd.Position()
		b.Release()
	}
}

const packableTable = "CREATE TABLE p AS SELECT " + packable + " FROM src; ALTER TABLE p ADD PRIMARY KEY (id)"

// numbers are what numeric's groups of four digits are told apart by.
const numbers = `; CREATE TABLE numbers (id int PRIMARY KEY, n numeric); INSERT INTO numbers SELECT row_number() OVER (), x FROM
  (SELECT unnest(ARRAY[0, 0.0, 1, 10, 9999, 10000, 10001, 99990000, 0.1, 0.0001, 0.00001, 0.00010000, 1.0000, 10000.0001, -0.5, 1e-20, 1e20, 1e100, 123456789.987654321, 'NaN', 'Infinity', '-Infinity']::numeric[]) x
   UNION ALL SELECT (random() * 10 ^ (i % 30 - 15))::numeric(40, 20) * (-1) ^ i FROM generate_series(1, 500) i) q`

// A packed row has the cells and the position that it has otherwise, so that
// an attempt may go on either way and dirty records look the same.
func TestPackedRowsHaveTheSameCells(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TYPE src0 AS (a int, b text);"+strings.Replace(allTypes, " EXTRA", "", 1)+";"+packableTable+numbers)
	for _, table := range []string{"p", "numbers"} {
		s := r.source(map[string]any{"table": table}, connector.SourceEnv{})
		in := must(s.Schema(t.Context()))(t)
		for _, split := range splits(t, s, connector.Want{Parallelism: 1}) {
			want, wantLast := readCells(t, s, must(s.Open(t.Context(), split, ""))(t))
			got, gotLast := readCells(t, s, openPacked(t, s, nil, split, in.Names()))
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%s: %d packed rows, %d otherwise", table, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s:\n got %s\nwant %s", table, got[i], want[i])
				}
			}
			if gotLast != wantLast || gotLast == "" {
				t.Errorf("%s: the position after the packed rows is %q, otherwise %q", table, gotLast, wantLast)
			}
		}
	}
}

// Packed rows arrive as they were, in every mode.
func TestPackedRowsArrive(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"append", "overwrite", "truncate", "upsert"} {
		r := newRig(t, "CREATE TYPE src0 AS (a int, b text);"+strings.Replace(allTypes, " EXTRA", "", 1)+";"+packableTable+"; CREATE TABLE t (LIKE p INCLUDING ALL)", map[string]any{"mode": mode})
		s := (&readRig{t: t, pg: r.pg, url: r.url}).source(map[string]any{"table": "p"}, connector.SourceEnv{})
		if rejected := transfer(t, s, r.sink, r.run, true); len(rejected) > 0 {
			t.Errorf("%s: rejected: %q", mode, rejected)
		}
		if got, want := r.rows("SELECT * FROM t ORDER BY id"), r.rows("SELECT * FROM p ORDER BY id"); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", mode, got, want)
		}
	}
}

// Rule 13: a record that the server refuses is found, and told by its texts.
func TestPackedRowsThatAreDirty(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE src AS SELECT i AS id, 'n' || i AS name FROM generate_series(1, 3000) i; ALTER TABLE src ALTER id SET NOT NULL; "+
		"CREATE TABLE t (id int PRIMARY KEY, name text CHECK (name <> 'n77')); INSERT INTO t VALUES (5, 'here'), (2999, 'here')", nil)
	s := (&readRig{t: t, pg: r.pg, url: r.url}).source(map[string]any{"table": "src"}, connector.SourceEnv{})
	in := must(s.Schema(t.Context()))(t)
	must(r.sink.Resolve(t.Context(), in))(t)
	check(t, r.sink.Prepare(t.Context(), r.run))
	list := splits(t, s, connector.Want{Parallelism: 1})
	check(t, r.sink.Register(t.Context(), r.run, list))
	var dirty []string
	w, state, err := r.sink.Claim(t.Context(), connector.Attempt{Run: r.run, Split: list[0], Token: 1, Reject: func(b *batch.Batch, row int, _ string, _ batch.Cause, _ string) {
		cells := b.Row(row)
		dirty = append(dirty, fmt.Sprintf("%s %s", cells[0], cells[1]))
	}})
	check(t, err)
	rd := openPacked(t, s, w, list[0], in.Names())
	for {
		b := new(batch.Batch)
		b.Reset(in)
		if err := rd.Next(t.Context(), b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		state.Counters.Read += b.Read
		check(t, w.Write(t.Context(), b))
	}
	commit(t, w, state, 0, true, func() int64 { return int64(len(dirty)) })
	check(t, w.Close())
	check(t, rd.Close())
	slices.Sort(dirty)
	if want := []string{"2999 n2999", "5 n5", "77 n77"}; !slices.Equal(dirty, want) {
		t.Errorf("dirty %q, want %q", dirty, want)
	}
	r.expect("SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE name = 'here') FROM t", "2999|2999|2")
}

// Rows are packed only where every value would become the same by way of its
// text, and nothing is left for the server to refuse that is found here.
func TestWhenRowsArePacked(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE wider AS ENUM ('ok', 'sad', 'glad'); CREATE DOMAIN small AS numeric(5,2)", nil)
	for _, c := range []struct {
		from, to string
		packed   bool
	}{
		{"int", "int", true},
		{"int", "bigint", false},
		{"bigint", "int", false},
		{"numeric(15,2)", "numeric(15,2)", true},
		{"numeric(15,2)", "numeric", true},
		{"numeric", "numeric(15,2)", false},
		{"numeric(15,2)", "numeric(15,1)", false},
		{"small", "numeric(5,2)", true},
		{"numeric(5,2)", "small", true},
		{"numeric(6,2)", "small", false},
		{"varchar(10)", "varchar(10)", true},
		{"varchar(10)", "varchar", true},
		{"varchar(10)", "text", true},
		{"varchar(10)", "varchar(9)", false},
		{"char(4)", "text", true},
		{"text", "char(4)", false},
		{"text", "varchar(4)", false},
		{"mood", "text", true},
		{"mood", "mood", true},
		{"mood", "wider", true},
		{"wider", "mood", false},
		{"text", "mood", false},
		{"int NOT NULL", "int", true},
		{"int", "int NOT NULL", false},
		{"timestamptz", "timestamptz(3)", false},
		{"timestamptz(3)", "timestamptz", true},
		{"timestamp", "timestamptz", false},
		{"json", "jsonb", false},
		{"interval", "interval", false},
		{"int[]", "int[]", false},
	} {
		r.pg.Exec(t, r.url, fmt.Sprintf("DROP TABLE IF EXISTS src, t; CREATE TABLE src (a %s); CREATE TABLE t (a %s)", c.from, c.to))
		s := (&readRig{t: t, pg: r.pg, url: r.url}).source(map[string]any{"table": "src"}, connector.SourceEnv{})
		k := r.newSink(nil)
		must(k.Resolve(t.Context(), must(s.Schema(t.Context()))(t)))(t)
		target := must(k.current())(t)
		w := &writer{target: target, encoder: newRowEncoder(target.columns, target.server)}
		p := must(s.Packing(t.Context(), []string{"a"}))(t)
		if got := p != nil && w.TakesPacked(p); got != c.packed {
			t.Errorf("%s into %s: packed %t, want %t", c.from, c.to, got, c.packed)
		}
		check(t, s.Close())
		check(t, k.Close())
	}
}

// A key that is not among the fields cannot be found in packed rows.
func TestNoPackedRowsWithoutTheirKey(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE src (id int PRIMARY KEY, name text)")
	s := r.source(map[string]any{"table": "src"}, connector.SourceEnv{Columns: []string{"name"}})
	if p := must(s.Packing(t.Context(), []string{"name"}))(t); p != nil {
		t.Error("rows without their key are packed")
	}
}

// What a server would never send is an error, not a row.
func TestBrokenTuples(t *testing.T) {
	t.Parallel()
	p := newPacking([]column{{name: "a", typ: &typeInfo{oid: oidInt4}, mod: -1}, {name: "b", typ: &typeInfo{oid: oidText}, mod: -1}})
	good := "\x00\x02\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff"
	for name, message := range map[string]string{
		"no header":     good,
		"cut":           copyHeader + good[:len(good)-1],
		"cut value":     copyHeader + good[:8],
		"longer":        copyHeader + good + "\x00",
		"other columns": copyHeader + "\x00\x01\xff\xff\xff\xff",
		"after the end": copyHeader + copyTrailer + good,
	} {
		b := new(batch.Batch)
		b.Reset(newSchema(untyped("a", "b")...))
		if n, err := (&packedRows{packing: p}).take(b, []byte(message)); err == nil {
			t.Errorf("%s: %d rows and no error", name, n)
		}
	}
	b := new(batch.Batch)
	b.Reset(newSchema(untyped("a", "b")...))
	rows := &packedRows{packing: p}
	for _, message := range []string{copyHeader + good, good + good, copyTrailer} {
		must(rows.take(b, []byte(message)))(t)
	}
	rows.seal(b)
	if b.Rows != 3 || b.Bytes != 12 || !rows.ended {
		t.Errorf("%d rows of %d bytes, ended: %t", b.Rows, b.Bytes, rows.ended)
	}
	if cells := b.Row(2); string(cells[0]) != "1" || cells[1] != nil {
		t.Errorf("the row is %q", cells)
	}
}

// Packed batches are as small as asked for, with a position behind each, so that a
// job with a limit commits as often packed as with cells.
func TestPackedBatchesAsAskedFor(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE t AS SELECT i AS id, repeat('x', 90) AS v FROM generate_series(1, 3000) i; ALTER TABLE t ADD PRIMARY KEY (id)")
	s := r.source(map[string]any{"table": "t"}, connector.SourceEnv{})
	in := must(s.Schema(t.Context()))(t)
	for _, c := range []struct {
		most    batch.Bound
		batches int // at least
	}{{batch.Bound{}, 1}, {batch.Bound{Rows: 10}, 300}, {batch.Bound{Bytes: 1000}, 250}, {batch.Bound{Rows: 1, Bytes: 1 << 20}, 3000}} {
		rows, batches, last := 0, 0, connector.Position("")
		for _, split := range splits(t, s, connector.Want{Parallelism: 1, Ordered: true}) {
			rd := openPacked(t, s, nil, split, in.Names())
			for {
				b := new(batch.Batch)
				b.Reset(in)
				b.Most = c.most
				if err := rd.Next(t.Context(), b); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				pos, ok := rd.Position()
				if !ok || pos == last || c.most.Rows > 0 && b.Rows > c.most.Rows || c.most.Bytes > 0 && len(b.Buf) > c.most.Bytes+200 {
					t.Fatalf("%+v: %d rows of %d bytes, then position %q, %t", c.most, b.Rows, len(b.Buf), pos, ok)
				}
				last = pos
				rows += b.Rows
				batches++
			}
			check(t, rd.Close())
		}
		if rows != 3000 || batches < c.batches {
			t.Errorf("%+v: %d rows in %d batches", c.most, rows, batches)
		}
	}
}
