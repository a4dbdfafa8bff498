package pgserver

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingServerSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	_, err := locate(t.TempDir(), t.TempDir())
	if !errors.Is(err, errNotInstalled) {
		t.Fatalf("error is %v, want %v", err, errNotInstalled)
	}
	for _, want := range []string{"package postgresql", "make test"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
}

func TestNewestServerIsFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, version := range []string{"9", "15", "x"} {
		bin := filepath.Join(root, version, "bin")
		if err := os.MkdirAll(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"initdb", "postgres"} {
			if err := os.WriteFile(filepath.Join(bin, name), nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	p, err := locate("", root)
	if want := filepath.Join(root, "15", "bin", "postgres"); err != nil || p.postgres != want {
		t.Errorf("found %q (%v), want %q", p.postgres, err, want)
	}
	older := filepath.Join(root, "9", "bin")
	if p, err := locate(older, root); err != nil || p.postgres != filepath.Join(older, "postgres") {
		t.Errorf("on the path of %s found %q (%v)", older, p.postgres, err)
	}
}

// A server's psql runs and says its version.
func TestPsqlIsFound(t *testing.T) {
	t.Parallel()
	psql, err := Psql()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), psql, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "psql (PostgreSQL)") {
		t.Errorf("%s --version says %q (%v)", psql, out, err)
	}
}
