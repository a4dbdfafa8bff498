package files

import (
	"errors"
	"fmt"
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
	// packed says that files may be compressed as a whole.
	packed bool

	mu    sync.Mutex
	files []Listed
}

// NewListing returns the listing of paths: files, folders whose files end in
// the suffix, patterns. It opens nothing.
func NewListing(fsys storage.FS, paths []string, suffix string) *Listing {
	return &Listing{fs: fsys, paths: paths, suffix: suffix, packed: true}
}

// NewPlainListing is NewListing for a format whose files are never compressed
// as a whole. Such files in a folder are listed too, for their reader to tell
// of: left out they would be missed in silence.
func NewPlainListing(fsys storage.FS, paths []string, suffix string) *Listing {
	return &Listing{fs: fsys, paths: paths, suffix: suffix}
}

// Files returns the files in order, at least one.
func (l *Listing) Files() ([]Listed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		files, err := l.list()
		if err != nil {
			return nil, err
		}
		l.files = files
	}
	return l.files, nil
}

// list returns the files that the paths name, each once: those of a path after
// those of the path before it, a pattern's and a folder's by name.
func (l *Listing) list() ([]Listed, error) {
	var files []Listed
	seen := map[string]bool{}
	for _, path := range l.paths {
		names, err := l.expand(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if seen[name] {
				continue
			}
			seen[name] = true
			info, err := l.fs.Stat(name)
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
func (l *Listing) expand(path string) ([]string, error) {
	info, err := l.fs.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return l.expandDir(path)
	case err == nil:
		return []string{filepath.Clean(path)}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !storage.HasMeta(path):
		return nil, connector.Errorf(connector.Usage, "there is no file %s", path)
	}
	names, err := storage.Glob(l.fs, path)
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		info, err := l.fs.Stat(name)
		return err == nil && info.IsDir()
	})
	if len(names) == 0 {
		return nil, connector.Errorf(connector.Usage, "no file matches %s", path)
	}
	return names, nil
}

// expandDir returns a folder's own files that have the format's suffix.
func (l *Listing) expandDir(dir string) ([]string, error) {
	entries, err := l.fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && hasSuffix(e.Name(), l.suffix) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	if len(names) == 0 {
		suffixes := l.suffix
		if l.packed {
			suffixes = fmt.Sprintf("%s, %[1]s%s or %[1]s%s", l.suffix, Gzip.Suffix(), Zstd.Suffix())
		}
		return nil, connector.Errorf(connector.Usage, "the folder %s holds no file whose name ends in %s", dir, suffixes)
	}
	return names, nil
}

// hasSuffix reports whether a name ends in a format's suffix, compressed or not.
func hasSuffix(name, suffix string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, CompressionOf(name).Suffix()), suffix)
}
