// Package filestest runs the contracts of connectors, and stages files, for
// text formats over package files.
package filestest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
)

// Text is what a file holds: its records, and how many are dirty.
type Text struct {
	Text    string
	Rows    []connectortest.Row
	Rejects int
}

// RunSource runs the contract of sources over a file of a name, which is
// stored as the compression (gzip, or none where it is empty) says.
func RunSource(t *testing.T, name, compression string, text Text, open func(t testing.TB, path string) connector.Source) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	content := text.Text
	switch compression {
	case "":
	case "gzip":
		content = Gzip(t, content)
	default:
		t.Fatalf("files are not stored as %s here", compression)
	}
	Write(t, path, content)
	connectortest.RunSource(t, connectortest.SourceHarness{
		New:  func(t testing.TB) connector.Source { return open(t, path) },
		Rows: text.Rows, Rejects: text.Rejects,
	})
}

// RunSink runs the contract of sinks over new folders. name is the target's
// in them: of a file, or of a folder, which ends in /.
func RunSink(t *testing.T, name string, open func(t testing.TB, path string) connector.Sink, read func(t testing.TB, path string) connector.Source) {
	t.Helper()
	connectortest.RunSink(t, connectortest.SinkHarness{
		Replaces: true, Hides: true,
		NewTarget: func(t testing.TB) connectortest.Target {
			path := t.TempDir() + "/" + name
			return connectortest.Target{
				Open: func() connector.Sink { return open(t, path) },
				Rows: func() []connectortest.Row {
					if !holdsAny(t, path) {
						return nil
					}
					return connectortest.ReadAll(t, read(t, path))
				},
			}
		},
	})
}

// holdsAny reports whether a path is a file, or a folder in which something
// shows.
func holdsAny(t testing.TB, path string) bool {
	t.Helper()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false
	case err != nil:
		t.Fatal(err)
	case !info.IsDir():
		return true
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			return true
		}
	}
	return false
}

// Files writes texts to the files a, b, … of a new folder and returns their
// paths, as a job file's option has them.
func Files(t testing.TB, suffix string, texts ...string) []any {
	t.Helper()
	dir := t.TempDir()
	var paths []any
	for i, text := range texts {
		path := filepath.Join(dir, string(rune('a'+i))+suffix)
		Write(t, path, text)
		paths = append(paths, path)
	}
	return paths
}

// Write writes a file.
func Write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Gzip compresses a text.
func Gzip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
