package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// endedTarget is a target of mode append and a way to count its records.
type endedTarget struct {
	sink  string
	count func(t *testing.T) int
}

func endedTargets(t *testing.T, dir string) map[string]endedTarget {
	pg := testenv.Postgres(t)
	url := pg.Database(t)
	db, out := filepath.Join(dir, "out.db"), filepath.Join(dir, "out")
	return map[string]endedTarget{
		"postgres": {fmt.Sprintf("{postgres: {url: %q, table: people, mode: append}}", url), func(t *testing.T) int {
			return len(pg.Rows(t, url, "SELECT name FROM people"))
		}},
		"sqlite": {fmt.Sprintf("{sqlite: {path: %s, table: people, mode: append}}", db), func(t *testing.T) int {
			p, exit := testenv.RunProcess(t, testenv.Command{Path: testenv.Leat(t), Dir: t.TempDir(), Args: []string{"copy", "sqlite://" + db + "?table=people", "-", "--progress", "none", "--summary", "none"}})
			if exit.Code != 0 {
				t.Fatal(p.Stderr())
			}
			return strings.Count(p.Stdout(), "\n") - 1
		}},
		"folder": {fmt.Sprintf("{csv: {path: %s/, mode: append}}", out), func(t *testing.T) (n int) {
			parts, err := filepath.Glob(filepath.Join(out, "*.csv"))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts {
				text, err := os.ReadFile(part)
				if err != nil {
					t.Fatal(err)
				}
				n += strings.Count(string(text), "\n") - 1
			}
			return n
		}},
	}
}

// A run that the target has finished, and whose process was killed before it
// could note that, is not copied once more by --restart in mode append.
func TestRestartOfAFinishedRunDoublesNothing(t *testing.T) {
	dir := t.TempDir()
	input := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(input, []byte(people), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range endedTargets(t, dir) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "job.yaml")
			if err := os.WriteFile(file, []byte("name: "+name+"\nsource: {csv: {path: "+input+"}}\nsink: "+target.sink+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			start := func(failpoint string, more ...string) (*testenv.Process, testenv.Exit) {
				c := testenv.Command{
					Path: testenv.Leat(t, testenv.Tags("leat_failpoints")), Dir: dir,
					Args: append([]string{"run", file, "--progress", "none"}, more...),
				}
				if failpoint != "" {
					c.Env = []string{"LEAT_FAILPOINT=" + failpoint}
				}
				return testenv.RunProcess(t, c)
			}
			if _, exit := start("after-finish:0:kill"); exit.Signal != syscall.SIGKILL {
				t.Fatalf("it was not killed: %+v", exit)
			}
			p, exit := start("", "--restart")
			if exit.Code != exitUsage || !strings.Contains(p.Stderr(), "without --restart") || !strings.Contains(p.Stderr(), "--keep-rows") {
				t.Errorf("--restart: exit %+v\n%s", exit, p.Stderr())
			}
			if n := target.count(t); n != 3 {
				t.Errorf("the target has %d records of 3", n)
			}
			// The ways out: end it as done, or copy again knowingly.
			if p, exit := start(""); exit.Code != exitDone {
				t.Fatalf("going on: exit %+v\n%s", exit, p.Stderr())
			}
			if n := target.count(t); n != 3 {
				t.Errorf("the target has %d records of 3 after going on", n)
			}
			if _, exit := start("after-finish:0:kill"); exit.Signal != syscall.SIGKILL {
				t.Fatalf("it was not killed: %+v", exit)
			}
			if p, exit := start("", "--restart", "--keep-rows"); exit.Code != exitDone || !strings.Contains(p.Stderr(), "given up") {
				t.Errorf("--keep-rows: exit %+v\n%s", exit, p.Stderr())
			}
			if n := target.count(t); n != 9 {
				t.Errorf("the target has %d records of 9 that were asked for", n)
			}
			if name != "folder" {
				return
			}
			// Files may be shown in part.
			if _, exit := start("before-rename:0:kill"); exit.Signal != syscall.SIGKILL {
				t.Fatalf("it was not killed: %+v", exit)
			}
			if p, exit := start("", "--restart"); exit.Code != exitUsage || !strings.Contains(p.Stderr(), "all or some") {
				t.Errorf("--restart: exit %+v\n%s", exit, p.Stderr())
			}
			if p, exit := start(""); exit.Code != exitDone || target.count(t) != 12 {
				t.Errorf("going on: exit %+v, %d records of 12\n%s", exit, target.count(t), p.Stderr())
			}
		})
	}
}
