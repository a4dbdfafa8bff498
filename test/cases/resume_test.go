package cases

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// interrupt runs a job until the n-th time that it passes a named point, and
// ends it there as an interrupt would.
func (s *scene) interrupt(point string, n int, text string) local.Summary {
	s.t.Helper()
	registry := connectors.All()
	j, err := job.Parse([]byte(s.fill(text)), "job.yaml", job.Vars{}, registry)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	passed := make(chan struct{}, 1000)
	r := local.New(local.Deps{Registry: registry, Failpoint: func(name string) {
		if name == point {
			passed <- struct{}{}
			if len(passed) >= n {
				cancel()
			}
		}
	}})
	sum, err := r.Run(ctx, j, local.Options{StateDir: s.state})
	if !errors.Is(err, local.ErrInterrupted) {
		s.t.Fatalf("it was not interrupted at %s: %v, summary %+v", point, err, sum)
	}
	return sum
}

const oftenCommitted = "parallelism: 1\ncheckpoint: {interval: 10ms}\n"

// A run killed in its middle is gone on with; rows that came in between and
// lie past the bounds of its where never get in.
func TestABoundedRunStaysWithinItsBounds(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE source (id int PRIMARY KEY, v text); INSERT INTO source SELECT i, 'v' || i FROM generate_series(-50, 100) i; ANALYZE source")
	text := "source: {postgres: {url: {pg}, table: source, split_rows: 10}}\nsink: {postgres: {url: {pg}, table: target}}\nwhere: id between 1 and 100\n" + oftenCommitted
	sum := s.interrupt("after-commit", 9, text)
	if n := testenv.Value[int64](t, s.url, "SELECT count(*) FROM target"); n == 0 || n >= 100 {
		t.Errorf("%d rows are in the target, summary %+v", n, sum)
	}
	s.exec("INSERT INTO source SELECT i, 'late' FROM generate_series(101, 300) i")
	s.copied(100, text)
	s.expect("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM target", "100|100|1|100")
}

// Rows of equal key are neither lost nor doubled where reading goes on: it goes
// on behind a unique key, a place in a file, or not at all.
func TestRowsOfEqualKeyOverARestart(t *testing.T) {
	const fives = "SELECT 5, repeat('x', 100) FROM generate_series(1, 20000) i"
	for _, c := range []struct{ name, table, options string }{
		{"a key that is not unique", "(k int, v text)", ", key: k, split_rows: 2500"},
		{"no key", "(k int, v text)", ", split_size: 1MiB"},
		{"a tie-breaker behind it", "(k int, v text, id bigserial, PRIMARY KEY (k, id))", ", split_rows: 2500"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPostgres(t, "CREATE TABLE source "+c.table+"; INSERT INTO source (k, v) "+fives+"; INSERT INTO source (k, v) SELECT i, 'other' FROM generate_series(1, 9) i; ANALYZE source")
			text := "source: {postgres: {url: {pg}, table: source" + c.options + "}}\nsink: {postgres: {url: {pg}, table: target}}\n" + oftenCommitted
			sum := s.interrupt("after-commit", 2, text)
			s.copied(20009, text)
			s.expect("SELECT count(*), count(*) FILTER (WHERE v = 'other') FROM target", "20009|9")
			t.Logf("%d rows were written before the interrupt", sum.Written)
		})
	}
	t.Run("a file", func(t *testing.T) {
		s := newPostgres(t, "")
		s.write("in.csv", "k\n"+strings.Repeat("5\n", 600_000))
		text := "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: target}}\n" + oftenCommitted
		if sum := s.interrupt("after-commit", 2, text); sum.Written == 0 || sum.Written == 600_000 {
			t.Errorf("summary %+v", sum)
		}
		s.copied(600_000, text)
		s.expect("SELECT count(*) FROM target", "600000")
	})
}

func TestOnlyLaterRowsByWhere(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE source (id int PRIMARY KEY, at timestamp); INSERT INTO source VALUES (1, '2022-03-04 11:42:10.999999'), (2, '2022-03-04 11:42:11'), (3, '2022-03-04 11:42:11.000001'), (4, NULL), (5, '2023-01-01')`)
	sum := s.done("source: {postgres: {url: {pg}, table: source}}\nsink: {postgres: {url: {pg}, table: target}}\nwhere: at > '2022-03-04 11:42:11'\n")
	if sum.Written != 2 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT id FROM target ORDER BY 1", "3", "5")
	s.write("in.csv", "id,at\n1,2022-03-04 11:42:10.999999\n2,2022-03-04 11:42:11\n3,2022-03-04 11:42:11.000001\n4,\n5,2023-01-01 00:00:00\n")
	sum = s.done("name: file\nsource: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: other}}\nwhere: at > '2022-03-04 11:42:11'\n")
	if sum.Written != 2 || sum.Filtered != 3 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT id FROM other ORDER BY 1", "3", "5")
}

// A process that is killed while splits are handed out hands out none twice
// and forgets none: before and after a state is stored, and at a commit.
func TestKilledAtAnyStep(t *testing.T) {
	s := newPostgres(t, "")
	leat := binary(t)
	for _, point := range []string{"before-store:0", "after-store:0", "after-store:1", "after-claim:1", "before-commit:2", "after-commit:2", "before-finish:0"} {
		t.Run(point, func(t *testing.T) {
			s := s.in(t)
			s.exec("DROP TABLE IF EXISTS target; DROP TABLE IF EXISTS leat_runs, leat_positions")
			s.write("job.yaml", s.fill("name: j\nsource: {stream: {rows: 10000, split_rows: 700, nulls: 0, columns: [id int64, word text]}}\nsink: {postgres: {url: {pg}, table: target}}\n"+oftenCommitted))
			c := testenv.Command{Path: leat, Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none"}}
			killed := c
			killed.Env = []string{"LEAT_FAILPOINT=" + point + ":kill"}
			if _, exit := testenv.RunProcess(t, killed); exit.Signal != 9 {
				t.Fatalf("it was not killed: %+v", exit)
			}
			if p, exit := testenv.RunProcess(t, c); exit.Code != 0 {
				t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
			}
			s.expect("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM target", "10000|10000|1|10000")
		})
	}
}

// A second run over files that did not change reads them again: there is no
// memory of files between runs. A file that changed while a run stood still is
// refused, never read half old and half new.
func TestFilesBetweenAndDuringRuns(t *testing.T) {
	s := newScene(t)
	s.write("in.csv", "k\n"+strings.Repeat("5\n", 20_000))
	text := "source: {csv: {path: \"{dir}/in.csv\", split_size: 8KiB}}\nsink: {sqlite: {path: \"{dir}/o.db\", table: t, mode: overwrite}}\n" + oftenCommitted
	s.copied(20_000, text)
	s.copied(20_000, text)
	s.interrupt("after-commit", 2, text)
	s.write("in.csv", "k\n"+strings.Repeat("6\n", 20_000))
	_, err := s.run(text)
	if err == nil || !strings.Contains(err.Error(), "in.csv") || !strings.Contains(err.Error(), "changed") {
		t.Errorf("error %v", err)
	}
	if got := s.lite("o.db", "SELECT DISTINCT k FROM t"); !slices.Equal(got, []string{"5"}) {
		t.Errorf("rows %q", got)
	}
}
