package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
	"github.com/leatdata/leat/metrics"
)

// The metrics count dirty records by their cause, as the reader, the conversion and
// the target find them.
func TestDirtyRecordsAreCountedByCause(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	url := server.Database(t)
	server.Exec(t, url, "CREATE DOMAIN given AS text NOT NULL; CREATE TABLE t (id int PRIMARY KEY, v given, n int CHECK (n < 10)); INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 1)")
	name := filepath.Join(t.TempDir(), "in.csv")
	const text = "id,v,n\n1,again,1\n2,again,1\n3,,1\n4,a,x\n5,a\n6,a,99\n7,a,1\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse(fmt.Appendf(nil, "name: j\nsource: {csv: {path: %q}}\nsink: {postgres: {url: %q, table: t, mode: append}}\nparallelism: 1\nerrors: {records: 6}\n", name, url), "job.yaml", job.Vars{}, connectors.All())
	if err != nil {
		t.Fatal(err)
	}
	r := metrics.NewRegistry()
	sum, err := local.New(local.Deps{Registry: connectors.All(), Metrics: r.Group("leat")}).Run(t.Context(), j, local.Options{StateDir: t.TempDir()})
	if err != nil || sum.Written != 1 || sum.Dirty != 6 {
		t.Fatalf("%v, %+v", err, sum)
	}
	counts := map[string]float64{}
	for s := range r.Each {
		if s.Name == "leat_subtask_errors_total" {
			for _, l := range s.Labels {
				if l.Key == "cause" {
					counts[l.Value] += s.Value
				}
			}
		}
	}
	for cause, want := range map[string]float64{"duplicate": 2, "null": 1, "conversion": 2, "other": 1} {
		if counts[cause] != want {
			t.Errorf("%s: %g are counted, want %g; all: %v", cause, counts[cause], want, counts)
		}
	}
}
