package cli

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// secret is a password; no text of any command may hold it.
const secret = "pW%21hunter22"

func TestSecretsNeverShow(t *testing.T) {
	pg := testenv.Postgres(t)
	good := withPassword(t, pg.Database(t), secret)
	pg.Exec(t, good, "CREATE TABLE t (id bigint PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 10); CREATE TABLE u (id bigint)")
	s := newShell(t)
	s.write("people.csv", people)
	urls := map[string]string{
		"good":        good,
		"refused":     "postgres://u:" + secret + "@" + closedPort(t) + "/db",
		"no database": strings.Replace(good, "/test_", "/nothing_", 1),
		"no host":     "postgres://u:" + secret + "@does-not-exist.invalid/db",
		"unparseable": "postgres://u:" + secret + "%ZZ@localhost/db",
		"raw":         "postgres://u:" + secret + "/?#@localhost/db",
		"bad port":    "postgres://u:" + secret + "@localhost:port/db",
		"bad setting": good + "&sslmode=nonsense",
		"pairs":       "host=localhost port=1 user=u password=" + secret + " dbname=db",
		"bad pairs":   "host=localhost password='" + secret + " dbname=db",
	}
	for name, url := range urls {
		s.env["URL"] = url
		for file, text := range map[string]string{
			"source.yaml":  "source: {postgres: {url: \"${env:URL}\", table: t}}\nsink: {csv: {path: out.csv}}\n",
			"sink.yaml":    "source: {csv: {path: people.csv}}\nsink: {postgres: {url: \"${env:URL}\", table: made}}\ncolumns: [id]\n",
			"both.yaml":    "source: {postgres: {url: \"${env:URL}\", table: t}}\nsink: {postgres: {url: \"${env:URL}\", table: u}}\n",
			"literal.yaml": fmt.Sprintf("source: {postgres: {url: %q, table: nothing}}\nsink: {csv: {path: out.csv}}\n", url),
			"where.yaml":   "source: {postgres: {url: \"${env:URL}\", table: t}}\nsink: {csv: {path: out.csv}}\nwhere: nonsense = '${env:URL}'\n",
			"options.yaml": "source: {postgres: {url: \"${env:URL}\", table: t, split_size: \"${env:URL}\", ${x}: 1}}\nsink: {csv: {path: out.csv}}\n",
			"syntax.yaml":  fmt.Sprintf("source: {postgres: {url: %q, table: t\nsink: [\n", url),
		} {
			s.write(file, text)
			for _, command := range []string{"run", "validate", "verify"} {
				s.hides(name, command, file, "--log-level", "debug")
			}
			s.hides(name, "run", file, "--restart", "--log-format", "json", "--log-level", "debug", "--summary", "json")
		}
		s.hides(name, "copy", url+"?table=t", "out.csv")
		s.hides(name, "copy", "people.csv", url, "--log-level", "debug")
		s.hides(name, "copy", url, url, "--print")
		s.hides(name, "copy", url, "out.csv", "--mode", "nonsense")
		s.hides(name, "run", url)
		s.hides(name, url)
		s.hides(name, "connectors", url)
		s.hides(name, "run", "source.yaml", "--set", url)
		s.hides(name, "run", "source.yaml", "--set", "x="+url)
		s.hides(name, "run", "source.yaml", "--progress", url)
		s.hides(name, "run", "source.yaml", "--parallelism="+url)
	}
	s.env["URL"] = good
	s.want(0, "run", "source.yaml", "--restart")
	s.stateHides()
}

// hides runs a command, whatever its end, and looks for the secret.
func (s *shell) hides(name string, args ...string) {
	s.t.Helper()
	r := s.leat(args...)
	for _, text := range []string{r.out, r.err} {
		if strings.Contains(text, "hunter22") {
			s.t.Errorf("%s: leat %s: the secret shows:\n%s", name, strings.Join(args, " "), text)
		}
	}
	if r.code != 0 && r.err == "" {
		s.t.Errorf("%s: leat %s: exit code %d without a word", name, strings.Join(args, " "), r.code)
	}
}

// stateHides looks for the secret in all files of the state.
func (s *shell) stateHides() {
	s.t.Helper()
	found := 0
	err := filepath.WalkDir(".leat", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), "hunter22") {
			s.t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil || found == 0 {
		s.t.Errorf("%d files of state: %v", found, err)
	}
}

// withPassword puts a password into a URL; the server takes any.
func withPassword(t *testing.T, url, password string) string {
	t.Helper()
	before, after, ok := strings.Cut(url, "@")
	if !ok {
		t.Fatalf("no user in %s", url)
	}
	return before + ":" + password + "@" + after
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
