package cases

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
)

// A table is not copied onto itself: truncate would leave nothing of it, and
// append would double it.
func TestTableOntoItself(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE s (id int PRIMARY KEY); INSERT INTO s SELECT generate_series(1, 100)")
	for _, mode := range []string{"truncate", "overwrite", "append", "upsert"} {
		_, err := s.in(t).run("name: self\nsource: {postgres: {url: {pg}, table: s}}\nsink: {postgres: {url: {pg}, table: public.s, mode: " + mode + "}}\n")
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "the same place") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	s.expect("SELECT count(*) FROM s", "100")
}

// A view of the table that a job empties first leaves nothing to copy.
func TestViewOfATableThatIsEmptied(t *testing.T) {
	s := newScene(t)
	s.liteExec("x.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3); CREATE VIEW v AS SELECT a FROM t")
	_, err := s.run("name: self\nsource: {sqlite: {path: '{dir}/x.db', table: v}}\nsink: {sqlite: {path: '{dir}/x.db', table: t, mode: truncate}}\n")
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "empties") {
		t.Errorf("error %v", err)
	}
	s.liteExpect("x.db", "SELECT count(*) FROM t", "3")
	p := newPostgres(t, "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); CREATE VIEW v AS SELECT a FROM t")
	_, err = p.run("name: self\nsource: {postgres: {url: {pg}, table: v}}\nsink: {postgres: {url: {pg}, table: t, mode: truncate}}\n")
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "empties") {
		t.Errorf("error %v", err)
	}
	p.expect("SELECT count(*) FROM t", "2")
}
