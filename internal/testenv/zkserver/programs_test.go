package zkserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingServerSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	java := t.TempDir()
	if err := os.WriteFile(filepath.Join(java, "java"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{t.TempDir(), java} {
		_, err := locate(path, t.TempDir())
		if !errors.Is(err, errNotInstalled) {
			t.Fatalf("error is %v, want %v", err, errNotInstalled)
		}
		for _, want := range []string{"packages zookeeper", "make test"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not name %q", err, want)
			}
		}
	}
}
