package mariaserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingServerSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	_, err := locate([]string{t.TempDir()})
	if !errors.Is(err, errNotInstalled) {
		t.Fatalf("error is %v, want %v", err, errNotInstalled)
	}
	for _, want := range []string{"package mariadb-server", "make test"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %q", err, want)
		}
	}
}

func TestProgramsAreFoundInDifferentFolders(t *testing.T) {
	t.Parallel()
	var folders []string
	for _, name := range []string{"mariadb-install-db", "mariadbd"} {
		dir := t.TempDir()
		folders = append(folders, dir)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, err := locate(folders)
	if err != nil || filepath.Dir(p.install) != folders[0] || filepath.Dir(p.server) != folders[1] {
		t.Errorf("found %+v (%v) in %q", p, err, folders)
	}
}
