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
	u, err := process.Measure(t.Context(), s.Pid(),
		s.Psql("--command", "SELECT count(*) FROM generate_series(1, 2000000)"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Server.Milliseconds() < 50 || u.Server > 2*u.Wall {
		t.Errorf("the server took %s of processor time in %s", u.Server, u.Wall)
	}
	if _, err := s.Query(t.Context(), "SELECT nothing"); err == nil || !strings.Contains(err.Error(), `column "nothing" does not exist`) {
		t.Errorf("got %v", err)
	}
}
