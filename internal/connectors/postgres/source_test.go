package postgres

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/testenv"
)

// read is a source on a database of its own.
type readRig struct {
	t   *testing.T
	pg  *testenv.PostgresServer
	url string
}

func newReadRig(t *testing.T, setup string) *readRig {
	t.Helper()
	pg := testenv.Postgres(t)
	r := &readRig{t: t, pg: pg, url: pg.Database(t)}
	pg.Exec(t, r.url, setup)
	return r
}

func (r *readRig) source(options map[string]any, env connector.SourceEnv) *Source {
	r.t.Helper()
	values := map[string]any{"url": r.url}
	maps.Copy(values, options)
	o := new(SourceOptions)
	if err := option.Parse(values, o); err != nil {
		r.t.Fatalf("options: %v", err)
	}
	s := must(newSource(o, env))(r.t)
	r.t.Cleanup(func() { _ = s.Close() })
	return s
}

// splits enumerates to the end.
func splits(t *testing.T, s *Source, want connector.Want) []connector.Split {
	t.Helper()
	var all []connector.Split
	var at connector.Cursor
	for {
		e := must(s.Enumerate(t.Context(), at, connector.SplitID(len(all)), want))(t)
		all = append(all, e.Splits...)
		if e.Done {
			break
		}
		at = e.Next
	}
	for i, split := range all {
		if split.ID != connector.SplitID(i) {
			t.Errorf("split %d has the id %d", i, split.ID)
		}
	}
	return all
}

// readSplit reads a split from a position on; each row is its cells between bars.
// With resume it goes on with a new reader after each batch that it can.
func readSplit(t *testing.T, s *Source, split connector.Split, resume bool) []string {
	t.Helper()
	schema := must(s.Schema(t.Context()))(t)
	var pool batch.Pool
	var rows []string
	rd := must(s.Open(t.Context(), split, ""))(t)
	defer func() { check(t, rd.Close()) }()
	for {
		b := pool.Get(schema)
		err := rd.Next(t.Context(), b)
		if errors.Is(err, io.EOF) {
			return rows
		}
		check(t, err)
		for i := range b.Rows {
			cells := make([]string, len(b.Columns))
			for c := range b.Columns {
				cells[c] = "NULL"
				if cell := b.Columns[c].Cell(i); cell != nil {
					cells[c] = string(cell)
				}
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		b.Release()
		if pos, ok := rd.Position(); ok && resume {
			check(t, rd.Close())
			rd = must(s.Open(t.Context(), split, pos))(t)
		}
	}
}

func readAll(t *testing.T, s *Source, want connector.Want) []string {
	t.Helper()
	var rows []string
	for _, split := range splits(t, s, want) {
		rows = append(rows, readSplit(t, s, split, true)...)
	}
	return rows
}

// expectRows compares with what psql would see.
func (r *readRig) expectRows(got []string, query string) {
	r.t.Helper()
	want := r.pg.Lines(r.t, r.url, query)
	got = slices.Sorted(slices.Values(got))
	slices.Sort(want)
	if len(got) != len(want) {
		r.t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			r.t.Errorf("row %q, want %q", got[i], want[i])
			return
		}
	}
}

// Rule: splits have open outer ranges, and each row is read once.
func TestKeySplits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ setup, order string }{
		"int":       {"CREATE TABLE t (id bigint PRIMARY KEY, v text); INSERT INTO t SELECT 5000000000 + i * 7, 'v' || i FROM generate_series(1, 1000) i", "id"},
		"uuid":      {"CREATE TABLE t (id uuid PRIMARY KEY, v text); INSERT INTO t SELECT gen_random_uuid(), i FROM generate_series(1, 1000) i", "id"},
		"text":      {`CREATE TABLE t (id text COLLATE "de-x-icu" PRIMARY KEY, v text); INSERT INTO t SELECT (ARRAY['a','B','b','é','中','','O''Brien','\x','tab	'])[i % 9 + 1] || i, i FROM generate_series(1, 1000) i`, "id"},
		"composite": {"CREATE TABLE t (a int, b text, v int, PRIMARY KEY (b, a)); INSERT INTO t SELECT i % 30, i / 30, i FROM generate_series(1, 1000) i", "b, a"},
		"time":      {"CREATE TABLE t (id timestamptz PRIMARY KEY, v int); INSERT INTO t SELECT '2024-01-01'::timestamptz + i * interval '1.000001 s', i FROM generate_series(1, 998) i; INSERT INTO t VALUES ('infinity', 0), ('-infinity', 0), ('0044-03-15 BC', 0)", "id"},
		"numeric":   {"CREATE TABLE t (id numeric PRIMARY KEY, v int); INSERT INTO t SELECT i / 7.0, i FROM generate_series(1, 998) i; INSERT INTO t VALUES ('NaN', 0), ('Infinity', 0)", "id"},
		"bytea":     {"CREATE TABLE t (id bytea PRIMARY KEY, v int); INSERT INTO t SELECT int4send(i * 77), i FROM generate_series(1, 1000) i", "id"},
		"char":      {"CREATE TABLE t (id char(6) PRIMARY KEY, v int); INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i", "id"},
		"bits":      {"CREATE TABLE t (id bit(12) PRIMARY KEY, v int); INSERT INTO t SELECT i::bit(12), i FROM generate_series(1, 1000) i", "id"},
		"enum":      {"CREATE TYPE e AS ENUM ('z', 'a', 'm'); CREATE TABLE t (a e, b int, PRIMARY KEY (a, b)); INSERT INTO t SELECT (ARRAY['z','a','m'])[i % 3 + 1]::e, i FROM generate_series(1, 1000) i", "a, b"},
		"upper":     {`CREATE SCHEMA "S"; CREATE TABLE t (x int); CREATE TABLE "S"."T" ("Select" int PRIMARY KEY, v int); INSERT INTO "S"."T" SELECT i, i FROM generate_series(1, 1000) i`, `"Select"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReadRig(t, c.setup+"; SET bytea_output = hex")
			table := "t"
			if name == "upper" {
				table = "S.T"
			}
			s := r.source(map[string]any{"table": table, "split_rows": 137}, connector.SourceEnv{})
			if n := len(splits(t, s, connector.Want{Parallelism: 2})); n != 8 {
				t.Errorf("%d splits, want 8", n)
			}
			quoted := must(parseName(table))(t).String()
			query := "SET TimeZone = 'UTC'; SELECT * FROM " + quoted
			if name == "bytea" {
				got := readAll(t, s, connector.Want{})
				if len(got) != 1000 {
					t.Errorf("%d rows", len(got))
				}
				slices.Sort(got)
				if len(slices.Compact(got)) != 1000 {
					t.Error("rows were read twice")
				}
				return
			}
			r.expectRows(readAll(t, s, connector.Want{}), query)
			ordered := splits(t, s, connector.Want{Ordered: true})
			if len(ordered) != 1 {
				t.Fatalf("%d splits where one is wanted", len(ordered))
			}
			got := readSplit(t, s, ordered[0], true)
			want := r.pg.Lines(t, r.url, query+" ORDER BY "+c.order)
			if !slices.Equal(got, want) {
				t.Errorf("in the key's order: %d rows differ from %d", len(got), len(want))
			}
		})
	}
}

// Rows whose key is NULL are a split, and in no other one: also where one range
// holds all the rest.
func TestKeysThatAreNull(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE t (id int, v int); INSERT INTO t SELECT NULLIF(i % 7, 0) * i, i FROM generate_series(1, 1000) i; CREATE INDEX ON t (id);"+
		"CREATE TABLE nulls (id int, v int); INSERT INTO nulls SELECT NULL, i FROM generate_series(1, 10) i; CREATE TABLE empty (id int, v int)")
	for _, table := range []string{"t", "nulls", "empty"} {
		for _, options := range []map[string]any{
			{"table": table, "key": "id"},
			{"table": table, "key": "id", "split_rows": 137},
			{"table": table, "key": "id", "split_rows": 5000},
			{"query": "SELECT * FROM " + table, "key": "id"},
			{"query": "SELECT * FROM " + table, "key": "id", "split_rows": 137},
		} {
			s := r.source(options, connector.SourceEnv{})
			for _, want := range []connector.Want{{Parallelism: 2}, {Ordered: true}} {
				r.expectRows(readAll(t, s, want), "SELECT * FROM "+table)
			}
		}
	}
}

func TestTIDSplits(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE t (a int, v text); INSERT INTO t SELECT i, repeat('x', 500) FROM generate_series(1, 20000) i; DELETE FROM t WHERE a % 3 = 0")
	s := r.source(map[string]any{"table": "t", "split_size": "1MiB"}, connector.SourceEnv{})
	list := splits(t, s, connector.Want{Parallelism: 4})
	if len(list) < 9 {
		t.Errorf("%d splits", len(list))
	}
	r.expectRows(readAll(t, s, connector.Want{}), "SELECT * FROM t")
	rd := must(s.Open(t.Context(), list[0], ""))(t)
	if _, ok := rd.Position(); ok {
		t.Error("a split by blocks has a position")
	}
	check(t, rd.Close())
	r.pg.Exec(t, r.url, "VACUUM FULL t")
	_, err := s.Open(t.Context(), list[1], "")
	expectClass(t, err, connector.Permanent, "rewritten", "--restart")
}

func TestKindsOfRelations(t *testing.T) {
	t.Parallel()
	const rows = "SELECT i, i % 3, repeat('x', 100) FROM generate_series(1, 3000) i"
	for name, c := range map[string]struct {
		setup   string
		options map[string]any
		splits  int // at least
	}{
		"partitioned":  {"CREATE TABLE t (a int, b int, v text) PARTITION BY LIST (b); CREATE TABLE t0 PARTITION OF t FOR VALUES IN (0); CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 (v text, b int, a int); ALTER TABLE t ATTACH PARTITION t2 FOR VALUES IN (2)", map[string]any{"table": "t"}, 3},
		"with key":     {"CREATE TABLE t (a int, b int, v text, PRIMARY KEY (b, a)) PARTITION BY LIST (b); CREATE TABLE t0 PARTITION OF t DEFAULT", map[string]any{"table": "t", "split_rows": 1000}, 3},
		"heirs":        {"CREATE TABLE p (a int PRIMARY KEY, b int, v text); CREATE TABLE t (x int) INHERITS (p); ALTER TABLE t ALTER x SET DEFAULT 1; INSERT INTO p VALUES (1, 1, 'p'), (5, 1, 'q')", map[string]any{"table": "p"}, 2},
		"view":         {"CREATE TABLE t (a int, b int, v text); CREATE VIEW w AS SELECT * FROM t", map[string]any{"table": "w"}, 1},
		"view by key":  {"CREATE TABLE t (a int, b int, v text); CREATE VIEW w AS SELECT * FROM t", map[string]any{"table": "w", "key": "a", "split_rows": 500}, 7},
		"query":        {"CREATE TABLE t (a int, b int, v text)", map[string]any{"query": "SELECT * FROM t -- all\n;"}, 1},
		"query by key": {"CREATE TABLE t (a int, b int, v text)", map[string]any{"query": "SELECT * FROM t", "key": []string{"b", "a"}, "split_rows": 500}, 4},
		"null keys":    {"CREATE TABLE t (a int UNIQUE, b int, v text); INSERT INTO t VALUES (NULL, 1, 'n'), (NULL, 2, 'm')", map[string]any{"table": "t", "key": "a", "split_rows": 1000}, 4},
		"many alike":   {"CREATE TABLE t (a int, b int, v text)", map[string]any{"table": "t", "key": "b", "split_rows": 100}, 3},
		"row security": {"CREATE TABLE t (a int PRIMARY KEY, b int, v text); ALTER TABLE t ENABLE ROW LEVEL SECURITY", map[string]any{"table": "t", "split_rows": 700}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReadRig(t, c.setup+"; INSERT INTO t (a, b, v) "+rows)
			s := r.source(c.options, connector.SourceEnv{})
			if n := len(splits(t, s, connector.Want{Parallelism: 2})); n < c.splits {
				t.Errorf("%d splits, want at least %d", n, c.splits)
			}
			from, _ := c.options["table"].(string)
			if from == "" {
				from = "t"
			}
			r.expectRows(readAll(t, s, connector.Want{Parallelism: 2}), "SELECT a, b, v FROM "+from)
			r.expectRows(readAll(t, s, connector.Want{Ordered: true}), "SELECT a, b, v FROM "+from)
			s = r.source(c.options, connector.SourceEnv{Where: "a = 1 OR b = 2 -- and so on", Columns: []string{"v", "b"}})
			r.expectRows(readAll(t, s, connector.Want{Parallelism: 2}), "SELECT b, v FROM "+from+" WHERE a = 1 OR b = 2")
		})
	}
}

func TestEmptyTable(t *testing.T) {
	t.Parallel()
	for _, setup := range []string{"CREATE TABLE t (a int PRIMARY KEY)", "CREATE TABLE t (a int)"} {
		s := newReadRig(t, setup).source(map[string]any{"table": "t"}, connector.SourceEnv{})
		if rows := readAll(t, s, connector.Want{Parallelism: 4}); len(rows) != 0 {
			t.Errorf("rows: %q", rows)
		}
	}
}

func TestSourceMistakes(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE t (a int)")
	for name, c := range map[string]struct {
		options map[string]any
		where   string
		word    string
	}{
		"no table":     {map[string]any{"table": "Nope"}, "", `"Nope" does not exist`},
		"bad where":    {map[string]any{"table": "t"}, "zz > 1", "zz"},
		"open where":   {map[string]any{"table": "t"}, "a > 1) OR (true", "where"},
		"bad query":    {map[string]any{"query": "SELECT FROM FROM"}, "", "query"},
		"same names":   {map[string]any{"query": "SELECT 1 AS a, 2 AS a"}, "", "two columns the name a"},
		"no such key":  {map[string]any{"table": "t", "key": "b"}, "", "no column b"},
		"a parameter":  {map[string]any{"query": "SELECT $1::int"}, "", "parameters"},
		"not a table":  {map[string]any{"table": "pg_class_oid_index"}, "", "no table"},
		"no such key2": {map[string]any{"query": "SELECT 1 AS a", "key": "b"}, "", "no column b"},
	} {
		s := r.source(c.options, connector.SourceEnv{Where: c.where})
		_, err := s.Schema(t.Context())
		t.Log(name)
		expectClass(t, err, connector.Usage, c.word)
	}
}

// Rule 12: a connection that ends early is an error, never the end.
func TestCutReader(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE t (a int, v text); INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i")
	proxy := testenv.NewProxy(t, r.pg.Addr())
	direct := r.url
	r.url = testenv.PostgresURL(proxy.Addr(), direct[strings.LastIndex(direct, "/")+1:strings.Index(direct, "?")])
	s := r.source(map[string]any{"table": "t"}, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	var pool batch.Pool
	for _, style := range []testenv.CutStyle{testenv.Reset, testenv.Finish} {
		proxy.Style(style)
		for i := range 4 {
			split := splits(t, s, connector.Want{Ordered: true})[0]
			rd := must(s.Open(t.Context(), split, ""))(t)
			proxy.CutAfter(testenv.ToClient, int64(3_000_000+i*777_777))
			var err error
			for err == nil {
				b := pool.Get(schema)
				err = rd.Next(t.Context(), b)
				b.Release()
			}
			if errors.Is(err, io.EOF) {
				t.Error("a cut looks like the end")
			}
			expectClass(t, err, connector.Retryable)
			check(t, rd.Close())
		}
	}
}

func TestCloseWhileReading(t *testing.T) {
	r := newReadRig(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	s := r.source(map[string]any{"query": "SELECT a, pg_sleep(100000)::text AS s FROM t"}, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	rd := must(s.Open(t.Context(), splits(t, s, connector.Want{})[0], ""))(t)
	failed := make(chan error)
	var pool batch.Pool
	go func() { failed <- rd.Next(t.Context(), pool.Get(schema)) }()
	check(t, rd.Close())
	if err := <-failed; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("Next after Close: %v", err)
	}
	r.awaitNoCopy()
}

// The server stops working for a reader that died without a word.
func TestDeadReader(t *testing.T) {
	r := newReadRig(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1)")
	s := r.source(map[string]any{"query": "SELECT a, pg_sleep(100000)::text AS s FROM t"}, connector.SourceEnv{})
	rd := must(s.Open(t.Context(), splits(t, s, connector.Want{})[0], ""))(t)
	check(t, rd.(*reader).session.Conn().Close())
	r.awaitNoCopy()
	check(t, rd.Close())
}

// awaitNoCopy waits until the server works for no reader.
func (r *readRig) awaitNoCopy() {
	r.t.Helper()
	for testenv.Value[int](r.t, r.url, "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active' AND datname = current_database()") > 0 {
		runtime.Gosched() // the query would run on for a day
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, `CREATE DOMAIN price AS numeric(8,2) CHECK (value >= 0); CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE t (a smallint NOT NULL, b varchar(10), c price, d mood, e int[], f timestamptz(3), g numeric, h char(3), i bit(5), j jsonb, k int4range, l "char", m numeric(5,-2), n varbit(9), o interval(0), UNIQUE (b), UNIQUE (a))`)
	s := r.source(map[string]any{"table": "t"}, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	var got []string
	for _, f := range schema.Fields {
		got = append(got, fmt.Sprintf("%s %s %t", f.Name, f.Type, f.NotNull))
	}
	want := []string{
		"a int16 true", "b text(10) false", "c decimal(8,2) false", "d mood false", "e array of int32 false", "f instant(3) false", "g decimal false",
		"h text(3) false", "i bit(5) false", "j json false", "k int4range false", "l text(1) false", "m decimal(5,-2) false", "n bit(9) false", "o interval(0) false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !slices.Equal(schema.Key, []string{"a"}) {
		t.Errorf("key: %q", schema.Key)
	}
}

// A materialized view is read by blocks; one that is refreshed meanwhile is
// another.
func TestMaterializedView(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, "CREATE TABLE base (id int, v text); INSERT INTO base SELECT i, repeat('x', 500) FROM generate_series(1, 3000) i; CREATE MATERIALIZED VIEW m AS SELECT * FROM base")
	s := r.source(map[string]any{"table": "m", "split_rows": 500}, connector.SourceEnv{})
	r.expectRows(readAll(t, s, connector.Want{Parallelism: 2}), "SELECT * FROM m")
	list := splits(t, s, connector.Want{Parallelism: 2})
	if len(list) < 2 {
		t.Errorf("%d splits", len(list))
	}
	r.pg.Exec(t, r.url, "REFRESH MATERIALIZED VIEW m")
	_, err := s.Open(t.Context(), list[0], "")
	expectClass(t, err, connector.Permanent, "rewritten")
}
