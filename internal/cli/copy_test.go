package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/testenv"
)

func TestCopyChoosesByName(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.want(0, "copy", "people.csv", "a.csv.gz")
	s.want(0, "copy", "a.csv.gz", "out/")
	s.want(0, "copy", "out/", "back.csv")
	if got := s.read("back.csv"); got != people {
		t.Errorf("got %q", got)
	}
	s.write("plain", people)
	s.want(2, "copy", "plain", "b.csv")
	s.want(0, "copy", "plain", "b.csv", "--format", "csv")
	if got := s.read("b.csv"); got != people {
		t.Errorf("got %q", got)
	}
	s.want(2, "copy", "plain", "b.csv", "--format", "stream")
	s.want(2, "copy", "plain", "b.csv", "--format", "csv", "--parallelism", "-1")
}

// The ways of the command's own help, between a file, a table, a folder and
// standard streams.
func TestCopyGoesTheWaysOfItsHelp(t *testing.T) {
	leat := testenv.Leat(t)
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	s := newShell(t)
	s.write("people.csv", people)
	s.want(0, "copy", "people.csv", url+"&table=people")
	s.want(0, "copy", url+"&table=people", "out/")
	s.want(0, "copy", "out/", "back.jsonl.gz")
	s.want(0, "copy", "back.jsonl.gz", url+"&table=again", "--mode", "truncate")
	s.want(0, "copy", url+"&table=again", url+"&table=people", "--mode", "overwrite", "--parallelism", "2")
	s.want(0, "copy", url+"&table=people", "back.csv")
	if got := s.read("back.csv"); got != people {
		t.Errorf("got %q", got)
	}
	s.contains(s.want(2, "copy", "people.csv", url+"&table=people", "--mode", "upsrt").err, `did you mean "upsert"?`)
	s.contains(s.want(2, "copy", "people.csv", url).err, "table")
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: leat, Args: []string{"copy", "people.csv", "-", "--format", "jsonl", "--progress", "none"}, Dir: mustGetwd(t),
	})
	if want := `{"id":"1","name":"Ann","town":"Oslo"}`; exit.Code != 0 || !strings.HasPrefix(strings.ReplaceAll(p.Stdout(), `"id":1`, `"id":"1"`), want) {
		t.Errorf("exit %+v: %s\n%s", exit, p.Stdout(), p.Stderr())
	}
}

func mustGetwd(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestCopyPrintsAJobFileThatDoesTheSame(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	r := s.want(0, "copy", "people.csv", "printed.csv", "--print", "--parallelism", "2")
	s.contains(r.out, "name: copy-", "path: people.csv", "path: printed.csv", "parallelism: 2")
	s.stdin = r.out
	s.want(0, "run", "-")
	if got := s.read("printed.csv"); got != people {
		t.Errorf("got %q", got)
	}
}

func TestCopyNamesItsJobByBothEnds(t *testing.T) {
	s := newShell(t)
	name := func(args ...string) string {
		r := s.want(0, append([]string{"copy", "--print"}, args...)...)
		return strings.SplitN(r.out, "\n", 2)[0]
	}
	first := name("a.csv", "b.csv")
	for _, same := range [][]string{{"a.csv", "b.csv", "--parallelism", "3"}, {"a.csv", "b.csv", "--mode", "overwrite"}, {"--format", "csv", "a.csv", "b.csv"}} {
		if got := name(same...); got != first {
			t.Errorf("%v: %s, not %s", same, got, first)
		}
	}
	for _, other := range [][]string{{"a.csv", "c.csv"}, {"c.csv", "b.csv"}, {"b.csv", "a.csv"}, {"a.csv", "b/"}} {
		if got := name(other...); got == first {
			t.Errorf("%v: the same name %s", other, got)
		}
	}
	t.Chdir(t.TempDir())
	if got := name("a.csv", "b.csv"); got == first {
		t.Error("another folder's files have the same name")
	}
}

func TestSchemeOf(t *testing.T) {
	for arg, want := range map[string]string{
		"postgres://h/db": "postgres", "stream:?rows=1": "stream", "stream:": "stream", "S3://b": "s3", "sqlite:y.db?table=t": "sqlite",
		"a.csv": "", "c:/x.csv": "", "a:b.csv": "", "./a:b": "", "-": "", "": "", "a/b://c": "", "12:30.csv": "",
	} {
		got, ok := schemeOf(connectors.All(), arg)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%q: %q, want %q", arg, got, want)
		}
	}
}

func TestQuoteArg(t *testing.T) {
	for arg, want := range map[string]string{"a.csv": "a.csv", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "?x": "'?x'", "postgres://h/db": "postgres://h/db"} {
		if got := quoteArg(arg); got != want {
			t.Errorf("%q: %s, want %s", arg, got, want)
		}
	}
}
