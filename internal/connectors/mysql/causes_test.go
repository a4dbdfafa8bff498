package mysql

import (
	"slices"
	"testing"

	"github.com/leatdata/leat/batch"
)

// Of each rejected record the cause is told, whether our side finds the fault or
// the server; of a NULL also where no column is named.
func TestCausesOfRejectedRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, setup string
		options     map[string]any
		row         string
		want        batch.Cause
	}{
		{"a key that is there", "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, '')", nil, "1|a", batch.CauseDuplicate},
		{"a key that is there, by INSERT", "CREATE TABLE t (id INT PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, '')", map[string]any{"load": "insert"}, "1|a", batch.CauseDuplicate},
		{"another unique index of an upsert", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9) UNIQUE); INSERT INTO t VALUES (1, 'a')", map[string]any{"mode": "upsert", "key": "id"}, "2|a", batch.CauseDuplicate},
		{"NULL, found here", "CREATE TABLE t (id INT, v TEXT NOT NULL)", nil, "1|" + null, batch.CauseNull},
		{"NULL made by a trigger", "CREATE TABLE t (id INT, v INT NOT NULL); CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = NULL", nil, "1|2", batch.CauseNull},
		{"no number, found here", "CREATE TABLE t (id INT, v INT)", nil, "1|x", batch.CauseConversion},
		{"no text of the character set, found by the server", "CREATE TABLE t (id INT, v VARCHAR(9) CHARACTER SET latin1)", nil, "1|ł", batch.CauseConversion},
		{"a check", "CREATE TABLE t (id INT CHECK (id > 1), v TEXT)", nil, "1|a", batch.CauseOther},
		{"a foreign key", "CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE t (id INT, v TEXT, FOREIGN KEY (id) REFERENCES p (id))", nil, "1|a", batch.CauseOther},
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
