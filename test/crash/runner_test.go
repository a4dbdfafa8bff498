package crash

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// number reads a setting of the environment.
func number(t *testing.T, name string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// runner runs one scene's job with the binary that has failpoints.
type runner struct {
	binary, job, state string
}

func newRunner(t *testing.T, s scene) runner {
	t.Helper()
	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(job, []byte(s.job), 0o600); err != nil {
		t.Fatal(err)
	}
	return runner{binary: testenv.Leat(t, testenv.Tags("leat_failpoints")), job: job, state: filepath.Join(dir, "state")}
}

// copied returns a runner of the same job with a copy of the state as it stands.
func (r runner) copied(t *testing.T) runner {
	t.Helper()
	c := runner{binary: r.binary, job: r.job, state: filepath.Join(t.TempDir(), "state")}
	if err := os.CopyFS(c.state, os.DirFS(r.state)); err != nil {
		t.Fatal(err)
	}
	return c
}

// command runs the job; failpoint and broken, which may be "", are what
// LEAT_FAILPOINT and LEAT_BREAK say.
func (r runner) command(failpoint string, broken ...string) testenv.Command {
	c := testenv.Command{Path: r.binary, Args: []string{"run", r.job, "--state", r.state, "--progress", "none", "--summary", "json"}}
	if failpoint != "" {
		c.Env = append(c.Env, "LEAT_FAILPOINT="+failpoint)
	}
	for _, rule := range broken {
		c.Env = append(c.Env, "LEAT_BREAK="+rule)
	}
	return c
}

// run runs the job to its end, which has to be a good one.
func (r runner) run(t *testing.T) time.Duration {
	t.Helper()
	start := time.Now()
	p, exit := testenv.RunProcess(t, r.command(""))
	if exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	return time.Since(start)
}

// conclude brings a killed job to its end and checks the target. A run that
// was killed behind its stored end has at most its mark to take away, and
// leaves that to the next run, which is made where it adds no rows.
func (r runner) conclude(t *testing.T, s scene) {
	t.Helper()
	if r.finished(t) {
		checkRows(t, s)
		checkMark(t, s)
		if !s.again {
			return
		}
	}
	r.run(t)
	check(t, s)
}

// finished reports whether the stored state says that the run is done.
func (r runner) finished(t *testing.T) bool {
	t.Helper()
	var s struct {
		Current struct{ State struct{ Outcome string } }
	}
	raw := r.stored(t)
	if raw == nil {
		return false
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s.Current.State.Outcome == "done" || s.Current.State.Outcome == "done_with_dirty"
}

// prepared reports whether the stored state holds a prepared run.
func (r runner) prepared(t *testing.T) bool {
	t.Helper()
	var s struct {
		Current struct{ Prepared bool }
	}
	raw := r.stored(t)
	if raw == nil {
		return false
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s.Current.Prepared
}

// stored returns the last stored state, nil without one.
func (r runner) stored(t *testing.T) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.state, "j", "state-*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return nil
	}
	raw, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
