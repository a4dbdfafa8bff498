package postgres

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// allTypes makes a table of every kind of type with values that other tools
// have been known to change.
const allTypes = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'so glad'); CREATE DOMAIN price AS numeric(10,2) CHECK (value > 0);
CREATE TABLE src (id int PRIMARY KEY, b bool, i2 smallint, i8 bigint, f4 real, f8 double precision, n numeric, np numeric(17,2), nn numeric(5,-2), p price,
  t text, v varchar(5), c char(4), nm name, ch "char", ba bytea, d date, ti time(3), tz timetz, ts timestamp, tstz timestamptz, iv interval, u uuid, j json, jb jsonb,
  bi bit(3), vb varbit, m mood, ai int[], at text[], ab bool[], an numeric(10,2)[], au uuid[], aba bytea[], am mood[], ap price[], ats timestamptz[], o oid EXTRA);
INSERT INTO src (id) VALUES (0);
INSERT INTO src VALUES
(1, true, -32768, -9223372036854775808, 1e-45, 5e-324, 12345678901234567890.50, 99999999999999.99, 12300, 7.10,
 E'tab\t back\\slash\nline\r\b\f\v ünïcödé 😀', 'ähöüß', 'ab', 'name', 'x', '\x00ff5c0a', '0044-03-15 BC', '23:59:59.999', '12:00:00.5+05:30', '0044-03-15 10:00:00 BC', '0044-03-15 10:00:00+00 BC',
 '-1 year 2 mons -3 days 04:05:06.789', 'f47ac10b-58cc-4372-a567-0e02b2c3d479', '{"b": 1,  "a": [1.0, null]}', '{"b": 1, "a": [1.0, null]}', '101', '', 'so glad',
 '{{1,NULL},{3,4}}', ARRAY['', 'NULL', NULL, 'a"b\c', '{x}', 'ü'], '{t,f,NULL}', '{1.50,NULL}', '{f47ac10b-58cc-4372-a567-0e02b2c3d479}', ARRAY['\x00ff'::bytea, '\x'], '{so glad,sad}', '{1.25}', '{2024-01-01 00:00:00+00,infinity}', 4294967295),
(2, false, 32767, 9223372036854775807, 'NaN', '-Infinity', 'NaN', 0, -100, 0.01, '', '', '', '', '', '', 'infinity', '24:00:00', '00:00:00-15:59', 'infinity', '-infinity',
 '0', '00000000-0000-0000-0000-000000000000', '"x"', 'null', '000', '1', 'sad', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', 0),
(3, NULL, 0, 0, -0.0, -0.0, 'Infinity', -0.01, 0, 1, 'x', 'y', 'zzzz', 'n', 'q', '\x01', '5874897-12-31', '00:00', '24:00:00+00', '294276-12-31 23:59:59.999999', '4714-11-24 00:00:00+00 BC',
 '178000000 years', gen_random_uuid(), '[]', '{}', '111', '0101010101', 'ok', '[0:1][2:3]={{1,2},{3,4}}', ARRAY[E'\t\n'], '{{t},{f}}', '{NaN}', NULL, NULL, NULL, NULL, NULL, NULL),
(4, true, 1, 1, 3.4028235e38, 1.7976931348623157e308, 0.00000000000000000000001, 1.5, 99900, 3, 'a', 'b', 'c', 'd', 'e', '\x02', '1969-07-20', '12:34:56.789', '12:34:56.789123+01', '1969-12-31 23:59:59.5', '1969-12-31 23:59:59.5+00',
 '-00:00:00.5', gen_random_uuid(), '1e5', '1e5', '010', '1', 'ok', '{1}', '{a}', '{t}', '{0}', '{}', '{}', '{ok}', '{0.5}', '{epoch}', 1)`

// transfer copies a source into a sink as the engine does, without
// conversions: by cells, or with packed rows.
func transfer(t *testing.T, s *Source, k *Sink, run connector.Run, packed bool) []string {
	t.Helper()
	in := must(s.Schema(t.Context()))(t)
	must(k.Resolve(t.Context(), in))(t)
	check(t, k.Prepare(t.Context(), run))
	list := splits(t, s, connector.Want{Parallelism: 2})
	check(t, k.Register(t.Context(), run, list))
	var rejected []string
	var states []connector.SplitState
	var pool batch.Pool
	for _, split := range list {
		dirty := int64(0)
		w, state, err := k.Claim(t.Context(), connector.Attempt{Run: run, Split: split, Token: 1, Reject: func(_ *batch.Batch, _ int, column string, _ batch.Cause, reason string) {
			rejected = append(rejected, column+": "+reason)
			dirty++
		}})
		check(t, err)
		var rd connector.Reader
		if packed {
			rd = openPacked(t, s, w, split, in.Names())
		} else {
			rd = must(s.Open(t.Context(), split, state.Position))(t)
		}
		for {
			b := pool.Get(in)
			if err = rd.Next(t.Context(), b); err != nil {
				break
			}
			state.Counters.Read += b.Read
			state.Counters.BytesRead += b.Bytes
			check(t, w.Write(t.Context(), b))
		}
		if !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		state = commit(t, w, state, 0, true, func() int64 { return dirty })
		states = append(states, state)
		check(t, rd.Close())
		check(t, w.Close())
	}
	check(t, k.Finish(t.Context(), run, states))
	return rejected
}

// Every type arrives as it was, by the binary way and, with a column that has
// none, by the text way; into a table that is there and into one that is made.
func TestAllTypes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		extra, target string
		mode          string
	}{
		"binary":          {"", "CREATE TABLE t (LIKE src INCLUDING ALL)", "append"},
		"text":            {", r int4range, i inet, mo money, xm xml, tsv tsvector, pt point, cm src0", "CREATE TABLE t (LIKE src INCLUDING ALL)", "append"},
		"created":         {"", "", "append"},
		"created as text": {", r int4range, i inet", "", "overwrite"},
		"upsert":          {"", "CREATE TABLE t (LIKE src INCLUDING ALL)", "upsert"},
		"overwrite":       {"", "CREATE TABLE t (LIKE src INCLUDING ALL)", "overwrite"},
	} {
		t.Run(name, func(t *testing.T) {
			setup := "CREATE TYPE src0 AS (a int, b text);" + strings.Replace(allTypes, " EXTRA", c.extra, 1)
			if strings.Contains(c.extra, "cm src0") {
				setup += `; UPDATE src SET r = '[1,5)', i = '10.0.0.1/8', mo = '12.34', xm = '<a/>', tsv = 'a:1 b', pt = '(1.5,2)', cm = ROW(1, 'a,"b')`
			}
			r := newRig(t, setup+"; "+c.target, map[string]any{"mode": c.mode})
			rr := &readRig{t: t, pg: r.pg, url: r.url}
			s := rr.source(map[string]any{"table": "src"}, connector.SourceEnv{})
			if rejected := transfer(t, s, r.sink, r.run, false); len(rejected) > 0 {
				t.Errorf("rejected: %q", rejected)
			}
			got, want := r.rows("SELECT * FROM t ORDER BY id"), r.rows("SELECT * FROM src ORDER BY id")
			if !slices.Equal(got, want) {
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Errorf("\n got %s\nwant %s", got[i], want[i])
					}
				}
			}
			if c.target == "" && name == "created" {
				r.expect("SELECT attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_attribute b USING (attname) WHERE a.attrelid = 't'::regclass AND b.attrelid = 'src'::regclass AND a.attnum > 0 AND b.attnum > 0 AND (format_type(a.atttypid, a.atttypmod), a.attnotnull) IS DISTINCT FROM (format_type(b.atttypid, b.atttypmod), b.attnotnull) ORDER BY a.attnum",
					"p|numeric(10,2)", "nm|character varying(63)", "ch|character varying(1)", "ap|numeric(10,2)[]", "o|bigint")
			}
		})
	}
}

// The reader's texts are the canonical ones.
func TestCanonicalTexts(t *testing.T) {
	t.Parallel()
	r := newReadRig(t, `CREATE TABLE t (b bool, tz timetz, ba bytea, ab bool[], ts timestamptz, iv interval, f float8)`+
		`; INSERT INTO t VALUES (true, '12:00:00.500+02', '\x00ff', '{{t,NULL},{f,t}}', '2024-03-10 02:30:00.100+05:30', '1 year 2 mons 3 days 04:05:06.7', 1e20)`)
	s := r.source(map[string]any{"table": "t"}, connector.SourceEnv{})
	got := readAll(t, s, connector.Want{})
	want := []string{"true|12:00:00.5+02:00|\x00\xff|{{true,NULL},{false,true}}|2024-03-09 21:00:00.1+00|P1Y2M3DT4H5M6.7S|1e+20"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
