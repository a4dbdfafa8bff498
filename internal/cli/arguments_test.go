package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// TestArgumentsShowNoSecret looks at what ps would show of a running copy.
func TestArgumentsShowNoSecret(t *testing.T) {
	// A server that accepts and never answers keeps the process waiting.
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // nothing was written
	in := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(in, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "postgres://me:open-sesame@" + server.Addr().String() + "/db?table=t"
	p := testenv.StartProcess(t, testenv.Command{
		Path: testenv.Leat(t), Args: []string{"copy", in, url, "--state", t.TempDir(), "--log-level", "debug"},
	})
	conn, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // nothing was written
	shown, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.Pid()), "cmdline"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(shown), "sesame") || !strings.Contains(string(shown), "postgres://me:***") {
		t.Errorf("ps shows %q", strings.ReplaceAll(string(shown), "\x00", " "))
	}
	p.Kill(t)
}

func TestTakeArguments(t *testing.T) {
	original := strings.Clone("postgres://me:open-sesame@host/db")
	taken := TakeArguments([]string{original})
	if taken[0] != "postgres://me:open-sesame@host/db" {
		t.Errorf("taken %q", taken[0])
	}
	if strings.Contains(original, "sesame") || !strings.HasSuffix(original, "@host/db") {
		t.Errorf("the original is %q", original)
	}
}
