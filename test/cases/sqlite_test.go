package cases

import (
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// A table of a file is not copied onto itself either, by whatever path.
func TestTableOfAFileOntoItself(t *testing.T) {
	s := newScene(t)
	s.liteExec("x.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
	for _, mode := range []string{"truncate", "overwrite", "append", "upsert"} {
		_, err := s.in(t).run("name: self\nsource: {sqlite: {path: '{dir}/x.db', table: t}}\nsink: {sqlite: {path: '{dir}/./x.db', table: T, mode: " + mode + "}}\n")
		if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "the same place") {
			t.Errorf("%s: %v", mode, err)
		}
	}
	s.liteExpect("x.db", "SELECT count(*) FROM t", "3")
}

// A blob in a column without a type is never written as a text: it is dirty,
// or a blob where the target's column or the job says so. What arrives is verified.
func TestBlobsInColumnsWithoutAType(t *testing.T) {
	s := newScene(t)
	s.liteExec("in.db", `CREATE TABLE n(a); INSERT INTO n VALUES (5), ('x'), (1.5), (x'61'), (NULL);
CREATE TABLE b(a); INSERT INTO b VALUES (x'61'), (x''), (x'ff5c7836'), (NULL);
CREATE TABLE i(a); INSERT INTO i VALUES (5), (-7); CREATE VIEW vi AS SELECT a FROM i`)
	s.liteExec("out.db", "CREATE TABLE n(a); CREATE TABLE b(a); CREATE TABLE bb(a BLOB); CREATE TABLE i(a); CREATE TABLE ii(a INT)")
	for _, c := range []struct {
		source, types, target string
		dirty                 int64
		want                  []string
	}{
		{"n", "", "n", 1, []string{"NULL", "'1.5'", "'5'", "'x'"}},
		{"n", "", "made", 1, []string{"NULL", "'1.5'", "'5'", "'x'"}},
		{"b", "", "bb", 0, []string{"NULL", "X''", "X'61'", "X'FF5C7836'"}},
		{"b", ", types: {a: bytes}", "b", 0, []string{"NULL", "X''", "X'61'", "X'FF5C7836'"}},
		{"b", ", types: {a: bytes}", "madeb", 0, []string{"NULL", "X''", "X'61'", "X'FF5C7836'"}},
		{"i", ", types: {a: int64}", "i", 0, []string{"-7", "5"}},
		{"vi", "", "ii", 0, []string{"-7", "5"}},
	} {
		t.Run(c.source+" to "+c.target, func(t *testing.T) {
			s := s.in(t)
			text := "name: b\nsource: {sqlite: {path: '{dir}/in.db', table: " + c.source + c.types + "}}\nsink: {sqlite: {path: '{dir}/out.db', table: " + c.target + "}}\nerrors: {records: 1}\n"
			if sum := s.done(text); sum.Dirty != c.dirty {
				t.Errorf("summary %+v", sum)
			}
			s.liteExpect("out.db", "SELECT quote(a) FROM "+c.target+" ORDER BY quote(a) <> 'NULL', quote(a)", c.want...)
			s.verifies(int64(len(c.want)), text)
		})
	}
}

// A target that is reset between a kill and going on fails the run, which
// would else end well with records missing.
func TestAFileResetBetweenKillAndResume(t *testing.T) {
	leat := binary(t)
	for _, meanwhile := range []string{"DELETE FROM t", "DROP TABLE t; CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT)", "DROP TABLE t"} {
		for _, mode := range []string{"append", "truncate", "upsert"} {
			t.Run(mode+" "+meanwhile, func(t *testing.T) {
				s := newScene(t)
				s.liteExec("o.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT)")
				s.write("job.yaml", s.fill("name: j\nsource: {stream: {rows: 10000, split_rows: 700, nulls: 0, columns: [id int64, word text]}}\nsink: {sqlite: {path: '{dir}/o.db', table: t, mode: "+mode+"}}\n"+oftenCommitted))
				c := testenv.Command{Path: leat, Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}}
				killed := c
				killed.Env = []string{"LEAT_FAILPOINT=after-commit:1:kill"}
				if p, exit := testenv.RunProcess(t, killed); exit.Signal != 9 {
					t.Fatalf("it was not killed: %+v\n%s", exit, p.Stderr())
				}
				s.liteExec("o.db", meanwhile)
				p, exit := testenv.RunProcess(t, c)
				if exit.Code != 1 || !strings.Contains(p.Stderr(), "the target was reset: table t") {
					t.Errorf("exit code %d\n%s", exit.Code, p.Stderr())
				}
			})
		}
	}
}
