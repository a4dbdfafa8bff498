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
// second than the limit and a record, and while batches wait 0.90 to 1.05 of it.
// Time in which the machine is so busy that this test itself comes late is not
// judged by the lower bound.
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
	for i := begun + 1; i < len(seen); i++ {
		a, b := seen[i-1], seen[i]
		took := (b.end - a.end).Seconds()
		if took < 0.02 && b.waited-a.waited > took/2 {
			judged += took
			passed += b.passed - a.passed
		}
	}
	last := seen[len(seen)-1]
	whole := last.passed / limit / (last.end - seen[begun].begin).Seconds()
	if whole > 1.05 {
		t.Errorf("%.3f of the limit passed over all", whole)
	}
	if share := passed / limit / judged; judged > 1 && share < 0.90 {
		t.Errorf("only %.3f of the limit passed in %.1f s of waiting", share, judged)
	}
	t.Logf("%.3f of the limit over all; %.3f in %.1f s in which batches waited and the machine had time", whole, passed/limit/judged, judged)
}
