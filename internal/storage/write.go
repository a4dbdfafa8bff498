package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// TempSuffix ends the name under which WriteAtomic writes before it renames.
const TempSuffix = ".tmp"

// WriteAtomic makes data the content of a file, durably: after a crash the
// file holds either what it held before or data, whole. Two calls for one
// name must not run at once. The folder must exist.
func WriteAtomic(fsys FS, name string, data []byte) error {
	temp := name + TempSuffix
	if err := writeSynced(fsys, temp, data); err != nil {
		return err
	}
	if err := fsys.Rename(temp, name); err != nil {
		return Doing("put in place", name, err)
	}
	return Doing("put in place", name, fsys.SyncDir(filepath.Dir(name)))
}

func writeSynced(fsys FS, name string, data []byte) error {
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return Doing("write", name, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return Doing("write", name, errors.Join(err, f.Close()))
}

// MakeDir makes a folder and those above it, durably.
func MakeDir(fsys FS, name string) error {
	name = filepath.Clean(name)
	var missing []string
	for dir := name; ; dir = filepath.Dir(dir) {
		info, err := fsys.Stat(dir)
		if err == nil {
			if !info.IsDir() {
				return fmt.Errorf("make folder %s: %s is a file", name, dir)
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return Doing("make folder", name, err)
		}
		missing = append(missing, dir)
		if filepath.Dir(dir) == dir {
			break
		}
	}
	if err := fsys.MkdirAll(name); err != nil {
		return Doing("make folder", name, err)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := fsys.SyncDir(filepath.Dir(missing[i])); err != nil {
			return Doing("make folder", name, err)
		}
	}
	return nil
}

// RemoveAll removes a name and all below it; a name that is not there, or that
// somebody else removes meanwhile, is no error. It is durable once SyncDir of the folder above has returned.
func RemoveAll(fsys FS, name string) error {
	info, err := fsys.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && info.IsDir() {
		entries, err := fsys.ReadDir(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Doing("remove", name, err)
		}
		for _, e := range entries {
			if err := RemoveAll(fsys, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Doing("remove", name, err)
	}
	return nil
}

// ReadFile returns a file's whole content.
func ReadFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}
