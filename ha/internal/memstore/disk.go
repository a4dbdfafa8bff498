package memstore

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/internal/storage"
)

// Folder is a Disk in a folder: one file, replaced whole by each write.
type Folder struct {
	fs   storage.FS
	dir  string
	lock func(name string) (unlock func(), err error)
}

var _ Disk = (*Folder)(nil)

// NewFolder returns a disk in a folder, which is made when it is first needed.
// lock keeps others away from a file; nil: a lock of the operating system.
func NewFolder(fsys storage.FS, dir string, lock func(name string) (func(), error)) *Folder {
	if lock == nil {
		lock = lockFile
	}
	return &Folder{fs: fsys, dir: dir, lock: lock}
}

func (f *Folder) file() string { return filepath.Join(f.dir, "store.json") }

// Lock implements Disk.
func (f *Folder) Lock() (func(), error) {
	if err := storage.MakeDir(f.fs, f.dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ha.ErrUnavailable, err)
	}
	return f.lock(filepath.Join(f.dir, "lock"))
}

// Load implements Disk.
func (f *Folder) Load() ([]byte, error) {
	text, err := storage.ReadFile(f.fs, f.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Save implements Disk.
func (f *Folder) Save(data []byte) error { return storage.WriteAtomic(f.fs, f.file(), data) }
