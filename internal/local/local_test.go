package local_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/stream"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func registry(t *testing.T) *connector.Registry {
	t.Helper()
	r, err := connector.NewRegistry(stream.Definition())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func parse(t *testing.T, text string) *job.Job {
	t.Helper()
	j, err := job.Parse([]byte(text), "job.yaml", job.Vars{}, registry(t))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestRunCopiesAll(t *testing.T) {
	dir := t.TempDir()
	j := parse(t, "name: numbers\nsource: {stream: {rows: 100000, split_rows: 7000}}\nsink: {stream: {}}\n")
	var last local.Progress
	r := local.New(local.Deps{Registry: registry(t), Progress: func(p local.Progress) { last = p }})
	sum, err := r.Run(t.Context(), j, local.Options{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if sum.State != jobmaster.Done || sum.Read != 100_000 || sum.Written != 100_000 {
		t.Errorf("summary %+v", sum)
	}
	if last.Share != 1 || last.Done != 15 || last.Splits != 15 {
		t.Errorf("progress %+v", last)
	}
	states, err := filepath.Glob(filepath.Join(dir, "numbers", "state-*.json"))
	if err != nil || len(states) != 2 {
		t.Errorf("states %v, %v: want the last and one older", states, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "numbers", "dirty.jsonl")); err == nil {
		t.Error("a dirty file without dirty records")
	}
}
