package cli

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// Columns that SQLite was told no type of get those of their values, also in
// a run that goes on after a crash; no value is another on the other side.
func TestColumnsWithoutATypeReachPostgres(t *testing.T) {
	leat := testenv.Leat(t, testenv.Tags("leat_failpoints"))
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	s := newShell(t)
	s.write("make.yaml", `source: {stream: {rows: 1, columns: [id int64]}}
sink:
  sqlite:
    path: loose.db
    table: made
    pre:
      - CREATE TABLE t (id INTEGER PRIMARY KEY, i, r, b, x, d, z)
      - INSERT INTO t (i, r, b, x, d, z) VALUES (9007199254740993, 0.1, x'00ff', 1, '2024-02-29', '007'), (-1, 1e300, x'', 'one', NULL, '2'), (NULL, 5.0, NULL, 1.5, '1999-12-31', '10')
`)
	s.want(0, "run", "make.yaml")
	s.write("job.yaml", fmt.Sprintf("source: {sqlite: {path: loose.db, table: t}}\nsink: {postgres: {url: %q, table: t}}\n", url))
	for _, failpoint := range []string{"after-claim:0:kill", ""} {
		c := testenv.Command{Path: leat, Args: []string{"run", "job.yaml", "--progress", "none"}, Dir: mustGetwd(t)}
		if failpoint != "" {
			c.Env = []string{"LEAT_FAILPOINT=" + failpoint}
		}
		p, exit := testenv.RunProcess(t, c)
		if killed := exit.Signal == syscall.SIGKILL; killed != (failpoint != "") || !killed && exit.Code != 0 {
			t.Fatalf("%s: exit %+v\n%s", failpoint, exit, p.Stderr())
		}
	}
	texts := func(sql string) (lines []string) {
		for _, row := range pg.Rows(t, url, sql) {
			lines = append(lines, strings.Join(row, " "))
		}
		return lines
	}
	want := []string{"id bigint", "i bigint", "r double precision", "b bytea", "x text", "d date", "z text"}
	if got := texts("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position"); !slices.Equal(got, want) {
		t.Errorf("columns %q", got)
	}
	want = []string{
		`1 9007199254740993 0.1 \x00ff 1 2024-02-29 007`,
		`2 -1 1e+300 \x one - 2`,
		`3 - 5 - 1.5 1999-12-31 10`,
	}
	if got := texts("SELECT id::text, coalesce(i::text, '-'), r::text, coalesce(b::text, '-'), x, coalesce(d::text, '-'), z FROM t ORDER BY id"); !slices.Equal(got, want) {
		t.Errorf("rows %q", got)
	}
	s.contains(s.want(0, "verify", "job.yaml").out, "both hold the same records")
}
