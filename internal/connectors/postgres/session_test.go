package postgres

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

const endOthers = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leat' AND datname = current_database()"

// Rule 12: a session that the server ends in the middle of a scan is never an end.
func TestEndedReader(t *testing.T) {
	r := newReadRig(t, "CREATE TABLE t (a int, v text); INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 30000) i")
	s := r.source(map[string]any{"table": "t"}, connector.SourceEnv{})
	schema := must(s.Schema(t.Context()))(t)
	rd := must(s.Open(t.Context(), splits(t, s, connector.Want{Ordered: true})[0], ""))(t)
	var pool batch.Pool
	b := pool.Get(schema)
	check(t, rd.Next(t.Context(), b))
	r.pg.Exec(t, r.url, endOthers)
	var err error
	for err == nil {
		b.Reset(schema)
		err = rd.Next(t.Context(), b)
	}
	if errors.Is(err, io.EOF) {
		t.Error("an ended session looks like the end")
	}
	expectClass(t, err, connector.Retryable)
	check(t, rd.Close())
	// The sessions kept for later are gone too; the next use makes new ones.
	r.expectRows(readAll(t, s, connector.Want{}), "SELECT * FROM t")
}

// Rule 4: a session that the server ends takes the attempt with it, and only it.
func TestEndedWriter(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(1)
	w, _ := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	r.pg.Exec(t, r.url, endOthers)
	expectClass(t, w.Flush(t.Context()), connector.Retryable)
	expectClass(t, w.Flush(t.Context()), connector.Permanent)
	check(t, w.Close())
	w, state := r.claim(0, 2)
	check(t, w.Write(t.Context(), r.batch("2")))
	state = commit(t, w, state, 1, true, none)
	check(t, w.Close())
	check(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}))
	r.expect("SELECT id FROM t", "2")
}

// A record larger than every buffer passes alone.
func TestHugeRecord(t *testing.T) {
	for target, n := range map[string]int{"CREATE TABLE t (id int, v text)": 35_000_000, "CREATE TABLE t (id int, v text, r int4range)": 5_000_000} {
		r := newRig(t, fmt.Sprintf("CREATE TABLE src (id int, v text); INSERT INTO src VALUES (1, 'a'), (2, repeat('\\\t', %d)), (3, 'b'); ", n)+target, nil)
		rr := &readRig{t: t, pg: r.pg, url: r.url}
		if rejected := transfer(t, rr.source(map[string]any{"table": "src"}, connector.SourceEnv{}), r.sink, r.run, false); len(rejected) > 0 {
			t.Errorf("rejected: %q", rejected)
		}
		r.expect("SELECT id, md5(v) FROM t ORDER BY 1", r.rows("SELECT id, md5(v) FROM src ORDER BY 1")...)
	}
}

// A table may have as many columns as PostgreSQL allows.
func TestManyColumns(t *testing.T) {
	names := make([]string, 1600)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	r := newRig(t, "CREATE TABLE t ("+strings.Join(names, " int, ")+" int)", nil, untyped(names...)...)
	r.load(strings.Repeat("7|", 1599) + null)
	r.expect("SELECT c0, c1599 FROM t", "7|NULL")
	_, err := r.sink.Resolve(t.Context(), newSchema(untyped("other")...))
	expectClass(t, err, connector.Usage, "no column other", "and 1570 more")
	if len(err.Error()) > 500 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// Rule 7: giving up a run drops what it left.
func TestRestartDropsTheStagingTable(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int)", map[string]any{"mode": "overwrite"}, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1")))
	commit(t, w, state, 1, true, none)
	check(t, w.Close())
	next := newRun(2)
	next.Restart, next.Abandoned = true, r.run.ID
	check(t, r.sink.Prepare(t.Context(), next))
	r.expect("SELECT relname FROM pg_class WHERE relname LIKE 'leat_staging%' AND relkind = 'r'", "leat_staging_"+strings.ReplaceAll(next.ID, "-", ""))
}

// Settings of the database change nothing about what a text means.
func TestSettingsOfTheDatabase(t *testing.T) {
	r := newRig(t, "CREATE TABLE t (id int, v xml, r int4range[])", nil, untyped("id", "v", "r")...)
	r.pg.Exec(t, r.url, `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || current_database() || ' SET xmloption = document';
EXECUTE 'ALTER DATABASE ' || current_database() || ' SET array_nulls = off'; END $$`)
	if c := r.load("1|a <b/> c|{NULL,[1\\,2)}", "2|<a/>|{}"); c.Written != 2 {
		t.Errorf("rejected: %q", r.rejected)
	}
	r.expect("SELECT id, v, r[1] IS NULL FROM t ORDER BY 1", "1|a <b/> c|t", "2|<a/>|t")
}
