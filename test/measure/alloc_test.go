package measure

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// mostAllocations per row, on the paths that have to be fast.
const mostAllocations = 0.1

// TestAllocationsPerRow runs whole jobs in this process and counts.
func TestAllocationsPerRow(t *testing.T) {
	const rows = 200_000
	pg := testenv.Postgres(t)
	url, path := pg.Database(t), writeLineitem(t, rows)
	parquet := filepath.Join(t.TempDir(), "lineitem.parquet")
	pg.Exec(t, url, "CREATE UNLOGGED TABLE lineitem "+lineitem)
	jobs := []struct{ name, text string }{
		{"csv to postgres", fmt.Sprintf("name: in\nsource: {csv: {path: %s}}\nsink: {postgres: {url: %q, table: lineitem, mode: truncate}}\n", path, url)},
		{"postgres to csv", fmt.Sprintf("name: out\nsource: {postgres: {url: %q, table: lineitem}}\nsink: {csv: {path: %s, mode: overwrite}}\n", url, filepath.Join(t.TempDir(), "out.csv"))},
		{"postgres to postgres", fmt.Sprintf("name: both\nsource: {postgres: {url: %q, table: lineitem}}\nsink: {postgres: {url: %q, table: other, mode: truncate}}\n", url, url)},
		{"csv to csv", fmt.Sprintf("name: csv\nsource: {csv: {path: %s}}\nsink: {csv: {path: %s, mode: overwrite}}\n", path, filepath.Join(t.TempDir(), "out.csv"))},
		{"csv to parquet", fmt.Sprintf("name: into\nsource: {csv: {path: %s, types: %s}}\nsink: {parquet: {path: %s}}\n", path, lineitemTypes, parquet)},
		{"parquet to csv", fmt.Sprintf("name: from\nsource: {parquet: {path: %s}}\nsink: {csv: {path: %s}}\n", parquet, filepath.Join(t.TempDir(), "out.csv"))},
	}
	pg.Exec(t, url, "CREATE UNLOGGED TABLE other "+lineitem)
	registry := connectors.All()
	for _, j := range jobs {
		parsed, err := job.Parse([]byte(j.text), "job.yaml", job.Vars{}, registry)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sum, err := local.New(local.Deps{Registry: registry}).Run(t.Context(), parsed, local.Options{StateDir: t.TempDir()})
		runtime.ReadMemStats(&after)
		if err != nil || sum.Written != rows {
			t.Fatalf("%s: summary %+v, error %v", j.name, sum, err)
		}
		perRow := float64(after.Mallocs-before.Mallocs) / rows
		t.Logf("%s: %.4f allocations and %.0f bytes per row", j.name, perRow, float64(after.TotalAlloc-before.TotalAlloc)/rows)
		if perRow > mostAllocations {
			t.Errorf("%s: %.3f allocations per row, at most %.1f are allowed", j.name, perRow, mostAllocations)
		}
	}
}
