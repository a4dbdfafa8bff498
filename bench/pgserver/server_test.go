package pgserver

import (
	"os"
	"strings"
	"testing"

	"github.com/leatdata/leat/bench/process"
)

func TestServerRunsWithItsSettings(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := s.dir
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s is still there", dir)
		}
	})
	got, err := s.Query(t.Context(), "SHOW shared_buffers", "SHOW synchronous_commit", "SHOW max_wal_size")
	if err != nil {
		t.Fatal(err)
	}
	if got != "1GB\noff\n8GB" {
		t.Errorf("the settings are %q", got)
	}
	u, err := process.Measure(t.Context(), []int{s.Pid()},
		s.Psql("--command", "SELECT count(*) FROM generate_series(1, 2000000)"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Server.Milliseconds() < 50 || u.Server > 2*u.Wall {
		t.Errorf("the server took %s of processor time in %s", u.Server, u.Wall)
	}
	if _, err := s.Query(t.Context(), "CREATE DATABASE other", "CREATE TABLE t AS SELECT 1"); err != nil {
		t.Fatal(err)
	}
	other := s.In("other")
	copied := other.Psql()
	dump := s.PgDump("--table=t")
	copied.From = &dump
	if _, err := process.Measure(t.Context(), nil, copied); err != nil {
		t.Fatal(err)
	}
	if got, err := other.Query(t.Context(), "SELECT current_database(), count(*) FROM t"); err != nil || got != "other|1" {
		t.Errorf("the other database says %q (%v)", got, err)
	}
	if _, err := s.Query(t.Context(), "SELECT nothing"); err == nil || !strings.Contains(err.Error(), `column "nothing" does not exist`) {
		t.Errorf("got %v", err)
	}
}
