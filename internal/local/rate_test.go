package local_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
	"github.com/leatdata/leat/metrics"
)

// outlet is what a job's limiters had let pass at a time: it was read between
// begin and end.
type outlet struct {
	begin, end time.Duration
	passed     float64
	waited     float64
}

// watchOutlet reads what a job's limiters let pass, every 10 ms until ctx ends.
func watchOutlet(ctx context.Context, r *metrics.Registry) (seen []outlet) {
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	start := time.Now()
	for {
		select {
		case <-ctx.Done():
			return seen
		case <-ticker.C:
		}
		o := outlet{begin: time.Since(start)}
		for s := range r.Each {
			switch s.Name {
			case "leat_subtask_limit_passed_bytes":
				o.passed += s.Value
			case "leat_subtask_limit_wait_seconds":
				o.waited += s.Value
			}
		}
		o.end = time.Since(start)
		seen = append(seen, o)
	}
}

// manyFiles makes a folder of csv files that are one and the same on the disk.
func manyFiles(t *testing.T, bytesEach, n int) string {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	text.WriteString("id,name,amount\n")
	for i := 0; text.Len() < bytesEach; i++ {
		fmt.Fprintf(&text, "%d,%s,%d.25\n", i, strings.Repeat("x", 80), i)
	}
	first := filepath.Join(dir, "000.csv")
	if err := os.WriteFile(first, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < n; i++ {
		if err := os.Link(first, filepath.Join(dir, fmt.Sprintf("%03d.csv", i))); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestTheLimitHoldsForReal copies csv files to PostgreSQL for 20 seconds by four
// subtasks at 20 MiB/s, and looks at what leaves the limiters: never more in a
// second than the limit and a record, and no more than 1.05 of it over all. The
// lower bound, 0.90, says something on a quiet machine only: `make rate` holds it.
func TestTheLimitHoldsForReal(t *testing.T) {
	t.Parallel()
	const limit, record, seconds = 20 << 20, 120, 20
	server := testenv.Postgres(t)
	url := server.Database(t)
	server.Exec(t, url, "CREATE UNLOGGED TABLE t (id bigint, name text, amount numeric)")
	text := fmt.Sprintf("name: rate\nsource: {csv: {path: %q}}\nsink: {postgres: {url: %q, table: t}}\nparallelism: 4\nspeed: {bytes: 20MiB}\n",
		filepath.Join(manyFiles(t, 8<<20, 64), "*.csv"), url)
	j, err := job.Parse([]byte(text), "job.yaml", job.Vars{}, connectors.All())
	if err != nil {
		t.Fatal(err)
	}
	registry := metrics.NewRegistry()
	ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
	defer cancel()
	watched := make(chan []outlet, 1)
	go func() { watched <- watchOutlet(ctx, registry) }()
	sum, err := local.New(local.Deps{Registry: connectors.All(), Metrics: registry.Group("leat")}).Run(ctx, j, local.Options{StateDir: t.TempDir()})
	if err != nil && !errors.Is(err, local.ErrInterrupted) {
		t.Fatal(err)
	}
	if sum.LimitBytes != limit || sum.Waited == 0 {
		t.Errorf("summary %+v", sum)
	}
	judge(t, <-watched, limit, record)
}

// judge holds the bounds on what was seen at the outlet.
func judge(t *testing.T, seen []outlet, limit, record float64) {
	t.Helper()
	first := 0
	for _, o := range seen {
		for o.end-seen[first].begin > time.Second {
			first++
		}
		if passed := o.passed - seen[first].passed; passed > limit+record {
			t.Errorf("%.0f bytes in the second before %s, the limit is %.0f", passed, o.end, limit)
			break
		}
	}
	var judged, passed float64 // seconds and bytes while batches waited
	begun := 0
	for begun < len(seen)-1 && seen[begun].passed == 0 {
		begun++
	}
	calm := 0
	for i := begun + 1; i < len(seen); i++ {
		a, b := seen[i-1], seen[i]
		took := (b.end - a.end).Seconds()
		// All four wait nearly all the time when the limit is what holds them up.
		if calm++; took > 0.02 || b.waited-a.waited < 0.8*4*took {
			calm = 0
		}
		if calm > 20 {
			judged += took
			passed += b.passed - a.passed
		}
	}
	last := seen[len(seen)-1]
	whole := last.passed / limit / (last.end - seen[begun].begin).Seconds()
	if whole > 1.05 {
		t.Errorf("%.3f of the limit passed over all", whole)
	}
	share := passed / limit / judged
	if os.Getenv("LEAT_QUIET") != "" && (whole < 0.90 || share < 0.90) {
		t.Errorf("only %.3f of the limit passed over all, %.3f in %.1f s of waiting", whole, share, judged)
	}
	t.Logf("%.3f of the limit over all; %.3f in %.1f s in which batches waited and the machine had time", whole, share, judged)
}

// Rows that stay packed between two PostgreSQL tables, parquet's batches and those
// of files all wait for the limit, and none is lost in slices: a megabyte takes its
// second.
func TestEveryKindOfBatchIsLimited(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	url := server.Database(t)
	server.Exec(t, url, "CREATE TABLE a AS SELECT n::bigint AS id, repeat('x', 90) || n AS name FROM generate_series(1, 10000) n")
	server.Exec(t, url, "ALTER TABLE a ADD PRIMARY KEY (id)")
	server.Exec(t, url, "CREATE TABLE b (LIKE a INCLUDING ALL)")
	server.Exec(t, url, "CREATE TABLE c (LIKE a INCLUDING ALL)")
	dir := t.TempDir()
	for _, c := range []struct{ name, source, sink string }{
		{"packed", fmt.Sprintf("{postgres: {url: %q, table: a}}", url), fmt.Sprintf("{postgres: {url: %q, table: b}}", url)},
		{"to-parquet", fmt.Sprintf("{postgres: {url: %q, table: b}}", url), fmt.Sprintf("{parquet: {path: %q}}", dir+"/a.parquet")},
		{"from-parquet", fmt.Sprintf("{parquet: {path: %q}}", dir+"/a.parquet"), fmt.Sprintf("{csv: {path: %q}}", dir+"/a.csv")},
		{"from-csv", fmt.Sprintf("{csv: {path: %q}}", dir+"/a.csv"), fmt.Sprintf("{postgres: {url: %q, table: c}}", url)},
	} {
		text := fmt.Sprintf("name: %s\nsource: %s\nsink: %s\nparallelism: 2\nspeed: {bytes: 1MB}\n", c.name, c.source, c.sink)
		j, err := job.Parse([]byte(text), "job.yaml", job.Vars{}, connectors.All())
		if err != nil {
			t.Fatal(err)
		}
		sum, err := local.New(local.Deps{Registry: connectors.All()}).Run(t.Context(), j, local.Options{StateDir: t.TempDir()})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if sum.Written != 10_000 || sum.Waited == 0 || sum.Seconds < 0.9*float64(sum.BytesRead)/1e6 {
			t.Errorf("%s: %+v", c.name, sum)
		}
	}
	server.Expect(t, url, "SELECT count(*) FROM a FULL JOIN c USING (id, name) WHERE a.id IS NULL OR c.id IS NULL", "0")
}

// A run that is stopped under a limit goes on with another number of subtasks, and
// what was measured with it: the numbers of the subtasks are the run's again.
// They are with a target that keeps the positions itself, and with one that leaves
// them to the state.
func TestNumbersGoOnAtAnotherParallelism(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	for _, parallelism := range []int{1, 3, 7} {
		for name, sink := range map[string]string{
			"files":    fmt.Sprintf("{csv: {path: %q}}", t.TempDir()+"/out/"),
			"postgres": fmt.Sprintf("{postgres: {url: %q, table: t}}", server.Database(t)),
		} {
			t.Run(fmt.Sprintf("%s/%d", name, parallelism), func(t *testing.T) { goOnAt(t, parallelism, sink) })
		}
	}
}

// goOnAt stops a run of four subtasks, and goes on with another number of them.
func goOnAt(t *testing.T, other int, sink string) {
	dir, state := t.TempDir(), t.TempDir()
	text := func(parallelism int, speed string) string {
		return fmt.Sprintf("name: goes-on\nsource: {csv: {path: %q}}\nsink: %s\nparallelism: %d\ncheckpoint: {interval: 50ms}\n%s",
			filepath.Join(manyDir(t, dir), "*.csv"), sink, parallelism, speed)
	}
	run := func(ctx context.Context, text string, progress func(local.Progress)) (local.Summary, *metrics.Registry, error) {
		j, err := job.Parse([]byte(text), "job.yaml", job.Vars{}, connectors.All())
		if err != nil {
			t.Fatal(err)
		}
		r := metrics.NewRegistry()
		sum, err := local.New(local.Deps{Registry: connectors.All(), Metrics: r.Group("leat"), Progress: progress}).Run(ctx, j, local.Options{StateDir: state})
		return sum, r, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := run(ctx, text(4, "speed: {records: 4000}\n"), func(p local.Progress) {
		if p.Done >= 2 {
			cancel()
		}
	})
	cancel()
	if !errors.Is(err, local.ErrInterrupted) {
		t.Fatal(err)
	}
	sum, r, err := run(t.Context(), text(other, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	var read, written float64
	for s := range r.Each {
		switch s.Name {
		case "leat_subtask_read_records_total":
			read += s.Value
		case "leat_subtask_write_records_total":
			written += s.Value
		}
	}
	if int64(read) != sum.Read || int64(written) != sum.Written || sum.Read != 8000 {
		t.Errorf("the subtasks' numbers are %.0f read and %.0f written, the run's %d and %d", read, written, sum.Read, sum.Written)
	}
}

// manyDir makes eight files of a thousand records in a folder, once.
func manyDir(t *testing.T, dir string) string {
	t.Helper()
	in := filepath.Join(dir, "in")
	if err := os.MkdirAll(in, 0o755); err != nil {
		t.Fatal(err)
	}
	for f := range 8 {
		var text bytes.Buffer
		text.WriteString("id,name\n")
		for i := range 1000 {
			fmt.Fprintf(&text, "%d,%d\n", f*1000+i, i)
		}
		name := filepath.Join(in, fmt.Sprintf("%d.csv", f))
		if _, err := os.Stat(name); err == nil {
			continue // its time must not change
		}
		if err := os.WriteFile(name, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return in
}
