package files

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

const (
	// stagePrefix begins the name of a run's own folder beside its target.
	stagePrefix = ".leat-"
	// goneSuffix ends it once the folder is only there to be removed.
	goneSuffix = "-gone"
)

// target is where a sink's records end: a file, a folder or standard output.
type target struct {
	path        string
	standard    bool
	folder      bool
	dir         string // of the file, or the folder itself: staging stands in it
	compression Compression
	suffix      string // of the format, then of the compression
}

// newTarget decides what path means. It is a folder when it ends in a slash,
// is one, or its last name has no point; else it is a file.
func newTarget(fsys storage.FS, o SinkOptions, suffix string) (target, error) {
	t := target{path: filepath.Clean(o.Path), compression: Compression(o.Compression)}
	if o.Compression == "" || o.Compression == "auto" {
		t.compression = CompressionOf(o.Path)
	}
	t.suffix = suffix + t.compression.Suffix()
	if o.Path == Standard {
		t.standard = true
		return t, nil
	}
	slash := strings.HasSuffix(o.Path, "/") || strings.HasSuffix(o.Path, string(filepath.Separator))
	t.folder = slash || !strings.Contains(filepath.Base(t.path), ".")
	info, err := fsys.Stat(t.path)
	switch {
	case err == nil && info.IsDir():
		t.folder = true
	case err == nil && slash:
		return t, connector.Errorf(connector.Usage, "%s is a file and path asks for a folder", t.path)
	case err == nil && !info.Mode().IsRegular():
		return t, connector.Errorf(connector.Usage, "%s is neither a regular file nor a folder; path: - is standard output", t.path)
	case err == nil:
		t.folder = false
	case !errors.Is(err, fs.ErrNotExist):
		return t, connector.E(connector.Usage, err)
	}
	t.dir = filepath.Dir(t.path)
	if t.folder {
		t.dir = t.path
	}
	return t, nil
}

// staging returns the folder of a run's own files.
func (t *target) staging(run string) string { return filepath.Join(t.dir, stagePrefix+run) }

// partName names the n-th part file; unique keeps the names of one run of
// mode append apart from those of another.
func (t *target) partName(n int, unique string) string {
	if unique != "" {
		return fmt.Sprintf("part-%05d-%s%s", n, unique, t.suffix)
	}
	return fmt.Sprintf("part-%05d%s", n, t.suffix)
}

// partNumber returns the number of a part file of the format, 0 for others.
func partNumber(name, suffix string) int {
	rest, ok := strings.CutPrefix(name, "part-")
	if !ok || !hasSuffix(rest, suffix) {
		return 0
	}
	digits := 0
	n := 0
	for digits < len(rest) && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9' {
		n = n*10 + int(rest[digits]-'0')
		digits++
	}
	if digits < 5 || rest[digits] != '-' && rest[digits] != '.' {
		return 0
	}
	return n
}
