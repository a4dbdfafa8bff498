package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/connector"
)

var (
	_ connector.Identifier = (*Source)(nil)
	_ connector.Identifier = (*Sink)(nil)
)

// A table is the same place by any name of its file and in any case of its
// own; what only reads it lies behind.
func TestPlaces(t *testing.T) {
	f := newFile(t)
	f.exec(`CREATE TABLE t(a INT); CREATE INDEX i ON t(a); CREATE TABLE other(a INT); CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW vo AS SELECT * FROM other; CREATE TABLE "É"(a INT); CREATE TABLE "é"(a INT)`)
	link, hard, dots := filepath.Join(t.TempDir(), "link.db"), filepath.Join(filepath.Dir(f.path), "hard.db"), filepath.Dir(f.path)+"/./test.db"
	if err := os.Symlink(f.path, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(f.path, hard); err != nil {
		t.Fatal(err)
	}
	another := newFile(t)
	another.exec("CREATE TABLE t(a INT)")
	for _, c := range []struct {
		name            string
		source          SourceOptions
		where, sink     string
		surely, perhaps bool
	}{
		{"the same", SourceOptions{Table: "t"}, "", "t", true, false},
		{"in another case", SourceOptions{Table: "T"}, "", "t", true, false},
		{"by a symbolic link", SourceOptions{Path: link, Table: "t"}, "", "t", true, false},
		{"by a hard link", SourceOptions{Path: hard, Table: "t"}, "", "T", true, false},
		{"by another path", SourceOptions{Path: dots, Table: "t"}, "", "t", true, false},
		{"another table", SourceOptions{Table: "other"}, "", "t", false, false},
		{"a table to be made", SourceOptions{Table: "t"}, "", "made", false, false},
		{"another file", SourceOptions{Path: another.path, Table: "t"}, "", "t", false, false},
		{"names that differ beyond ASCII", SourceOptions{Table: "É"}, "", "é", false, false},
		{"a view", SourceOptions{Table: "v"}, "", "t", false, true},
		{"a view of another table", SourceOptions{Table: "vo"}, "", "t", false, false},
		{"a query", SourceOptions{Query: "SELECT a + 1 AS a FROM t"}, "", "t", false, true},
		{"a query that needs the index only", SourceOptions{Query: "SELECT a FROM t WHERE a > 5"}, "", "t", false, true},
		{"a query of another table", SourceOptions{Query: "SELECT a FROM other"}, "", "t", false, false},
		{"a condition", SourceOptions{Table: "other"}, "a NOT IN (SELECT a FROM t)", "t", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.source.Path == "" {
				c.source.Path = f.path
			}
			c.source.SplitRows = 100
			from, err := NewSource(&c.source, connector.SourceEnv{Where: c.where}).Identify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sink := f.sink(map[string]any{"table": c.sink}, nil)
			if _, err := sink.Resolve(t.Context(), fields(t, "a int64")); err != nil {
				t.Fatal(err)
			}
			to, err := sink.Identify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if surely, perhaps := from.Meets(to); surely != c.surely || perhaps != c.perhaps {
				t.Errorf("surely %v, perhaps %v: %+v %+v", surely, perhaps, from, to)
			}
		})
	}
}
