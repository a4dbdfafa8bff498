package postgres

import (
	"slices"
	"testing"

	"github.com/leatdata/leat/batch"
)

// Of each rejected record the cause is told, whether our side finds the fault or
// the server, at once or at the commit; of a NULL also where no column is named.
func TestCausesOfRejectedRecords(t *testing.T) {
	t.Parallel()
	const types = "CREATE DOMAIN given AS text NOT NULL; "
	for _, c := range []struct {
		name, setup string
		options     map[string]any
		row         string
		want        batch.Cause
	}{
		{"a key that is there", "CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1)", nil, "1|a", batch.CauseDuplicate},
		{"a key that is there, judged at the commit", "CREATE TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED, v text); INSERT INTO t VALUES (1)", nil, "1|a", batch.CauseDuplicate},
		{"another unique index of an upsert", "CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE); INSERT INTO t VALUES (1, 'a')", map[string]any{"mode": "upsert"}, "2|a", batch.CauseDuplicate},
		{"NULL, found here", "CREATE TABLE t (id int, v text NOT NULL)", nil, "1|" + null, batch.CauseNull},
		{"NULL of a domain, of which the server names no column", types + "CREATE TABLE t (id int, v given)", nil, "1|" + null, batch.CauseNull},
		{"NULL made by a trigger", `CREATE TABLE t (id int, v text NOT NULL);
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.v := NULL; RETURN NEW; END'; CREATE TRIGGER t BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()`, nil, "1|a", batch.CauseNull},
		{"no number, found here", "CREATE TABLE t (id int, v int)", nil, "1|x", batch.CauseConversion},
		{"no range, found by the server", "CREATE TABLE t (id int, v int4range)", nil, "1|[5,1)", batch.CauseConversion},
		{"a check", "CREATE TABLE t (id int CHECK (id > 1), v text)", nil, "1|a", batch.CauseOther},
		{"a foreign key", "CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (id int REFERENCES p, v text)", nil, "1|a", batch.CauseOther},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.setup, c.options, untyped("id", "v")...)
			if got := r.load(c.row); got.Dirty != 1 || !slices.Equal(r.causes, []batch.Cause{c.want}) {
				t.Errorf("causes %v, want %v: %q", r.causes, c.want, r.rejected)
			}
		})
	}
}
