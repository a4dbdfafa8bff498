package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// Another file than that of the splits is refused; what differs, and the time
// to give back, lead out.
func TestAChangedFileTellsWhatDiffersAndHowToPutItBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.txt")
	write := func(text string, at time.Time) {
		t.Helper()
		put(t, storage.Local{}, path, []byte(text))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)
	later := then.Add(time.Millisecond)
	write("id\n1\n", then)
	id, err := identityOf(path)
	if err != nil {
		t.Fatal(err)
	}
	const thenText = "2026-03-04T05:06:07.123456789Z"
	refused := func(what string) {
		t.Helper()
		f, err := storage.Local{}.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		errs := []error{id.Check(f)}
		if !strings.Contains(what, "content") { // the end of reading has its own look, at size and time
			errs = append(errs, id.ProveEnd(f))
		}
		for _, err := range errs {
			if connector.ClassOf(err) != connector.Permanent {
				t.Fatalf("%v, want it permanent", err)
			}
			for _, word := range []string{path, what, "touch -d '" + thenText + "'", "cp -p", "--restart"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		}
	}
	write("id\n1\n2\n", later)
	refused("it had 5 bytes and has 7")
	write("id\n2\n", later)
	refused("its content is another")
	write("id\n1\n", later)
	refused("its time of change was " + thenText + " and is 2026-03-04T05:06:07.124456789Z")

	if out, err := exec.CommandContext(t.Context(), "touch", "-d", thenText, path).CombinedOutput(); err != nil {
		t.Fatalf("touch: %v: %s", err, out)
	}
	f, err := storage.Local{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := id.Check(f); err != nil {
		t.Errorf("a file that was put back with its time: %v", err)
	}
}

func identityOf(path string) (Identity, error) {
	f, err := storage.Local{}.Open(path)
	if err != nil {
		return Identity{}, err
	}
	defer func() { _ = f.Close() }()
	return IdentifyFile(f, path)
}
