package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

func TestAppendMakesTheTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"table": "public.Orders"},
		batch.Field{Name: "id", Type: batch.Of(batch.Int64), NotNull: true}, field("select", batch.Text), batch.Field{Name: "Price", Type: batch.Type{Kind: batch.Decimal, Precision: 10, Scale: 2}})
	r.in.Key = []string{"id"}
	counters := r.load("1|a|7.10", "2|"+null+"|"+null, "3||-0.5")
	if counters.Written != 3 || counters.Read != 3 || counters.BytesWritten == 0 {
		t.Errorf("counters: %+v", counters)
	}
	r.expect(`SELECT id, "select", "Price" FROM public."Orders" ORDER BY 1`, "1|a|7.10", "2|NULL|NULL", "3||-0.50")
	r.expect(`SELECT a.attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute a WHERE attrelid = 'public."Orders"'::regclass AND attnum > 0 ORDER BY attnum`,
		"id|bigint|t", "select|text|f", "Price|numeric(10,2)|f")
	r.expect("SELECT outcome FROM leat_runs", "finished")
	r.expect("SELECT count(*) FROM leat_positions", "0")
}

// Rule 7: Prepare is once per run, and says when the run has finished.
func TestFinishIsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.load("1")
	if err := r.sink.Prepare(t.Context(), r.run); !errors.Is(err, connector.ErrFinished) {
		t.Errorf("Prepare of a finished run: %v", err)
	}
	check(t, r.sink.Finish(t.Context(), r.run, nil))
	if _, _, err := r.sink.Claim(t.Context(), r.attempt(0, 9)); connector.ClassOf(err) != connector.Fenced {
		t.Errorf("claim after the end: %v", err)
	}
	expectClass(t, r.sink.Register(t.Context(), r.run, splitsOf(3)), connector.Fenced)
	r.expect("SELECT count(*) FROM t", "1")
}

// Rule 5: what our side cannot see, the server refuses; the others are loaded.
func TestRecordsThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p SELECT generate_series(1, 100000);
CREATE TABLE "t 12" (id int PRIMARY KEY, p int REFERENCES p, j jsonb, CHECK (id <> 77))`, map[string]any{"table": "t 12"}, untyped("id", "p", "j")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	const n = 20000
	var want []string
	for start := 1; start <= n; start += 1000 {
		rows := make([]string, 0, 1000)
		for id := start; id < start+1000; id++ {
			p, j := id, `{"a":1}`
			switch id {
			case 555, 12345:
				p = -1
			case 8000:
				j = "{"
			case 77, 11000:
			default:
				rows = append(rows, fmt.Sprintf("%d|%d|%s", id, p, j))
				continue
			}
			want = append(want, fmt.Sprint(id))
			key := id
			if id == 11000 {
				key = 10999
			}
			rows = append(rows, fmt.Sprintf("%d|%d|%s", key, p, j))
		}
		check(t, w.Write(t.Context(), r.batch(rows...)))
	}
	state = commit(t, w, state, n, true, func() int64 { return int64(len(r.rejected)) })
	if len(r.rejected) != len(want) {
		t.Errorf("rejected %q, want %d", r.rejected, len(want))
	}
	if state.Counters.Written != n-int64(len(want)) || !state.Counters.Balanced() {
		t.Errorf("counters: %+v", state.Counters)
	}
	r.expect(`SELECT count(*), sum(id) FROM "t 12"`, fmt.Sprintf("%d|%d", n-len(want), n*(n+1)/2-77-555-8000-11000-12345))
}

// Rule 5: deferrable constraints are judged at the commit.
func TestDeferredConstraints(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t DEFERRABLE INITIALLY DEFERRED)`, nil, untyped("id", "boss")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	// Row 1 to 3 refer forward; 5 and 9 to nobody; 6 to a row that falls with 5.
	check(t, w.Write(t.Context(), r.batch("1|2", "2|3", "3|4", "4|"+null)))
	check(t, w.Flush(t.Context()))
	check(t, w.Write(t.Context(), r.batch("5|50", "6|5", "7|7", "8|1", "9|90")))
	state = commit(t, w, state, 9, true, func() int64 { return int64(len(r.rejected)) })
	r.expect("SELECT id FROM t ORDER BY 1", "1", "2", "3", "4", "7", "8")
	if state.Counters.Written != 6 || state.Counters.Dirty != 3 || !state.Counters.Balanced() {
		t.Errorf("counters: %+v, rejected %q", state.Counters, r.rejected)
	}
	check(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}))
}

// Rule 14: what a trigger drops is refused, and fails the job unless allowed.
func TestRefusedByTrigger(t *testing.T) {
	t.Parallel()
	const setup = `CREATE TABLE t (id int); CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN IF new.id % 2 = 0 THEN RETURN NULL; END IF; RETURN new; END $$;
CREATE TRIGGER odd BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION odd()`
	r := newRig(t, setup, map[string]any{"allow_refused": true}, untyped("id")...)
	if c := r.load("1", "2", "3", "4"); c.Written != 2 || c.Refused != 2 || !c.Balanced() {
		t.Errorf("counters: %+v", c)
	}
	r = newRig(t, setup, nil, untyped("id")...)
	r.prepare(1)
	w, _ := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1", "2")))
	expectClass(t, w.Flush(t.Context()), connector.Permanent, "allow_refused")
}

// Rule 7: overwrite keeps the table itself, and shows nothing before the end.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE t (id serial PRIMARY KEY, v text); INSERT INTO t (v) VALUES ('old'), ('older');
CREATE VIEW seen AS SELECT v FROM t; CREATE TABLE child (t int REFERENCES t DEFERRABLE); INSERT INTO child VALUES (1)`,
		map[string]any{"mode": "overwrite"}, untyped("id", "v")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	check(t, w.Write(t.Context(), r.batch("1|new", "41|newer", "41|twice")))
	state = commit(t, w, state, 3, true, func() int64 { return int64(len(r.rejected)) })
	r.expect("SELECT v FROM seen ORDER BY 1", "old", "older")
	check(t, r.sink.Finish(t.Context(), r.run, []connector.SplitState{state}))
	r.expect("SELECT v FROM seen ORDER BY 1", "new", "newer")
	r.expect("SELECT nextval('t_id_seq')", "42")
	r.expect("SELECT count(*) FROM pg_class WHERE relname LIKE 'leat_staging%'", "0")
	if state.Counters.Written != 2 || len(r.rejected) != 1 {
		t.Errorf("counters: %+v, rejected %q", state.Counters, r.rejected)
	}
}

func TestOverwriteMakesTheTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"mode": "overwrite"}, field("id", batch.Int32))
	r.in.Key = []string{"id"}
	r.load("1", "2")
	r.expect("SELECT id FROM t ORDER BY 1", "1", "2")
	r.expect("SELECT conname FROM pg_constraint WHERE contype = 'p' AND conrelid = 't'::regclass", "t_pkey")
}

// Rule 7: modes that foreign keys forbid are refused, naming those that work.
func TestForeignKeysForbidModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"truncate", "overwrite"} {
		r := newRig(t, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE child (t int REFERENCES t)", map[string]any{"mode": mode}, untyped("id")...)
		_, err := r.sink.Resolve(t.Context(), r.in)
		expectClass(t, err, connector.Usage, "child_t_fkey", "append and upsert")
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int); INSERT INTO t VALUES (9)", map[string]any{"mode": "truncate"}, untyped("id")...)
	r.load("1", "2")
	r.expect("SELECT id FROM t ORDER BY 1", "1", "2")
}

// Rule 8: the last record of a key wins within a batch and is counted so.
func TestUpsert(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (a int, b text, v text, PRIMARY KEY (b, a)); INSERT INTO t VALUES (1, 'x', 'old'), (2, 'x', 'kept')",
		map[string]any{"mode": "upsert"}, untyped("a", "v", "b")...)
	c := r.load("1|new|x", "3|first|y", "3|second|y", "3|last|y", "4|"+null+"|z")
	if c.Written != 3 || c.Merged != 2 || !c.Balanced() {
		t.Errorf("counters: %+v", c)
	}
	r.expect("SELECT a, b, v FROM t ORDER BY 1", "1|x|new", "2|x|kept", "3|y|last", "4|z|NULL")
}

// With nulls: keep a NULL leaves what is there, also what an earlier record of
// the same key has put there: the result does not hang on where batches end.
func TestUpsertKeepsWhereNull(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (a int PRIMARY KEY, v text, w int[]); INSERT INTO t VALUES (1, 'old', '{1}'), (2, 'kept', '{2,2}')",
		map[string]any{"mode": "upsert", "nulls": "keep"}, untyped("a", "v", "w")...)
	c := r.load("1|"+null+"|{7,7}", "2|"+null+"|"+null, "3|first|"+null, "3|"+null+"|{3}", "3|last|"+null, "4|"+null+"|"+null)
	if c.Written != 4 || c.Merged != 2 || !c.Balanced() {
		t.Errorf("counters: %+v", c)
	}
	r.expect("SELECT a, v, w FROM t ORDER BY 1", "1|old|{7,7}", "2|kept|{2,2}", "3|last|{3}", "4|NULL|NULL")
}

// Of a key with a NULL in it, which no index takes for the same, each row stays.
func TestUpsertWithNullInTheKey(t *testing.T) {
	t.Parallel()
	for _, nulls := range []string{"overwrite", "keep"} {
		r := newRig(t, "CREATE TABLE t (a int, b int, v text, UNIQUE (a, b))", map[string]any{"mode": "upsert", "key": "a,b", "nulls": nulls}, untyped("a", "b", "v")...)
		c := r.load("1|"+null+"|x", "1|"+null+"|y", "1|2|x", "1|2|y")
		if c.Written != 3 || c.Merged != 1 || !c.Balanced() {
			t.Errorf("%s: counters: %+v", nulls, c)
		}
		r.expect("SELECT a, b, v FROM t ORDER BY b, v", "1|2|y", "1|NULL|x", "1|NULL|y")
	}
}

// With nulls: keep each of many rows of a key counts, where triggers look at
// every row too; and it takes no statement for each.
func TestUpsertKeepsOfManyRowsOfAKey(t *testing.T) {
	t.Parallel()
	const trigger = "; CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()"
	for name, setup := range map[string]string{"plain": "", "with a trigger": trigger} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "CREATE TABLE t (a int PRIMARY KEY, v text, w int[], x jsonb)"+setup, map[string]any{"mode": "upsert", "nulls": "keep"}, untyped("a", "v", "w", "x")...)
			var rows []string
			for i := range 40 {
				row := []string{fmt.Sprint(i % 4), null, null, null}
				row[1+i/4%3] = []string{fmt.Sprintf("v%d", i), fmt.Sprintf("[%d:%[1]d]={%[1]d}", i), fmt.Sprint(i)}[i/4%3]
				rows = append(rows, strings.Join(row, "|"))
			}
			if c := r.load(rows...); c.Written != 4 || c.Merged != 36 || !c.Balanced() {
				t.Errorf("counters: %+v, rejected %q", c, r.rejected)
			}
			r.expect("SELECT * FROM t ORDER BY a", "0|v36|[28:28]={28}|32", "1|v37|[29:29]={29}|33", "2|v38|[30:30]={30}|34", "3|v39|[31:31]={31}|35")
		})
	}
}

func TestUpsertOfKeysAlone(t *testing.T) {
	t.Parallel()
	for _, nulls := range []string{"overwrite", "keep"} {
		r := newRig(t, "CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)", map[string]any{"mode": "upsert", "nulls": nulls}, untyped("a")...)
		if c := r.load("1", "2", "2"); c.Written != 1 || c.Merged != 2 {
			t.Errorf("counters: %+v", c)
		}
		r.expect("SELECT a FROM t ORDER BY 1", "1", "2")
	}
}

func TestUpsertByANamedKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id serial PRIMARY KEY, code text UNIQUE, v int CHECK (v > 0))", map[string]any{"mode": "upsert", "key": []string{"code"}}, untyped("code", "v")...)
	c := r.load("a|1", "b|-1", "a|2", "c|3")
	if c.Written+c.Merged != 3 || c.Dirty != 1 || !c.Balanced() {
		t.Errorf("counters: %+v, rejected %q", c, r.rejected)
	}
	r.expect("SELECT code, v FROM t ORDER BY 1", "a|2", "c|3")
}

func TestColumnsByName(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (a int, b text, c int GENERATED ALWAYS AS (a * 2) STORED, d int GENERATED ALWAYS AS IDENTITY)", nil, untyped("b", "a", "d")...)
	r.load("x|1|70", "y|2|71")
	r.expect("SELECT a, b, c, d FROM t ORDER BY 1", "1|x|2|70", "2|y|4|71")
	r.expect("SELECT nextval('t_d_seq')", "72")
	_, err := r.sink.Resolve(t.Context(), &batch.Schema{Fields: untyped("a", "A", "zz")})
	expectClass(t, err, connector.Usage, "A, zz", "a, b, c, d")
	_, err = r.sink.Resolve(t.Context(), &batch.Schema{Fields: untyped("c")})
	expectClass(t, err, connector.Usage, "column c", "generated")
}

func TestPreAndPost(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE log (n int)", map[string]any{
		"pre":  []string{"INSERT INTO log VALUES (1)", "CREATE INDEX CONCURRENTLY i ON log (n)"},
		"post": []string{"INSERT INTO log SELECT count(*) + 100 FROM t", "VACUUM log"},
	}, field("id", batch.Int32))
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if len(plan.Doubts) != 2 {
		t.Errorf("doubts: %q", plan.Doubts)
	}
	r.load("1", "2")
	check(t, func() error {
		if err := r.sink.Prepare(t.Context(), r.run); !errors.Is(err, connector.ErrFinished) {
			return fmt.Errorf("prepare: %w", err)
		}
		return nil
	}())
	r.expect("SELECT n FROM log ORDER BY 1", "1", "102")
}

func TestMixedTypesFallBackToText(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int, r int4range, v text, b bytea, i inet, n numeric(5,2))", nil,
		field("id", batch.Int32), field("r", batch.Text), field("v", batch.Text), field("b", batch.Bytes), field("i", batch.Text), field("n", batch.Decimal))
	r.load("1|[1,5)|a\tb\\c\nd\r|\x01\\\xff|10.0.0.1|1.50", "2|empty|||::1|"+null, "3|nonsense|||::1|1", "4|empty|||::1|1.005")
	r.expect("SELECT id, r, encode(convert_to(v, 'UTF8'), 'hex'), b, i, n FROM t ORDER BY 1", `1|[1,5)|6109625c630a640d|\x015cff|10.0.0.1|1.50`, `2|empty||\x|::1|NULL`)
	if len(r.rejected) != 2 {
		t.Errorf("rejected %q", r.rejected)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	r.prepare(3)
	w, state := r.claim(1, 7)
	check(t, w.Write(t.Context(), r.batch("1", "2")))
	state.Position = "after 2"
	commit(t, w, state, 2, false, func() int64 { return 0 })
	check(t, w.Close())
	states := must(r.sink.States(t.Context(), r.run))(t)
	if len(states) != 3 || states[1].Position != "after 2" || states[1].CommitNo != 1 || states[1].Token != 7 || states[1].Counters.Written != 2 || states[0].Token != 0 {
		t.Errorf("states: %+v", states)
	}
	w, again := r.claim(1, 8)
	if again.Position != "after 2" || again.Token != 8 {
		t.Errorf("claimed: %+v", again)
	}
	check(t, w.Write(t.Context(), r.batch("3")))
	again = commit(t, w, again, 1, true, func() int64 { return 0 })
	if again.CommitNo != 2 || again.Counters.Written != 3 || again.Counters.BytesWritten != 12 {
		t.Errorf("committed: %+v", again)
	}
	if w, done := r.claim(1, 9); w != nil || !done.Done {
		t.Errorf("claim of a done split: %v %+v", w, done)
	}
	expectClass(t, r.sink.Finish(t.Context(), r.run, nil), connector.Fatal, "split 0 is not done")
}
