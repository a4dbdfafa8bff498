package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/job"
)

// badWords is a job of n dirty records, which go to a file.
func badWords(name, n, file string) string {
	text := strings.Replace(numbers, "name: numbers", "name: "+name, 1)
	return strings.Replace(text, "rows: 3000", "rows: "+n, 1) + cast + "errors: {records: 3000, dirty: " + file + "}\n"
}

func refusedFor(t *testing.T, err error, parts ...string) {
	t.Helper()
	if connector.ClassOf(err) != connector.Usage {
		t.Errorf("error %v: want one of wrong use", err)
	}
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v: want %q in it", err, part)
		}
	}
}

// Exactness rule 13: a job replaces its own file of dirty records.
func TestOwnDirtyFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "reports", "bad.jsonl")
	for _, n := range []string{"20", "7", "7"} {
		if _, err := run(t, dir, badWords("a", n, file)); err != nil {
			t.Fatal(err)
		}
		if got := len(dirtyLines(t, file)); got != map[string]int{"20": 20, "7": 7}[n] {
			t.Errorf("%d dirty records after a run of %s", got, n)
		}
	}
	// A run without any leaves none of an earlier one.
	clean := strings.Replace(badWords("a", "7", file), cast, "", 1)
	if _, err := run(t, dir, clean); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the dirty records of an earlier run stand")
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(left) != 0 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

// Exactness rule 13: another job's dirty records are not replaced.
func TestDirtyFileOfAnotherJobIsRefused(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "bad.jsonl")
	if _, err := run(t, dir, badWords("a", "20", file)); err != nil {
		t.Fatal(err)
	}
	_, err := run(t, dir, badWords("b", "3", file))
	refusedFor(t, err, file, "job a", "move it away, or name another")
	_, err = run(t, other, badWords("a", "3", file))
	refusedFor(t, err, file, "does not know it", "move it away, or name another")
	if got := len(dirtyLines(t, file)); got != 20 {
		t.Errorf("%d dirty records of the first job are left of 20", got)
	}
	// Moved away, it is in nobody's way; the first job then does not take the
	// second's for its own.
	if err := os.Rename(file, file+".old"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, badWords("b", "3", file)); err != nil {
		t.Fatal(err)
	}
	_, err = run(t, dir, badWords("a", "20", file))
	refusedFor(t, err, file, "job b")
	if got := len(dirtyLines(t, file)); got != 3 {
		t.Errorf("%d dirty records of the second job are left of 3", got)
	}
}

func TestForeignFileIsNoDirtyFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "orders.csv")
	if err := os.WriteFile(file, []byte("id\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Without dirty records too: the file was to be removed then.
	for _, text := range []string{badWords("a", "3", file), strings.Replace(badWords("a", "3", file), cast, "", 1)} {
		_, err := run(t, filepath.Join(dir, "state"), text)
		refusedFor(t, err, file)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "id\n1\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	_, err := run(t, filepath.Join(dir, "state"), badWords("a", "3", dir))
	refusedFor(t, err, dir, "is no file")
	_, err = run(t, filepath.Join(dir, "state"), badWords("a", "3", filepath.Join(file, "bad.jsonl")))
	refusedFor(t, err, file)
}

func TestChangedDirtyFileIsNoLongerOurs(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.jsonl")
	if _, err := run(t, dir, badWords("a", "3", file)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("a note\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = run(t, dir, badWords("a", "3", file))
	refusedFor(t, err, file)
}

// A file that comes while the job runs stays, and the run ends when it is gone.
func TestDirtyFileThatComesMeanwhile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "bad.jsonl")
	text := badWords("a", "3000", file)
	var comes sync.Once
	r := local.New(local.Deps{Registry: registry(t), LockFolder: func(string) func() {
		comes.Do(func() {
			if err := os.WriteFile(file, []byte("precious\n"), 0o600); err != nil {
				t.Error(err)
			}
		})
		return func() {}
	}})
	sum, err := r.Run(t.Context(), parse(t, text), local.Options{StateDir: dir})
	if err == nil || sum.State != jobmaster.Failed || !strings.Contains(err.Error(), file) || connector.ClassOf(err) == connector.Usage {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "precious\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	first := state(t, dir, "a").Current.Run.ID
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	sum, err = run(t, dir, text)
	if err != nil || sum.State != jobmaster.DoneWithDirty || sum.Dirty != 3000 || state(t, dir, "a").Current.Run.ID != first {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	if got := len(dirtyLines(t, file)); got != 3000 {
		t.Errorf("%d dirty records are kept of 3000", got)
	}
}

// What a job reads or writes is no place for its dirty records, though it may
// not be there yet; a folder whose files are all read is doubted.
func TestDirtyFileIsNoEndOfTheJob(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "bad.jsonl")
	places := connector.Identity{Places: []string{file}}
	all := connector.Identity{Behind: []string{"new: " + filepath.Join(dir, "*.jsonl")}}
	for _, c := range []struct {
		name         string
		source, sink connector.Identity
		refused      string
		doubt        bool
	}{
		{"the source", places, connector.Identity{}, "source", false},
		{"the target", connector.Identity{}, places, "target", false},
		{"a folder that is read", all, connector.Identity{}, "", true},
		{"elsewhere", connector.Identity{Places: []string{dir}}, connector.Identity{Places: []string{file + "2"}}, "", false},
	} {
		r, err := connector.NewRegistry(placed(c.source, c.sink))
		if err != nil {
			t.Fatal(err)
		}
		j, err := job.Parse([]byte(badWords("a", "3", filepath.Join(link, "bad.jsonl"))), "job.yaml", job.Vars{}, r)
		if err != nil {
			t.Fatal(err)
		}
		report, err := local.New(local.Deps{Registry: r}).Validate(t.Context(), j)
		if c.refused == "" {
			if err != nil || strings.Contains(strings.Join(report.Doubts, "\n"), "errors.dirty") != c.doubt {
				t.Errorf("%s: %v, %q", c.name, err, report.Doubts)
			}
			continue
		}
		refusedFor(t, err, "bad.jsonl", c.refused)
	}
}

// Where no file can be made is told before anything is copied, not at the end.
func TestDirtyFileThatCannotBeMade(t *testing.T) {
	_, err := run(t, t.TempDir(), badWords("a", "3", "/proc/self/bad.jsonl"))
	refusedFor(t, err, "/proc/self/bad.jsonl", "cannot be made")
}
