package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Glob returns the names that match a pattern of filepath.Match, in order. A
// pattern without a match gives none and no error; names below a folder that
// cannot be read are an error, for a part of a source must not be passed over.
func Glob(fsys FS, pattern string) ([]string, error) {
	if _, err := filepath.Match(pattern, ""); err != nil {
		return nil, fmt.Errorf("pattern %s: %w", pattern, err)
	}
	return glob(fsys, filepath.Clean(pattern))
}

// HasMeta reports whether a name is a pattern of Glob.
func HasMeta(name string) bool { return strings.ContainsAny(name, `*?[\`) }

func glob(fsys FS, pattern string) ([]string, error) {
	if !HasMeta(pattern) {
		_, err := fsys.Stat(pattern)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return []string{pattern}, err
	}
	dir, last := filepath.Split(pattern)
	dirs := []string{filepath.Clean(dir)}
	if HasMeta(dir) {
		var err error
		if dirs, err = glob(fsys, filepath.Clean(dir)); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, d := range dirs {
		found, err := globDir(fsys, d, last)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			names = append(names, join(dir, d, name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// join keeps a pattern without a folder from gaining one.
func join(written, dir, name string) string {
	if written == "" {
		return name
	}
	return filepath.Join(dir, name)
}

func globDir(fsys FS, dir, pattern string) ([]string, error) {
	info, err := fsys.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ok, _ := filepath.Match(pattern, e.Name()); ok {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
