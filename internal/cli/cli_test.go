package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// shell runs commands in a folder of its own.
type shell struct {
	t     *testing.T
	stdin string
	env   map[string]string
}

// result is what a command did.
type result struct {
	code     int
	out, err string
}

func newShell(t *testing.T) *shell {
	t.Chdir(t.TempDir())
	return &shell{t: t, env: map[string]string{}}
}

func (s *shell) leat(args ...string) result { return s.leatIn(s.t.Context(), args...) }

func (s *shell) leatIn(ctx context.Context, args ...string) result {
	s.t.Helper()
	var out, err bytes.Buffer
	code := Main(ctx, args, Env{
		Stdin: strings.NewReader(s.stdin), Stdout: &out, Stderr: &err, Registry: connectors.All(),
		LookupEnv: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok },
	})
	return result{code, out.String(), err.String()}
}

// want fails the test when the command ended with another code.
func (s *shell) want(code int, args ...string) result {
	s.t.Helper()
	r := s.leat(args...)
	if r.code != code {
		s.t.Fatalf("leat %s: exit code %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), r.code, code, r.out, r.err)
	}
	return r
}

func (s *shell) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shell) read(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *shell) contains(text string, wanted ...string) {
	s.t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			s.t.Errorf("missing: %s\nin: %s", w, text)
		}
	}
}

const people = "id,name,town\n1,Ann,Oslo\n2,Bob,\n3,\"Cy, jr\",\"\"\n"

const peopleJob = `name: people
source: {csv: {path: people.csv}}
sink: {csv: {path: out/people.csv}}
`

func TestRunCopiesAndBeginsAnew(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob)
	for range 2 {
		r := s.want(0, "run", "job.yaml")
		if got := s.read("out/people.csv"); got != people {
			t.Fatalf("got %q", got)
		}
		s.contains(r.err, "people: done in ", "3 read, 3 written")
		if r.out != "" {
			t.Errorf("standard output: %s", r.out)
		}
	}
	if _, err := os.Stat(filepath.Join(".leat", "people", "lock")); err != nil {
		t.Error(err)
	}
	s.want(0, "run", "job.yaml", "--state", "elsewhere")
	if _, err := os.Stat(filepath.Join("elsewhere", "people", "lock")); err != nil {
		t.Error(err)
	}
}

func TestRunReadsStandardInputAndSets(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.stdin = "name: ${n}\nsource: {csv: {path: '${env:DIR}people.csv'}}\nsink: {csv: {path: out.csv}}\ncolumns: [id, {name: day, value: '${day}'}]\n"
	s.env["DIR"] = "./"
	s.want(0, "run", "-", "--set", "n=x", "--set", "day=1=2")
	if got := s.read("out.csv"); got != "id,day\n1,1=2\n2,1=2\n3,1=2\n" {
		t.Errorf("got %q", got)
	}
	for _, args := range [][]string{
		{"run", "-", "--set", "n"}, {"run", "-", "--set", "n=1", "--set", "n=2"}, {"run", "-", "--set", "=x"}, {"run", "-"},
	} {
		s.want(2, args...)
	}
	s.stdin = "name: x\nsource: {csv: {path: '-'}}\nsink: {csv: {path: out.csv}}\n"
	s.contains(s.want(2, "run", "-").err, "standard input cannot be both the job file and the source")
}

func TestExitCodes(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("ragged.csv", "a,b\n1,2\n3\n4,5\n")
	s.write("dirty.yaml", "source: {csv: {path: ragged.csv}}\nsink: {csv: {path: o.csv}}\n")
	s.write("allowed.yaml", "source: {csv: {path: ragged.csv}}\nsink: {csv: {path: o.csv}}\nerrors: {records: 1, dirty: dirty.jsonl}\n")
	s.write("folder.yaml", "source: {csv: {path: people.csv}}\nsink: {csv: {path: people.csv/x.csv}}\n")
	s.write("speed.yaml", peopleJob+"speed: {bytes: fast}\n")
	s.write("wrong.yaml", "nmae: x\nsource: {csv: {pth: a}}\nsink: {csv: {path: b}}\n")
	for _, c := range []struct {
		code int
		args string
		err  string
	}{
		{0, "version", ""},
		{0, "run allowed.yaml", "done, with dirty records,"},
		{2, "run", "a job file is missing"},
		{2, "run a b", "b is one too many"},
		{2, "run a b", "see: leat run --help"},
		{2, "version now", "now is one too many"},
		{2, "run missing.yaml", "missing.yaml: no such file"},
		{2, "run people.yaml --nonsense", "unknown flag: --nonsense"},
		{2, "rnu job.yaml", `unknown command "rnu"`},
		{2, "rnu job.yaml", "see: leat --help"},
		{2, "run wrong.yaml", `wrong.yaml:1: key "nmae" is not known; did you mean "name"?`},
		{2, "run wrong.yaml", `wrong.yaml:2: source csv: option "pth" is not known; did you mean "path"?`},
		{2, "run speed.yaml", `speed: option "bytes": "fast" is not a size`},
		{2, "run allowed.yaml --metrics nowhere", "--metrics: "},
		{2, "run allowed.yaml --metrics=", "--metrics has no address: give one such as :9090, or leave it out"},
		{2, "run allowed.yaml --keep-rows", "give both"},
		{2, "run allowed.yaml --summary xml", "--summary is text, json or none"},
		{2, "run allowed.yaml --progress dots", "--progress is none, bar or plain"},
		{2, "run allowed.yaml --log-format xml", "--log-format is text or json"},
		{2, "run allowed.yaml --log-level loud", "--log-level is debug, info, warn or error"},
		{2, "connectors cvs", `did you mean "csv"?`},
		{2, "copy people.csv", "a target is missing"},
		{2, "copy", "a source and a target are missing"},
		{2, "copy people.csv ./people.csv", "/people.csv): records would be read"},
		{2, "copy people.csv target", "cannot be told from its name"},
		{2, "copy people.csv nosuch://h/x", "no connector has the scheme nosuch://"},
		{2, "copy people.csv out.csv --mode append", "append"},
		{2, "verify allowed.yaml --ranges 0", "numbers from 1"},
		{1, "copy people.csv postgres://me@127.0.0.1:1/db?table=t", "127.0.0.1:1"},
		{3, "run dirty.yaml", "the limit of dirty records was passed"},
	} {
		r := s.want(c.code, strings.Fields(c.args)...)
		if !strings.Contains(r.err, c.err) {
			t.Errorf("leat %s: missing: %s\nin: %s", c.args, c.err, r.err)
		}
		last := ""
		for line := range strings.Lines(r.err) {
			if line == last {
				t.Errorf("leat %s: said twice: %s", c.args, line)
			}
			last = line
			if c.code == 2 && !strings.HasPrefix(line, "leat: ") {
				t.Errorf("leat %s: line %q", c.args, line)
			}
		}
	}
	if s.leat("run", "folder.yaml").code == 0 {
		t.Error("a file as a folder is no error")
	}
	s.contains(s.read("dirty.jsonl"), "reason")
}

func TestSummaryIsOneObject(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob+"where: id != \"2\"\n")
	r := s.want(0, "run", "job.yaml", "--summary", "json", "--progress", "none")
	var got map[string]any
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	for key, want := range map[string]any{
		"job": "people", "state": "done", "read": 3.0, "written": 2.0, "filtered": 1.0, "dirty": 0.0, "merged": 0.0,
	} {
		if got[key] != want {
			t.Errorf("%s: got %v, want %v", key, got[key], want)
		}
	}
	for _, key := range []string{"bytes_read", "bytes_written", "seconds", "checkpoints"} {
		if n, ok := got[key].(float64); !ok || n <= 0 {
			t.Errorf("%s: %v", key, got[key])
		}
	}
	if r.err != "" {
		t.Errorf("standard error: %s", r.err)
	}
	if r := s.want(0, "run", "job.yaml", "--summary", "none", "--progress", "none"); r.out+r.err != "" {
		t.Errorf("none prints %s %s", r.out, r.err)
	}
}

func TestInterruptedKeepsState(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := s.leatIn(ctx, "run", "job.yaml", "--state", "my state")
	if r.code != exitInterrupted {
		t.Fatalf("exit code %d: %s", r.code, r.err)
	}
	s.contains(r.err, "interrupted", filepath.Join("my state", "people"), "go on with: leat run job.yaml --state 'my state'")
	s.want(0, "run", "job.yaml", "--state", "my state")
}

// A changed job is not gone on with by mistake: the way out is told.
func TestAChangedJobIsRefused(t *testing.T) {
	s := newShell(t)
	s.write("a.csv", "a,b\n1,2\n3\n")
	s.write("other.csv", "a,b\n7,8\n")
	const job = "name: x\nsource: {csv: {path: a.csv}}\nsink: {csv: {path: out.csv}}\n"
	s.write("job.yaml", job)
	s.contains(s.want(3, "run", "job.yaml").err, "the state is kept in .leat/x; begin anew with --restart, or, once the cause is gone, go on with: leat run job.yaml")
	for change, named := range map[string]string{
		"source: {csv: {path: other.csv}}":                `source option "path" was "[\"a.csv\"]" and is "[\"other.csv\"]"`,
		"columns: [a]\nsource: {csv: {path: a.csv}}":      "columns was not given and is [a]",
		"where: a == \"1\"\nsource: {csv: {path: a.csv}}": `where was not given and is "a == \"1\""`,
		"source: {csv: {path: a.csv, skip_lines: 1}}":     `source option "skip_lines" was not given and is "1"`,
		"source: {stream: {rows: 3, columns: [a int64]}}": "the source was csv and is stream",
	} {
		s.write("job.yaml", strings.Replace(job, "source: {csv: {path: a.csv}}", change, 1))
		r := s.want(2, "run", "job.yaml")
		s.contains(r.err, named, "--restart")
	}
	s.write("job.yaml", job+"errors: {records: 1}\nparallelism: 1\n")
	s.contains(s.want(0, "run", "job.yaml").err, "going on with the unfinished run", "2 read, 1 written, 1 dirty")
	s.write("job.yaml", job)
	s.want(3, "run", "job.yaml")
	s.write("job.yaml", strings.Replace(job, "a.csv", "other.csv", 1))
	s.want(2, "run", "job.yaml")
	s.contains(s.want(0, "run", "job.yaml", "--restart").err, "1 read, 1 written")
	if got := s.read("out.csv"); got != "a,b\n7,8\n" {
		t.Errorf("got %q", got)
	}
}

func TestValidateSaysWhatWillHappen(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob+"columns: ['*', {name: origin, value: north}]\nwhere: id != \"2\"\nspeed: {bytes: 20MB, records: 1500}\n")
	r := s.want(0, "validate", "job.yaml")
	s.contains(r.out, "\nlimit: 20.0 MB/s and 1,500 rows/s, of the whole job\n")
	s.contains(r.out, "job people: csv to csv", "id ", "origin", "a constant", "splits: 1", "exactly once", "where: runs in Leat")
	if _, err := os.Stat("out"); err == nil {
		t.Error("validate has made the target's folder")
	}
	if _, err := os.Stat(".leat"); err == nil {
		t.Error("validate has made state")
	}
	s.write("bad.yaml", peopleJob+"columns: [nmae]\n")
	s.contains(s.want(2, "validate", "bad.yaml").err, `no column "nmae"; did you mean "name"?`)
}

func TestVerifyTellsDifferences(t *testing.T) {
	s := newShell(t)
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob)
	s.want(0, "run", "job.yaml")
	s.contains(s.want(0, "verify", "job.yaml").out, "3 rows", "both hold the same records")
	s.write("out/people.csv", strings.Replace(people, "Bob", "Rob", 1))
	r := s.want(1, "verify", "job.yaml")
	s.contains(r.out, "there is no key")
	s.contains(r.err, "source and target differ")
	r = s.want(1, "verify", "job.yaml", "--key", "id")
	s.contains(r.out, "from 2 to below 3: 1 rows on both sides, of different content")
	s.contains(s.want(2, "verify", "job.yaml", "--key", "nope").err, `no column "nope"`)
}

func TestConnectorsAreDescribedFromTheirDeclarations(t *testing.T) {
	s := newShell(t)
	s.contains(s.want(0, "connectors").out, "csv", "stream", "source, sink")
	s.contains(s.want(0, "connectors", "csv").out,
		"as a source:", "as a sink:", "delimiter (text; by default ,)", "path (text; required)", "types:")
}

func TestLogForms(t *testing.T) {
	s := newShell(t)
	s.env["PW"] = "hunter22"
	s.write("people.csv", people)
	s.write("job.yaml", peopleJob)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.leatIn(ctx, "run", "job.yaml")
	r := s.want(0, "run", "job.yaml", "--log-format", "json", "--log-level", "debug", "--progress", "none", "--summary", "none")
	for line := range strings.Lines(r.err) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["msg"] == nil {
			t.Errorf("not a JSON log line: %s", line)
		}
	}
}
