package cases

import (
	"net"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// What the server refuses as it was asked is wrong use; a server that cannot
// be reached, a right that is missing and a place that cannot be written to
// are failures.
func TestExitCodeTellsWrongUseFromFailure(t *testing.T) {
	leat := binary(t)
	s := newPostgres(t, "CREATE TABLE t (id int); CREATE TABLE secret (id int); CREATE ROLE exitreader LOGIN; GRANT SELECT ON t TO exitreader")
	t.Cleanup(func() { s.exec("DROP OWNED BY exitreader; DROP ROLE exitreader") })
	s.write("in.csv", "id\n1\n")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	as := func(role string) string { return strings.Replace(s.url, "postgres@", role+"@", 1) }
	for _, c := range []struct {
		what, source string
		code         int
	}{
		{"a file that is not there", s.path("none.csv"), 2},
		{"a database file that is not there", "sqlite:" + s.path("none.db") + "?table=t", 2},
		{"a server that does not answer", testenv.PostgresURL(nobody, "d") + "&table=t", 1},
		{"a database that is not there", testenv.PostgresURL(s.pg.Addr(), "none") + "&table=t", 2},
		{"a role that is not there", as("exitnobody") + "&table=t", 2},
		{"a table that is not there", s.url + "&table=none", 2},
		{"a table that may not be read", as("exitreader") + "&table=secret", 1},
		{"a table that may", as("exitreader") + "&table=t", 0},
	} {
		p, exit := testenv.RunProcess(t, testenv.Command{Path: leat, Args: []string{"copy", c.source, s.path("out/a.csv"), "--state", t.TempDir(), "--progress", "none"}})
		if exit.Code != c.code {
			t.Errorf("%s: exit code %d, want %d\n%s", c.what, exit.Code, c.code, p.Stderr())
		}
	}
	p, exit := testenv.RunProcess(t, testenv.Command{Path: leat, Args: []string{"copy", s.path("in.csv"), "/proc/none/a.csv", "--state", t.TempDir(), "--progress", "none"}})
	if exit.Code != 1 || strings.Contains(p.Stderr(), "/proc/none: mkdir /proc/none") || !strings.Contains(p.Stderr(), "make folder /proc/none: mkdir: ") {
		t.Errorf("a folder that cannot be made: exit code %d, want 1\n%s", exit.Code, p.Stderr())
	}
}
