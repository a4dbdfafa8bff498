package cases

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/testenv"
)

const endOthers = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

// at calls do the n-th time that a point is passed.
func (s *scene) at(point string, n int64, do func()) {
	var passed atomic.Int64
	s.failpoint = func(name string) {
		if name == point && passed.Add(1) == n {
			do()
		}
	}
}

const manyRows = "CREATE TABLE source (id int PRIMARY KEY, v text); INSERT INTO source SELECT i, repeat('v', 300) || i FROM generate_series(1, 30000) i; ANALYZE source;"

func TestSessionsThatAreKilled(t *testing.T) {
	t.Run("with attempts left, all rows get there once", func(t *testing.T) {
		for _, mode := range []string{"append", "overwrite", "upsert"} {
			t.Run(mode, func(t *testing.T) {
				s := newPostgres(t, manyRows+"CREATE TABLE target (LIKE source INCLUDING INDEXES)")
				killed := 0
				s.at("after-commit", 3, func() { killed = len(s.rows(endOthers)) })
				s.copied(30000, fmt.Sprintf("source: {postgres: {url: {pg}, table: source, split_rows: 4000}}\nsink: {postgres: {url: {pg}, table: target, mode: %s}}\nparallelism: 1\nrestart: {backoff: 10ms}\n", mode))
				if killed == 0 {
					t.Error("no session was there to be killed")
				}
				s.expect("SELECT count(*) FROM (SELECT * FROM source EXCEPT ALL SELECT * FROM target) d", "0")
				s.expect("SELECT count(*) FROM target", "30000")
				s.expect("SELECT relname FROM pg_class WHERE relname LIKE 'leat_staging%'")
			})
		}
	})
	t.Run("without any, the job fails and never calls itself done", func(t *testing.T) {
		s := newPostgres(t, manyRows)
		proxy := testenv.NewProxy(t, s.pg.Addr())
		s.url = strings.Replace(s.url, s.pg.Addr(), proxy.Addr(), 1)
		const text = "source: {postgres: {url: {pg}, table: source}}\nsink: {csv: {path: \"{dir}/o.csv\"}}\nparallelism: 1\nrestart: {attempts: 0}\n"
		cut := proxy.CutAfter(testenv.ToClient, 2<<20)
		if sum, err := s.run(text); err == nil || sum.State != jobmaster.Failed {
			t.Errorf("error %v, summary %+v", err, sum)
		}
		<-cut
		if found, err := filepath.Glob(s.path("o.csv")); err != nil || len(found) != 0 {
			t.Errorf("a file stands there: %v, %v", found, err)
		}
		s.copied(30000, text)
		if n := strings.Count(s.text("o.csv"), "\n"); n != 30001 {
			t.Errorf("%d lines", n)
		}
	})
}

// An orderly end of the connection is no end of the rows either.
func TestAnEarlyEndIsNoEnd(t *testing.T) {
	s := newPostgres(t, manyRows)
	proxy := testenv.NewProxy(t, s.pg.Addr())
	proxy.Style(testenv.Finish)
	s.url = strings.Replace(s.url, s.pg.Addr(), proxy.Addr(), 1)
	for _, n := range []int64{600 << 10, 6 << 20} {
		cut := proxy.CutAfter(testenv.ToClient, n)
		s.copied(30000, "source: {postgres: {url: {pg}, table: source}}\nsink: {csv: {path: \"{dir}/o.csv\"}}\nparallelism: 1\nrestart: {backoff: 10ms}\n")
		<-cut
		if lines := strings.Count(s.text("o.csv"), "\n"); lines != 30001 {
			t.Errorf("cut after %d bytes: %d lines", n, lines)
		}
	}
}

// A server that goes away and comes back is waited for.
func TestAServerThatComesBack(t *testing.T) {
	s := newScene(t)
	s.pg = testenv.PostgresWith(t)
	s.url = s.pg.Database(t)
	s.exec(manyRows)
	s.at("after-commit", 2, func() { s.pg.Restart(t) })
	s.copied(30000, "source: {postgres: {url: {pg}, table: source, split_rows: 4000}}\nsink: {postgres: {url: {pg}, table: target}}\nparallelism: 2\nrestart: {attempts: 20, backoff: 50ms}\n")
	s.expect("SELECT count(*), count(DISTINCT id) FROM target", "30000|30000")
}

// Several writers into one folder take names of their own, and every part stays.
func TestPartsOfAFolder(t *testing.T) {
	s := newPostgres(t, manyRows)
	const text = "source: {postgres: {url: {pg}, table: source, split_rows: 1000}}\nsink: {csv: {path: \"{dir}/out/\", roll_size: 1MiB, mode: %s}}\nparallelism: 4\n"
	s.copied(30000, "name: one\n"+fmt.Sprintf(text, "overwrite"))
	ids := s.partIDs()
	if len(ids) != 30000 || len(slices.Compact(ids)) != 30000 {
		t.Errorf("%d records", len(ids))
	}
	parts, err := filepath.Glob(s.path("out/*.csv"))
	if err != nil || len(parts) < 4 {
		t.Errorf("parts %v, %v", parts, err)
	}
	// Another job adds its parts and takes none away; so does a second run.
	s.copied(30000, "name: two\n"+fmt.Sprintf(text, "append"))
	s.copied(30000, "name: two\n"+fmt.Sprintf(text, "append"))
	if ids := s.partIDs(); len(ids) != 90000 {
		t.Errorf("%d records after two more runs", len(ids))
	}
	// What overwrites leaves no part of before.
	s.exec("DELETE FROM source WHERE id > 10")
	s.copied(10, "name: one\n"+fmt.Sprintf(text, "overwrite"))
	if ids := s.partIDs(); len(ids) != 10 {
		t.Errorf("%d records after overwriting", len(ids))
	}
}

// partIDs are the first fields of all records of the folder out, sorted.
func (s *scene) partIDs() []string {
	s.t.Helper()
	parts, err := filepath.Glob(s.path("out/*.csv"))
	if err != nil {
		s.t.Fatal(err)
	}
	var ids []string
	for _, p := range parts {
		lines := strings.Split(strings.TrimSpace(s.text("out/"+filepath.Base(p))), "\n")
		for _, l := range lines[1:] {
			id, _, _ := strings.Cut(l, ",")
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// What was read is accounted for: written, filtered, dirty or merged.
func TestAllThatIsReadIsAccountedFor(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int PRIMARY KEY, v text)")
	var text strings.Builder
	text.WriteString("n,v\n")
	for i := range 1000 {
		text.WriteString(fmt.Sprintf("%d,v%d\n", i%900, i))
		if i%100 == 0 {
			text.WriteString("bad,v\n")
		}
	}
	s.write("in.csv", text.String())
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t, mode: upsert}}\nwhere: v != 'v5'\nerrors: {records: 10}\n")
	if sum.Read != 1010 || sum.Dirty != 10 || sum.Filtered != 1 || sum.Written+sum.Merged != 999 {
		t.Errorf("summary %+v", sum)
	}
	s.expect("SELECT count(*), count(*) FILTER (WHERE v = 'v' || n + 900), max(v) FILTER (WHERE n = 5) FROM t", "900|100|v905")
}
