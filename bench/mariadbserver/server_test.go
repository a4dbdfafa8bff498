package mariadbserver

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
	got, err := s.Query(t.Context(), "SELECT @@innodb_buffer_pool_size, @@local_infile, @@innodb_flush_log_at_trx_commit")
	if err != nil || got != "1073741824\t1\t2" {
		t.Errorf("the settings are %q (%v)", got, err)
	}
	if _, err := s.Query(t.Context(), "CREATE TABLE t (n int)", "INSERT INTO t VALUES (1), (2)"); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	other := s.In("other")
	if _, err := other.Query(t.Context(), "CREATE TABLE t (n int)"); err != nil {
		t.Fatal(err)
	}
	// What is dumped goes into the other database, through a pipe.
	in := other.Client()
	dump := s.Dump([]string{"--no-create-info"}, "t")
	in.From = &dump
	u, err := process.Measure(t.Context(), []int{s.Pid()}, in,
		s.Client("--execute=SELECT benchmark(20000000, 1 + 1)"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Server.Milliseconds() < 50 || u.Server > 2*u.Wall {
		t.Errorf("the server took %s of processor time in %s", u.Server, u.Wall)
	}
	if got, err := other.Query(t.Context(), "SELECT database(), count(*), sum(n) FROM t"); err != nil || got != "other\t2\t3" {
		t.Errorf("the table holds %q (%v)", got, err)
	}
	if _, err := s.Query(t.Context(), "SELECT nothing"); err == nil || !strings.Contains(err.Error(), "Unknown column 'nothing'") {
		t.Errorf("got %v", err)
	}
}
