package files

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// Listed is a file of a source.
type Listed struct {
	Path string
	Size int64
}

// Listing is the files that a source's paths name, listed once: what a run
// reads is settled at its start. It may be asked from several goroutines.
type Listing struct {
	fs     storage.FS
	paths  []string
	suffix string

	mu    sync.Mutex
	files []Listed
}

// NewListing returns the listing of paths: files, folders whose files end in
// the suffix, patterns. It opens nothing.
func NewListing(fsys storage.FS, paths []string, suffix string) *Listing {
	return &Listing{fs: fsys, paths: paths, suffix: suffix}
}

// Files returns the files in order, at least one.
func (l *Listing) Files() ([]Listed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		files, err := list(l.fs, l.paths, l.suffix)
		if err != nil {
			return nil, err
		}
		l.files = files
	}
	return l.files, nil
}

// list returns the files that paths name, each once: those of a path after
// those of the path before it, a pattern's and a folder's by name.
func list(fsys storage.FS, paths []string, suffix string) ([]Listed, error) {
	var files []Listed
	seen := map[string]bool{}
	for _, path := range paths {
		names, err := expand(fsys, path, suffix)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			info, err := fsys.Stat(name)
			if err != nil {
				return nil, err
			}
			if !info.Mode().IsRegular() {
				return nil, connector.Errorf(connector.Usage, "%s is not a regular file: give its data to standard input, with path: -", name)
			}
			files = append(files, Listed{name, info.Size()})
		}
	}
	return files, nil
}

// expand returns the files of one path.
func expand(fsys storage.FS, path, suffix string) ([]string, error) {
	info, err := fsys.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return expandDir(fsys, path, suffix)
	case err == nil:
		return []string{filepath.Clean(path)}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !storage.HasMeta(path):
		return nil, connector.Errorf(connector.Usage, "there is no file %s", path)
	}
	names, err := storage.Glob(fsys, path)
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := fsys.Stat(name)
		return err == nil && info.IsDir()
	})
	if len(names) == 0 {
		return nil, connector.Errorf(connector.Usage, "no file matches %s", path)
	}
	return names, nil
}

// expandDir returns a folder's own files that have the format's suffix.
func expandDir(fsys storage.FS, dir, suffix string) ([]string, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && hasSuffix(e.Name(), suffix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, connector.Errorf(connector.Usage, "the folder %s holds no file whose name ends in %s, %[2]s.gz or %[2]s.zst", dir, suffix)
	}
	return names, nil
}

// hasSuffix reports whether a name ends in a format's suffix, compressed or not.
func hasSuffix(name, suffix string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, compressionOf(name).Suffix()), suffix)
}
