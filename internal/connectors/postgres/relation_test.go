package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Rule 1: what does not keep to the transaction is at least once, and says so.
func TestForeignTable(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"table": "f"}, untyped("id", "v")...)
	host, port, _ := strings.Cut(r.pg.Addr(), ":")
	db := r.url[strings.LastIndex(r.url, "/")+1 : strings.Index(r.url, "?")]
	r.pg.Exec(t, r.url, fmt.Sprintf(`CREATE EXTENSION postgres_fdw; CREATE TABLE far (id int, v text); CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s');
CREATE USER MAPPING FOR postgres SERVER s OPTIONS (user 'postgres', password 'x'); CREATE FOREIGN TABLE f (id int, v text) SERVER s OPTIONS (table_name 'far')`, host, port, db))
	plan := must(r.sink.Resolve(t.Context(), r.in))(t)
	if plan.Guarantee != connector.AtLeastOnce || len(plan.Doubts) != 1 {
		t.Errorf("plan: %+v", plan)
	}
	if c := r.load("1|a", "2|b"); c.Written != 2 {
		t.Errorf("counters: %+v", c)
	}
	r.expect("SELECT * FROM far ORDER BY 1", "1|a", "2|b")
	rr := &readRig{t: t, pg: r.pg, url: r.url}
	rr.expectRows(readAll(t, rr.source(map[string]any{"table": "f"}, connector.SourceEnv{}), connector.Want{}), "SELECT * FROM far")
	o := r.newSink(map[string]any{"table": "f", "mode": "truncate"})
	_, err := o.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "append only")
}

func TestViews(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE base (id int, v text); CREATE VIEW plain AS SELECT * FROM base; CREATE VIEW w AS SELECT * FROM base;
CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO base VALUES (new.id, upper(new.v)); RETURN new; END $$;
CREATE TRIGGER put INSTEAD OF INSERT ON w FOR EACH ROW EXECUTE FUNCTION put(); CREATE MATERIALIZED VIEW m AS SELECT 1 AS id, 'x' AS v; CREATE SEQUENCE q`,
		map[string]any{"table": "w"}, untyped("id", "v")...)
	if plan := must(r.sink.Resolve(t.Context(), r.in))(t); plan.Guarantee != connector.AtLeastOnce {
		t.Errorf("plan: %+v", plan)
	}
	r.load("1|a")
	r.expect("SELECT * FROM base", "1|A")
	for table, word := range map[string]string{"plain": "INSTEAD OF", "m": "no table", "q": "no table"} {
		_, err := r.newSink(map[string]any{"table": table}).Resolve(t.Context(), r.in)
		expectClass(t, err, connector.Usage, word)
	}
}

func TestPartitionedTarget(t *testing.T) {
	t.Parallel()
	const setup = "CREATE TABLE t (id int, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); INSERT INTO t VALUES (3, 'old')"
	for mode, want := range map[string][]string{
		"append": {"1|a", "3|old"}, "upsert": {"1|a", "3|c"}, "truncate": {"1|a", "3|c"}, "overwrite": {"1|a", "3|c"},
	} {
		r := newRig(t, setup, map[string]any{"mode": mode}, untyped("id", "v")...)
		rows := []string{"1|a", "3|c"}
		if mode != "overwrite" {
			rows = append(rows, "50|no partition")
		}
		c := r.load(rows...)
		r.expect("SELECT * FROM t ORDER BY 1", want...)
		if !c.Balanced() || mode != "overwrite" && c.Dirty == 0 {
			t.Errorf("%s: %+v", mode, c)
		}
	}
}

func TestCreateNever(t *testing.T) {
	t.Parallel()
	r := newRig(t, "", map[string]any{"create": "never"}, untyped("id")...)
	_, err := r.sink.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "does not exist", "create is never")
	_, err = r.newSink(nil).Resolve(t.Context(), newSchema(untyped(strings.Repeat("ä", 32))...))
	expectClass(t, err, connector.Usage, "63 bytes")
	_, err = r.newSink(map[string]any{"table": "nowhere.t"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, `schema "nowhere" does not exist`)
}

func TestUpsertNeedsAKey(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int, v int UNIQUE DEFERRABLE); CREATE UNIQUE INDEX ON t (id) WHERE id > 0", map[string]any{"mode": "upsert"}, untyped("id", "v")...)
	_, err := r.sink.Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "no primary key")
	for _, key := range []string{"id", "v", "id,v"} {
		_, err := r.newSink(map[string]any{"mode": "upsert", "key": key}).Resolve(t.Context(), r.in)
		expectClass(t, err, connector.Usage, "no unique index")
	}
	r.pg.Exec(t, r.url, "CREATE TABLE a (id int PRIMARY KEY, v int GENERATED ALWAYS AS IDENTITY)")
	_, err = r.newSink(map[string]any{"table": "a", "mode": "upsert"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "column v", "GENERATED ALWAYS")
	_, err = r.newSink(map[string]any{"table": "made", "mode": "upsert"}).Resolve(t.Context(), r.in)
	expectClass(t, err, connector.Usage, "needs a key")
}

// A table is made with the types that keep every value of the source's.
func TestCreatedTypes(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TYPE mood AS ENUM ('sad')", map[string]any{"unlogged": true})
	for i, typ := range []batch.Type{
		batch.Of(batch.Int8), batch.Of(batch.Uint8), batch.Of(batch.Uint16), batch.Of(batch.Uint32), batch.Of(batch.Uint64),
		{Kind: batch.Text, Length: 40},
		{Kind: batch.Text, Length: 3, Fixed: true},
		{Kind: batch.Decimal, Precision: 38, Scale: 10},
		{Kind: batch.Named, Name: "mood"},
		{Kind: batch.Named, Name: "geometry"},
		{Kind: batch.JSON, Name: "json"},
		{Kind: batch.JSON, Name: "jsonb"},
		{Kind: batch.Timestamp, Fraction: 4},
		{Kind: batch.Bit, Length: 5},
		batch.Of(batch.Untyped),
	} {
		r.in.Fields = append(r.in.Fields, batch.Field{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	r.prepare(0)
	var types []string
	for _, row := range r.pg.Rows(t, r.url, "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum") {
		types = append(types, row[0])
	}
	want := "smallint,smallint,integer,bigint,numeric(20,0),character varying(40),character(3),numeric(38,10),mood,text,json,jsonb,timestamp(3) without time zone,bit varying(5),text"
	if got := strings.Join(types, ","); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	r.expect("SELECT relname FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r' ORDER BY 1", "leat_positions_unlogged", "t")
	// What Resolve promised is what the table became.
	again := must(r.newSink(nil).Resolve(t.Context(), r.in))(t)
	first := must(r.newSink(map[string]any{"table": "t2"}).Resolve(t.Context(), r.in))(t)
	for i, f := range first.Schema.Fields {
		if got := again.Schema.Fields[i]; got.Type.Kind != f.Type.Kind || got.Type.Precision != f.Type.Precision || got.Type.Length != f.Type.Length {
			t.Errorf("%s: promised %s, became %s", f.Name, f.Type, got.Type)
		}
	}
}

// Rule 8: writers of the same keys in another order do not deadlock for good:
// rows are sorted by key, and a deadlock would be retryable.
func TestUpsertsSideBySide(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int PRIMARY KEY, v text)", map[string]any{"mode": "upsert"}, untyped("id", "v")...)
	r.prepare(2)
	var up, down []string
	for i := range 500 {
		up = append(up, fmt.Sprintf("%d|up", i))
		down = append(down, fmt.Sprintf("%d|down", 499-i))
	}
	errs := make(chan error, 2)
	for split, rows := range [][]string{up, down} {
		w, state := r.claim(split, 1)
		b := r.batch(rows...)
		go func() {
			err := w.Write(t.Context(), b)
			if err == nil {
				err = w.Flush(t.Context())
			}
			if err == nil {
				state.Done = true
				_, err = w.Commit(t.Context(), state)
			}
			errs <- err
		}()
	}
	for range 2 {
		check(t, <-errs)
	}
	r.expect("SELECT count(*), count(DISTINCT v) FROM t", "500|1")
}
