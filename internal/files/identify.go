package files

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// A file's place is its real path. A folder's is that with a pattern behind it,
// since a target folder stands for its files of one format: part files are
// replaced among them, and read with them.

var (
	_ connector.Identifier = (*Source)(nil)
	_ connector.Identifier = (*Sink)(nil)
)

// Identify implements connector.Identifier.
func (s *Source) Identify(context.Context) (connector.Identity, error) {
	if s.stdin != nil {
		return connector.Identity{}, nil
	}
	return s.listing.Identify()
}

// Identify returns the places of the files.
func (l *Listing) Identify() (connector.Identity, error) {
	var id connector.Identity
	files, err := l.Files()
	if err != nil {
		return id, err
	}
	for _, f := range files {
		path, err := realPath(l.fs, f.Path)
		if err != nil {
			return id, err
		}
		id.Places = append(id.Places, path)
		// A link is read where it stands, and what it leads to may be removed.
		for _, path := range []string{path, f.Path} {
			if !hasSuffix(path, l.suffix) {
				continue
			}
			dir, err := realPath(l.fs, filepath.Dir(path))
			if err != nil {
				return id, err
			}
			if place := folderPlace(dir, l.suffix); !slices.Contains(id.Places, place) {
				id.Places = append(id.Places, place)
			}
		}
	}
	for _, path := range l.paths {
		dir, ok := l.takesAll(path)
		if !ok {
			continue
		}
		if dir, err = realPath(l.fs, dir); err != nil {
			return id, err
		}
		id.Behind = append(id.Behind, newFiles+folderPlace(dir, l.suffix))
	}
	return id, nil
}

// newFiles begins the place of what is not in a folder yet.
const newFiles = "new: "

// takesAll reports whether a path takes every file of the format in a folder,
// those too that come later.
func (l *Listing) takesAll(path string) (dir string, ok bool) {
	if info, err := l.fs.Stat(path); err == nil {
		return path, info.IsDir()
	}
	last := filepath.Base(path)
	rest, ok := strings.CutPrefix(last, "*")
	return filepath.Dir(path), ok && (rest == "" || hasSuffix(rest, l.suffix)) && !storage.HasMeta(filepath.Dir(path))
}

// Identify implements connector.Identifier.
func (s *Sink) Identify(context.Context) (connector.Identity, error) {
	t := s.target
	if t.standard {
		return connector.Identity{}, nil
	}
	path, err := realPath(s.cfg.FS, t.path)
	if err != nil {
		return connector.Identity{}, err
	}
	suffix := s.cfg.Format.Suffix()
	if t.folder {
		return connector.Identity{Places: []string{folderPlace(path, suffix)}}, nil
	}
	id := connector.Identity{Places: []string{path}}
	if hasSuffix(path, suffix) {
		id.Behind = append(id.Behind, newFiles+folderPlace(filepath.Dir(path), suffix))
	}
	return id, nil
}

func folderPlace(dir, suffix string) string { return filepath.Join(dir, "*"+suffix) }

// realPath returns a path without links, of which the last parts need not be
// there. Only the machine's own file system has links and a current folder.
func realPath(fsys storage.FS, path string) (string, error) {
	if _, ok := fsys.(storage.Local); !ok {
		return filepath.Clean(path), nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest), nil
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
