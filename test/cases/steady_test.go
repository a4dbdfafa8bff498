package cases

import (
	"fmt"
	"sync"
	"testing"

	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
)

// steadyRows are about a MiB of records, less than a reader's largest batch: with
// a limit they take seconds, and are committed in each of them.
const steadyRows = 10_000

// steadySources makes the same records in each kind of source, and returns the
// jobs' sources by name.
func steadySources(t *testing.T, s *scene) map[string]string {
	t.Helper()
	s.exec(fmt.Sprintf("CREATE TABLE s AS SELECT n AS id, repeat('x', 90) AS v FROM generate_series(1, %d) n; ALTER TABLE s ADD PRIMARY KEY (id)", steadyRows))
	maria := testenv.MariaDB(t)
	s.my = maria.Database(t)
	maria.Exec(t, s.my, fmt.Sprintf("CREATE TABLE s (id INT PRIMARY KEY, v TEXT); INSERT INTO s SELECT seq, repeat('x', 90) FROM seq_1_to_%d", steadyRows))
	sources := map[string]string{
		"postgres, packed": "postgres: {url: {pg}, table: s}",
		"postgres, cells":  "postgres: {url: {pg}, table: s}",
		"mysql":            "mysql: {url: {my}, table: s}",
		"sqlite":           `sqlite: {path: "{dir}/s.db", table: s}`,
		"stream":           fmt.Sprintf("stream: {rows: %d, columns: [id int64, v text]}", steadyRows),
	}
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		sources[format] = fmt.Sprintf(`%s: {path: "{dir}/s.%s"}`, format, format)
	}
	for _, name := range []string{"sqlite", "csv", "jsonl", "parquet"} {
		s.in(t).copied(steadyRows, fmt.Sprintf("source: {postgres: {url: {pg}, table: s}}\nsink: {%s}\nparallelism: 1\n", sources[name]))
	}
	return sources
}

// What is durable grows steadily under a limit, by bytes, by records or by both,
// from every kind of source: no time goes by without a commit, and none brings all
// at once.
func TestDurableRowsGrowSteadilyUnderALimit(t *testing.T) {
	t.Parallel()
	const bytes, records = "bytes: 400kB", "records: 4000"
	speeds := map[string]string{
		"postgres, packed": bytes, "postgres, cells": records, "mysql": bytes, "sqlite": records,
		"stream": bytes + ", " + records, "csv": records, "jsonl": records, "parquet": bytes, "parquet, records": records,
	}
	s := newPostgres(t, "")
	sources, n := steadySources(t, s), 0
	var jobs sync.WaitGroup
	for name, speed := range speeds {
		n++
		columns, table := "", fmt.Sprintf("t%d", n)
		if name == "postgres, cells" {
			columns = "columns: ['*', {name: c, value: x}]\n"
		}
		source := sources[name]
		if name == "parquet, records" {
			source = sources["parquet"]
		}
		s := s.in(t)
		jobs.Go(func() {
			var last, largest int64
			s.progress = func(p local.Progress) {
				largest, last = max(largest, p.Written-last), p.Written
			}
			sum, err := s.run(fmt.Sprintf("source: {%s}\nsink: {postgres: {url: {pg}, table: %s}}\n%sparallelism: 1\ncheckpoint: {interval: 100ms}\nspeed: {%s}\n", source, table, columns, speed))
			if err != nil || sum.Written != steadyRows {
				t.Errorf("%s: %v, %+v", name, err, sum)
				return
			}
			// A commit of 100 ms has 400 rows; a machine that is held up for long
			// may show some at once.
			if largest > 3*steadyRows/10 {
				t.Errorf("%s: %d of %d rows became durable at once", name, largest, steadyRows)
			}
			// No second sees more than 4,000 rows, or 400 kB.
			if sum.Seconds < 2 {
				t.Errorf("%s: it took %.1f s", name, sum.Seconds)
			}
			t.Logf("%s: %d of %d rows became durable at once, in %.1f s", name, largest, steadyRows, sum.Seconds)
		})
	}
	jobs.Wait()
}
