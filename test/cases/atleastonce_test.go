package cases

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// A target that cannot have each record once is told of when the job runs, once
// and with the reason; standard output, which nobody expects to, is not.
func TestAtLeastOnceIsToldOf(t *testing.T) {
	s := newScene(t)
	maria := testenv.MariaDB(t)
	s.my = maria.Database(t)
	maria.Exec(t, s.my, "CREATE TABLE m (id INT PRIMARY KEY) ENGINE=MyISAM; CREATE TABLE i (id INT PRIMARY KEY)")
	s.write("in.csv", "id\n1\n2\n")
	for sink, told := range map[string]int{"mysql: {url: {my}, table: m}": 1, "mysql: {url: {my}, table: i}": 0, "csv: {path: {dir}/out.csv}": 0} {
		var log bytes.Buffer
		registry := connectors.All()
		j, err := job.Parse([]byte(s.fill("name: j\nsource: {csv: {path: {dir}/in.csv}}\nsink: {"+sink+"}\n")), "job.yaml", job.Vars{}, registry)
		if err != nil {
			t.Fatal(err)
		}
		r := local.New(local.Deps{Registry: registry, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if sum, err := r.Run(t.Context(), j, local.Options{StateDir: t.TempDir()}); err != nil || sum.Written != 2 {
			t.Errorf("%s: %+v, %v", sink, sum, err)
		}
		if got := strings.Count(log.String(), "at least once"); got != told || told > 0 && !strings.Contains(log.String(), "MyISAM") {
			t.Errorf("%s: told %d times, want %d:\n%s", sink, got, told, log.String())
		}
	}
}
