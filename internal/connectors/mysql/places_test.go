package mysql

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
	"github.com/leatdata/leat/internal/testenv"
)

// A table is the same place by whatever address it is reached, and no other's.
func TestIdentify(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, v varchar(9)); CREATE TABLE o (id int); CREATE VIEW w AS SELECT * FROM t")
	other := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY)")
	p := testenv.NewProxy(t, r.maria.Addr())
	place := func(r *sourceRig, options map[string]any) connector.Identity {
		return must(r.source(options, connector.SourceEnv{}).Identify(t.Context()))(t)
	}
	here := place(r, nil)
	if surely, _ := here.Meets(place(r, map[string]any{"url": testenv.MariaDBURL(p.Addr(), r.database())})); !surely {
		t.Error("by a proxy the table is another one")
	}
	for name, id := range map[string]connector.Identity{"another table": place(r, map[string]any{"table": "o"}), "another database": place(other, nil)} {
		if surely, perhaps := here.Meets(id); surely || perhaps {
			t.Errorf("%s is the same: %v", name, id)
		}
	}
	k := must(newSink(&SinkOptions{URL: r.options(nil).URL, Table: "t", Mode: database.Append, RunsTable: "runs", Positions: "positions"}, connector.SinkEnv{}))(t)
	defer func() { check(t, k.Close()) }()
	must(k.Resolve(t.Context(), &batch.Schema{Fields: []batch.Field{{Name: "id", Type: batch.Of(batch.Int32)}}}))(t)
	if surely, _ := here.Meets(must(k.Identify(t.Context()))(t)); !surely {
		t.Error("the sink's table is another one")
	}
}

// database is the name of the rig's database.
func (r *sourceRig) database() string {
	r.t.Helper()
	return r.maria.Lines(r.t, r.url, "SELECT database()")[0]
}
