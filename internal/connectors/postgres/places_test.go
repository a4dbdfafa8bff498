package postgres

import (
	"testing"

	"github.com/leatdata/leat/connector"
)

// Whether source and sink are one place does not depend on how they are named.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const setup = `CREATE TABLE t (id int) PARTITION BY RANGE (id); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20);
CREATE TABLE parent (id int); CREATE TABLE heir () INHERITS (parent); CREATE TABLE other (id int); CREATE VIEW v AS SELECT id FROM t; CREATE VIEW vv AS SELECT id FROM v WHERE id < 5;
CREATE FUNCTION put() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END'; CREATE TRIGGER put INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION put();
CREATE MATERIALIZED VIEW m AS SELECT id FROM t; CREATE SCHEMA "S 2"; CREATE TABLE "S 2"."T 2" (id int)`
	r := newRig(t, setup, nil, untyped("id")...)
	rr := &readRig{t: t, pg: r.pg, url: r.url}
	for _, c := range []struct {
		from, to        string
		surely, perhaps bool
	}{
		{"t", "public.t", true, false},
		{"t", "t1", true, false},
		{"t1", "t", true, false},
		{"t1", "t2", false, false},
		{"heir", "parent", true, false},
		{"parent", "heir", true, false},
		{"other", "t", false, false},
		{"v", "t", false, true},
		{"vv", "t1", false, true},
		{"vv", "t2", false, false},
		{"vv", "t", false, true},
		{"v", "other", false, false},
		{"t", "v", false, true},
		{"v", "v", false, true},
		{"m", "t", false, false},
		{"SELECT o.id FROM other o JOIN t ON t.id = o.id", "t", false, true},
		{"SELECT o.id FROM other o", "t", false, false},
		{`SELECT id FROM "S 2"."T 2"`, `"S 2"."T 2"`, false, true},
		{"t", "missing", false, false},
	} {
		key := "table"
		if len(c.from) > 10 {
			key = "query"
		}
		source := rr.source(map[string]any{key: c.from}, connector.SourceEnv{})
		sink := r.newSink(map[string]any{"table": c.to})
		must(sink.Resolve(t.Context(), r.in))(t)
		from, to := must(source.Identify(t.Context()))(t), must(sink.Identify(t.Context()))(t)
		if surely, perhaps := from.Meets(to); surely != c.surely || perhaps != c.perhaps {
			t.Errorf("from %s to %s: surely %t, perhaps %t; %q %q", c.from, c.to, surely, perhaps, from, to)
		}
	}
}

// Another role, database and server: the same table only where it is.
func TestPlacesOfOthers(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int)", nil, untyped("id")...)
	must(r.sink.Resolve(t.Context(), r.in))(t)
	to := must(r.sink.Identify(t.Context()))(t)
	rr := &readRig{t: t, pg: r.pg, url: r.as("leat_reader", "SELECT ON t")}
	from := must(rr.source(map[string]any{"table": "t"}, connector.SourceEnv{}).Identify(t.Context()))(t)
	if surely, _ := from.Meets(to); !surely {
		t.Errorf("as another role: %q %q", from, to)
	}
	rr.url = r.pg.Database(t)
	r.pg.Exec(t, rr.url, "CREATE TABLE t (id int)")
	from = must(rr.source(map[string]any{"table": "t"}, connector.SourceEnv{}).Identify(t.Context()))(t)
	if surely, perhaps := from.Meets(to); surely || perhaps {
		t.Errorf("in another database: %q %q", from, to)
	}
}
