package postgres

import (
	"testing"

	"github.com/leatdata/leat/connector"
)

// Rule 1: a table that was emptied, made anew or swapped while the run was
// open is found out, at the next start and at the latest at the end.
func TestResetTable(t *testing.T) {
	t.Parallel()
	const plain = "CREATE TABLE t (id int)"
	const parts = "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)"
	for _, c := range []struct{ name, setup, mode, reset string }{
		{"truncated", plain, "append", "TRUNCATE t"},
		{"truncated, of mode truncate", plain, "truncate", "TRUNCATE t"},
		{"made anew", plain, "append", "DROP TABLE t; CREATE TABLE t (id int)"},
		{"made by the run and made anew", "", "append", "DROP TABLE t; CREATE TABLE t (id int)"},
		{"swapped", plain, "append", "ALTER TABLE t RENAME TO was; CREATE TABLE t (id int)"},
		{"rewritten", plain, "append", "VACUUM FULL t"},
		{"a partition truncated", parts, "append", "TRUNCATE t1"},
		{"a partition made anew", parts, "append", "DROP TABLE t1; CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10)"},
		{"a partition swapped", parts, "append", "ALTER TABLE t DETACH PARTITION t1; CREATE TABLE t3 PARTITION OF t FOR VALUES FROM (0) TO (10)"},
		{"the staging table truncated", plain, "overwrite", "TRUNCATE leat_staging_00000000000040008000000000000001"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.setup, map[string]any{"mode": c.mode}, untyped("id")...)
			r.prepare(1)
			w, state := r.claim(0, 1)
			check(t, w.Write(t.Context(), r.batch("1", "2")))
			state = commit(t, w, state, 2, true, none)
			check(t, w.Close())
			r.pg.Exec(t, r.url, c.reset)
			again := r.newSink(map[string]any{"mode": c.mode})
			must(again.Resolve(t.Context(), r.in))(t)
			expectClass(t, again.Prepare(t.Context(), r.run), connector.Fatal, "reset", "--restart", "VACUUM FULL")
			expectClass(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}), connector.Fatal, "reset")
		})
	}
}

// What else becomes of a table during a run does not end it.
func TestTableThatIsNotReset(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"append": "4", "truncate": "2", "overwrite": "2"} {
		r := newRig(t, `CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10);
INSERT INTO t VALUES (1), (2)`, map[string]any{"mode": mode}, untyped("id")...)
		r.prepare(1)
		w, state := r.claim(0, 1)
		check(t, w.Write(t.Context(), r.batch("3", "4")))
		state = commit(t, w, state, 2, true, none)
		check(t, w.Close())
		for _, sql := range []string{"VACUUM t", "CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)", "ALTER TABLE t ADD COLUMN more int DEFAULT 1", "CREATE INDEX ON t (id)"} {
			r.pg.Exec(t, r.url, sql)
		}
		again := r.newSink(map[string]any{"mode": mode})
		must(again.Resolve(t.Context(), r.in))(t)
		check(t, again.Prepare(t.Context(), r.run))
		check(t, again.Finish(t.Context(), r.run, []connector.SplitState{state}))
		r.expect("SELECT count(*) FROM t", want)
	}
}

// A run whose result is visible has taken its staging table away by itself.
func TestStatementsLeftToPost(t *testing.T) {
	t.Parallel()
	options := map[string]any{"mode": "overwrite", "post": []string{"VACUUM later"}}
	r := newRig(t, "CREATE TABLE t (id int)", options, untyped("id")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1", "2")))
	states := []connector.SplitState{commit(t, w, state, 2, true, none)}
	check(t, w.Close())
	expectClass(t, r.sink.Finish(t.Context(), r.run, states), connector.Permanent, "run post")
	r.pg.Exec(t, r.url, "CREATE TABLE later ()")
	again := r.newSink(options)
	must(again.Resolve(t.Context(), r.in))(t)
	check(t, again.Prepare(t.Context(), r.run))
	check(t, again.Finish(t.Context(), r.run, states))
	r.expect("SELECT count(*) FROM t", "2")
}

// Rule 1: a partition that a crash empties makes the whole target such.
func TestUnloggedPartition(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE UNLOGGED TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10)", nil, untyped("id")...)
	r.prepare(1)
	r.expect("SELECT relname FROM pg_class WHERE relname LIKE 'leat_positions%' AND relkind = 'r' AND relpersistence = 'u'", "leat_positions_unlogged")
}
