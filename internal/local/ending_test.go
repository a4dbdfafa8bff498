package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
)

const numbers = "name: numbers\nsource: {stream: {rows: 3000, split_rows: 500, nulls: 0, columns: [id int64, word text]}}\nsink: {stream: {}}\n"

func run(t *testing.T, dir, text string, opts ...func(*local.Options)) (local.Summary, error) {
	t.Helper()
	o := local.Options{StateDir: dir}
	for _, set := range opts {
		set(&o)
	}
	return local.New(local.Deps{Registry: registry(t)}).Run(t.Context(), parse(t, text), o)
}

// interrupted leaves an unfinished run of an endless job.
func interrupted(t *testing.T, dir string) string {
	t.Helper()
	endless := strings.Replace(numbers, "rows: 3000", "rows: 0", 1)
	ctx, cancel := context.WithCancel(t.Context())
	r := local.New(local.Deps{Registry: registry(t), Progress: func(p local.Progress) {
		if p.Done > 2 {
			cancel()
		}
	}})
	sum, err := r.Run(ctx, parse(t, endless), local.Options{StateDir: dir})
	if !errors.Is(err, local.ErrInterrupted) || sum.State != jobmaster.Stopped || sum.Read == 0 {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	return endless
}

func TestInterruptedRunIsGoneOnWith(t *testing.T) {
	dir := t.TempDir()
	endless := interrupted(t, dir)
	before := state(t, dir, "numbers")
	interruptedAgain := interrupted(t, dir)
	after := state(t, dir, "numbers")
	if endless != interruptedAgain || before.Current.Run.ID != after.Current.Run.ID {
		t.Errorf("run %s became %s", before.Current.Run.ID, after.Current.Run.ID)
	}
	if after.Epoch <= before.Epoch {
		t.Errorf("the epoch went from %d to %d", before.Epoch, after.Epoch)
	}
}

func TestChangedJobIsRefused(t *testing.T) {
	dir := t.TempDir()
	endless := interrupted(t, dir)
	changed := strings.Replace(endless, "split_rows: 500", "split_rows: 500, seed: 7", 1)
	_, err := run(t, dir, changed)
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "seed") || !strings.Contains(err.Error(), "--restart") {
		t.Fatalf("error %v", err)
	}
	old := state(t, dir, "numbers").Current.Run.ID
	finite := strings.Replace(changed, "rows: 0", "rows: 3000", 1)
	sum, err := run(t, dir, finite, func(o *local.Options) { o.Restart = true })
	if err != nil || sum.Written != 3000 {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	if got := state(t, dir, "numbers").Current.Run; got.ID == old || got.Abandoned != old {
		t.Errorf("run %+v does not abandon %s", got, old)
	}
}

func TestFinishedJobBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	var ids []string
	for range 2 {
		if sum, err := run(t, dir, numbers); err != nil || sum.Written != 3000 {
			t.Fatalf("summary %+v, error %v", sum, err)
		}
		ids = append(ids, state(t, dir, "numbers").Current.Run.ID)
	}
	if ids[0] == ids[1] {
		t.Errorf("both runs are %s", ids[0])
	}
}

func TestSecondProcessGivesUp(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var second error
	tried := false
	r := local.New(local.Deps{Registry: registry(t), Progress: func(local.Progress) {
		if !tried {
			tried = true
			_, second = run(t, dir, numbers)
			cancel()
		}
	}})
	_, _ = r.Run(ctx, parse(t, strings.Replace(numbers, "rows: 3000", "rows: 0", 1)), local.Options{StateDir: dir})
	if !errors.Is(second, local.ErrLocked) || connector.ClassOf(second) != connector.Usage {
		t.Errorf("the second run ended with %v", second)
	}
}

// cast makes every record dirty whose word is no uuid: all of them.
const cast = "columns: [id, {name: n, from: word, cast: uuid}]\n"

// TestDirtyRecordsWithinTheLimit shows exactness rule 13: kept with their
// reasons, counted, and the job goes on.
func TestDirtyRecordsWithinTheLimit(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(numbers, "rows: 3000", "rows: 20", 1) + cast + "errors: {records: 20, dirty: " + filepath.Join(dir, "bad.jsonl") + "}\n"
	sum, err := run(t, dir, text)
	if err != nil || sum.State != jobmaster.DoneWithDirty || sum.Dirty != 20 || sum.Written != 0 || sum.Read != 20 {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	lines := dirtyLines(t, filepath.Join(dir, "bad.jsonl"))
	if len(lines) != 20 {
		t.Fatalf("%d dirty records are kept", len(lines))
	}
	if l := lines[0]; l["column"] != "n" || l["reason"] == "" || l["record"].(map[string]any)["id"] != "1" {
		t.Errorf("kept %v", l)
	}
}

func TestDirtyLimitFailsTheJob(t *testing.T) {
	dir := t.TempDir()
	_, err := run(t, dir, numbers+cast+"errors: {records: 2}\n")
	if !errors.Is(err, local.ErrDirtyLimit) || !strings.Contains(err.Error(), "column n") || !strings.Contains(err.Error(), "dirty.jsonl") {
		t.Fatalf("error %v: want the limit, an example and where the rest is", err)
	}
	if lines := dirtyLines(t, filepath.Join(dir, "numbers", "dirty.jsonl")); len(lines) < 3 {
		t.Errorf("%d dirty records are kept", len(lines))
	}
	// The limit may be raised, and the run is then gone on with.
	sum, err := run(t, dir, numbers+cast+"errors: {records: 3000}\n")
	if err != nil || sum.Dirty != 3000 {
		t.Fatalf("summary %+v, error %v", sum, err)
	}
	if lines := dirtyLines(t, filepath.Join(dir, "numbers", "dirty.jsonl")); len(lines) != 3000 {
		t.Errorf("%d dirty records are kept", len(lines))
	}
}

func TestPercentageIsJudgedAtTheEnd(t *testing.T) {
	few := strings.Replace(numbers, "rows: 3000", "rows: 10", 1) + cast
	if _, err := run(t, t.TempDir(), few+"errors: {percentage: 99}\n"); !errors.Is(err, local.ErrDirtyLimit) {
		t.Errorf("100 %% of 10 records where 99 are allowed: %v", err)
	}
	if sum, err := run(t, t.TempDir(), few+"errors: {percentage: 100}\n"); err != nil || sum.Dirty != 10 {
		t.Errorf("summary %+v, error %v", sum, err)
	}
}

func TestWhereIsCounted(t *testing.T) {
	sum, err := run(t, t.TempDir(), numbers+"where: id % 3 == 0\n")
	if err != nil || sum.Written != 1000 || sum.Filtered != 2000 {
		t.Errorf("summary %+v, error %v", sum, err)
	}
}

// stored is what these tests look at in a state file.
type stored struct {
	Epoch   uint64
	Current struct{ Run connector.Run }
}

func state(t *testing.T, dir, name string) stored {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, name, "state-*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("states %v, %v", files, err)
	}
	raw, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	var s stored
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func dirtyLines(t *testing.T, name string) []map[string]any {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for l := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		var m map[string]any
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, m)
	}
	return lines
}
