package postgres

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// policed is a database in which a role sees half of the rows of table t, and
// so of view w. It owns the view only.
func policed(t *testing.T) (r *readRig, role string) {
	t.Helper()
	r = newReadRig(t, `CREATE TABLE t (a int PRIMARY KEY, v text); INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 1000) i;
CREATE TABLE free (a int PRIMARY KEY); INSERT INTO free VALUES (1), (2);
CREATE TABLE p (a int, b int) PARTITION BY LIST (b); CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0); CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
INSERT INTO p SELECT i, i % 2 FROM generate_series(1, 100) i`)
	database := r.url[strings.LastIndex(r.url, "/")+1 : strings.Index(r.url, "?")]
	role = "reader_of_" + database
	r.pg.Exec(t, r.url, `CREATE ROLE `+role+` LOGIN; GRANT SELECT ON ALL TABLES IN SCHEMA public TO `+role+`;
CREATE VIEW w AS SELECT * FROM t; ALTER VIEW w OWNER TO `+role+`;
ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY even ON t TO `+role+` USING (a % 2 = 0);
ALTER TABLE p1 ENABLE ROW LEVEL SECURITY; CREATE POLICY none ON p1 TO `+role+` USING (false)`)
	return r, role
}

// as is the rig with another user.
func (r *readRig) as(role string) *readRig {
	at := strings.Index(r.url, "@")
	return &readRig{t: r.t, pg: r.pg, url: "postgres://" + role + r.url[at:]}
}

// Rows that policies hide are never left out without a word: neither of a
// table, nor behind a view, a query or a condition.
func TestPoliciesAreRefused(t *testing.T) {
	t.Parallel()
	owner, role := policed(t)
	r := owner.as(role)
	for name, c := range map[string]struct {
		options map[string]any
		where   string
	}{
		"table":     {map[string]any{"table": "t"}, ""},
		"view":      {map[string]any{"table": "w"}, ""},
		"query":     {map[string]any{"query": "SELECT count(*) FROM t"}, ""},
		"condition": {map[string]any{"table": "free"}, "a IN (SELECT a FROM t)"},
	} {
		_, err := r.source(c.options, connector.SourceEnv{Where: c.where}).Schema(t.Context())
		t.Log(name)
		expectClass(t, err, connector.Usage, "row-level security", role, "row_security: true", "BYPASSRLS")
	}
	// Who is above the policies reads everything; so does who meets none.
	if rows := readAll(t, owner.source(map[string]any{"table": "t"}, connector.SourceEnv{}), connector.Want{Parallelism: 2}); len(rows) != 1000 {
		t.Errorf("the superuser reads %d rows of 1000", len(rows))
	}
	if rows := readAll(t, r.source(map[string]any{"table": "free"}, connector.SourceEnv{}), connector.Want{Parallelism: 2}); len(rows) != 2 {
		t.Errorf("%d rows of 2 of a table without policies", len(rows))
	}
	// Another refusal is told as what it is.
	owner.pg.Exec(t, owner.url, "CREATE SCHEMA closed; CREATE TABLE closed.t (a int)")
	_, err := r.source(map[string]any{"query": "SELECT * FROM closed.t"}, connector.SourceEnv{}).Schema(t.Context())
	expectClass(t, err, connector.Usage, "permission denied")
}

func TestPoliciesThatAreAccepted(t *testing.T) {
	t.Parallel()
	owner, role := policed(t)
	r := owner.as(role)
	for name, options := range map[string]map[string]any{
		"table": {"table": "t", "row_security": true, "split_rows": 100},
		"view":  {"table": "w", "row_security": true},
		"query": {"query": "SELECT * FROM t", "row_security": true},
	} {
		s := r.source(options, connector.SourceEnv{})
		owner.expectRows(readAll(t, s, connector.Want{Parallelism: 2}), "SELECT a, v FROM t WHERE a % 2 = 0")
		lines := strings.Join(must(s.Describe(t.Context()))(t), "\n")
		if !strings.Contains(lines, "are not copied") || name == "table" && !strings.Contains(lines, "applies to role "+role+" on table") {
			t.Errorf("%s: described as %q", name, lines)
		}
	}
}

// The policies of a partition are none of its table's: read through that, it
// shows all rows, and so must be read so.
func TestPoliciesOfAPartition(t *testing.T) {
	t.Parallel()
	owner, role := policed(t)
	for _, accept := range []bool{false, true} {
		s := owner.as(role).source(map[string]any{"table": "p", "row_security": accept}, connector.SourceEnv{})
		owner.expectRows(readAll(t, s, connector.Want{Parallelism: 2}), "SELECT a, b FROM p")
	}
}
