package cases

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver that looks into what was written

	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

// scene is a folder and, where asked for, a database, in which a case runs
// its jobs. In texts of jobs, {dir} is the folder, {pg} the database's URL and
// {my} that of one in MariaDB.
type scene struct {
	t        *testing.T
	dir, url string
	my       string
	state    string
	pg       *testenv.PostgresServer
	// failpoint and progress are called as the engine calls them; may be nil.
	failpoint func(name string)
	progress  func(local.Progress)
}

func newScene(t *testing.T) *scene {
	t.Helper()
	return &scene{t: t, dir: t.TempDir(), state: t.TempDir()}
}

// newPostgres is a scene with a database of its own, in which sql has run.
func newPostgres(t *testing.T, sql string) *scene {
	t.Helper()
	s := newScene(t)
	s.pg = testenv.Postgres(t)
	s.url = s.pg.Database(t)
	if sql != "" {
		s.exec(sql)
	}
	return s
}

// in is the same place for a subtest, with failpoints and state of its own.
func (s *scene) in(t *testing.T) *scene {
	t.Helper()
	return &scene{t: t, dir: s.dir, url: s.url, my: s.my, pg: s.pg, state: t.TempDir()}
}

func (s *scene) exec(sql string) {
	s.t.Helper()
	s.pg.Exec(s.t, s.url, sql)
}

func (s *scene) path(name string) string { return filepath.Join(s.dir, name) }

// write makes a file below the folder.
func (s *scene) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// text is a file's content.
func (s *scene) text(name string) string {
	s.t.Helper()
	raw, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(raw)
}

// fill puts the scene's places into a job's text.
func (s *scene) fill(text string) string {
	return strings.NewReplacer("{dir}", s.dir, "{pg}", fmt.Sprintf("%q", s.url), "{my}", fmt.Sprintf("%q", s.my)).Replace(text)
}

// run runs a job in this process, and goes on with it when it is unfinished.
func (s *scene) run(text string) (local.Summary, error) {
	s.t.Helper()
	registry := connectors.All()
	j, err := job.Parse([]byte(s.fill(text)), "job.yaml", job.Vars{}, registry)
	if err != nil {
		return local.Summary{}, err
	}
	r := local.New(local.Deps{Registry: registry, Failpoint: s.failpoint, Progress: s.progress})
	return r.Run(s.t.Context(), j, local.Options{StateDir: s.state})
}

// done runs a job that has to end well, with all records written or accounted for.
func (s *scene) done(text string) local.Summary {
	s.t.Helper()
	sum, err := s.run(text)
	if err != nil {
		s.t.Fatalf("%v\nsummary %+v", err, sum)
	}
	if sum.State != jobmaster.Done && sum.State != jobmaster.DoneWithDirty {
		s.t.Fatalf("summary %+v", sum)
	}
	if sum.Read != sum.Written+sum.Filtered+sum.Dirty+sum.Merged+sum.Refused {
		s.t.Errorf("the sums do not match: %+v", sum)
	}
	return sum
}

// copied runs a job that has to write all of n records.
func (s *scene) copied(n int64, text string) {
	s.t.Helper()
	if sum := s.done(text); sum.Read != n || sum.Written != n {
		s.t.Errorf("summary %+v, want %d records read and written", sum, n)
	}
}

// rows is what a query on the database gives: a row as its cells in
// PostgreSQL's text form with bars between, NULL as NULL.
func (s *scene) rows(sql string) []string {
	s.t.Helper()
	return s.pg.Lines(s.t, s.url, sql)
}

// expect compares what a query on the database gives.
func (s *scene) expect(sql string, want ...string) {
	s.t.Helper()
	s.pg.Expect(s.t, s.url, sql, want...)
}

// lite runs a query on an SQLite file of the folder: a row as
// the cells with bars between, NULL as NULL.
func (s *scene) lite(file, query string) []string {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path(file))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(s.t.Context(), query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.t.Fatal(err)
		}
		texts := make([]string, len(cells))
		for i, c := range cells {
			texts[i] = "NULL"
			if c.Valid {
				texts[i] = c.String
			}
		}
		out = append(out, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *scene) liteExpect(file, query string, want ...string) {
	s.t.Helper()
	if got := s.lite(file, query); !slices.Equal(got, want) {
		s.t.Errorf("%s\n got %q\nwant %q", query, got, want)
	}
}

// liteExec runs statements on an SQLite file of the folder.
func (s *scene) liteExec(file, statements string) {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.path(file))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(s.t.Context(), statements); err != nil {
		s.t.Fatal(err)
	}
}

// equal compares two texts.
func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

// binary is the leat command, built once for all cases: with its named points,
// which do nothing unless the environment names one.
func binary(t *testing.T) string {
	t.Helper()
	return testenv.Leat(t, testenv.Tags("leat_failpoints"))
}
