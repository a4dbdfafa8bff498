package sqlite

import (
	"slices"
	"testing"

	"github.com/leatdata/leat/batch"
)

// Of each rejected record the cause is told, though SQLite names no column.
func TestCausesOfRejectedRecords(t *testing.T) {
	for _, c := range []struct {
		name, setup string
		options     map[string]any
		row         []string
		want        batch.Cause
	}{
		{"a primary key that is there", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES (1, '')", nil, []string{"1", "a"}, batch.CauseDuplicate},
		{"a key of two columns that is there", "CREATE TABLE t (id INTEGER, v TEXT, PRIMARY KEY (id, v)); INSERT INTO t VALUES (1, 'a')", nil, []string{"1", "a"}, batch.CauseDuplicate},
		{"another unique index of an upsert", "CREATE TABLE t (id INTEGER PRIMARY KEY, v TEXT UNIQUE); INSERT INTO t VALUES (1, 'a')", map[string]any{"mode": "upsert"}, []string{"2", "a"}, batch.CauseDuplicate},
		{"NULL", "CREATE TABLE t (id INTEGER, v TEXT NOT NULL)", nil, []string{"1", null}, batch.CauseNull},
		{"NULL in an upsert's key", "CREATE TABLE t (id INTEGER, v TEXT PRIMARY KEY)", map[string]any{"mode": "upsert"}, []string{"1", null}, batch.CauseNull},
		{"no number, found here", "CREATE TABLE t (id INTEGER, v INTEGER)", nil, []string{"1", "x"}, batch.CauseConversion},
		{"a check", "CREATE TABLE t (id INTEGER CHECK (id > 1), v TEXT)", nil, []string{"1", "a"}, batch.CauseOther},
		{"a trigger", "CREATE TABLE t (id INTEGER, v TEXT); CREATE TRIGGER tr BEFORE INSERT ON t BEGIN SELECT raise(ABORT, 'no'); END", nil, []string{"1", "a"}, batch.CauseOther},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFile(t)
			f.exec(c.setup)
			in := fields(t, "id text", "v text")
			_, rejected, err := f.load(f.sink(c.options, nil), "r1", in, rowsOf(in, c.row))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*f.causes, []batch.Cause{c.want}) {
				t.Errorf("causes %v, want %v: %q", *f.causes, c.want, rejected)
			}
		})
	}
}
