package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// spoil gives a scene a source of its own, of which every 100th record is dirty,
// its id no number, and returns their ids, sorted.
func spoil(t *testing.T, s *scene) []string {
	t.Helper()
	var text strings.Builder
	fmt.Fprintln(&text, header)
	var ids []string
	s.want = nil
	for i := range rows {
		if i%100 == 99 {
			ids = append(ids, fmt.Sprint("x", i))
			fmt.Fprintf(&text, "x%s\n", record(i))
			continue
		}
		s.want = append(s.want, record(i))
		fmt.Fprintln(&text, record(i))
	}
	_, shared, _ := strings.Cut(s.job, "csv: {path: ")
	shared, _, _ = strings.Cut(shared, ",")
	path := filepath.Join(t.TempDir(), "spoilt.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	s.job = strings.Replace(s.job, shared, path, 1)
	s.job = strings.Replace(s.job, "split_size: 40KiB}", "split_size: 40KiB, types: {id: int64, name: text, amount: text, at: text}}", 1) +
		fmt.Sprintf("errors: {records: %d}\n", len(ids))
	slices.Sort(ids)
	return ids
}

// TestKillWithDirtyRecords shows that each dirty record is kept once, as each
// other is written once, wherever the job is killed (exactness rule 13).
func TestKillWithDirtyRecords(t *testing.T) {
	t.Parallel()
	from := newSources(t)
	for name, setUp := range map[string]func(t *testing.T) scene{
		"csv to postgres": func(t *testing.T) scene { return csvToPostgres(t, from, "append") },
		"csv to csv":      func(t *testing.T) scene { return csvToCSV(t, from, "out/") },
	} {
		for _, point := range []string{"before-commit:1", "after-commit:0", "after-commit:2", "before-store:1", "after-store:1", "after-finish:0", "before-close:0"} {
			t.Run(name+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := setUp(t)
				ids := spoil(t, &s)
				r := newRunner(t, s)
				if p, exit := testenv.RunProcess(t, r.command(point+":kill")); exit.Signal != syscall.SIGKILL {
					t.Fatalf("it was not killed: %+v\n%s", exit, p.Stderr())
				}
				r.conclude(t, s)
				if kept := dirtyIDs(t, r); !slices.Equal(kept, ids) {
					t.Errorf("kept %q, want %q", kept, ids)
				}
			})
		}
	}
	t.Run("rule 13 broken", func(t *testing.T) {
		t.Parallel()
		s := csvToPostgres(t, from, "append")
		ids := spoil(t, &s)
		r := newRunner(t, s)
		if _, exit := testenv.RunProcess(t, r.command("before-commit:0:kill")); exit.Signal != syscall.SIGKILL {
			t.Fatalf("it was not killed: %+v", exit)
		}
		end(t, testenv.StartProcess(t, r.command("", "count-unrecorded-dirty")), "")
		kept := dirtyIDs(t, r)
		if len(kept) <= len(ids) || !slices.Equal(slices.Compact(kept), ids) {
			t.Errorf("the comparison does not see it: %q", kept)
		}
	})
}

// dirtyIDs are the ids of the dirty records that were kept, sorted.
func dirtyIDs(t *testing.T, r runner) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.state, "j", "dirty.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(text)) {
		var kept struct{ Record struct{ ID string } }
		if err := json.Unmarshal([]byte(line), &kept); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ids = append(ids, kept.Record.ID)
	}
	slices.Sort(ids)
	return ids
}
