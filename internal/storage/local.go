package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Local is the operating system's file system. Its zero value is ready.
type Local struct{}

var _ FS = Local{}

// Open implements FS.
func (Local) Open(name string) (File, error) { return openLocal(name, os.O_RDONLY) }

// OpenFile implements FS.
func (Local) OpenFile(name string, flag int) (File, error) { return openLocal(name, flag) }

// openLocal keeps a nil *os.File from becoming a File that is not nil.
func openLocal(name string, flag int) (File, error) {
	f, err := os.OpenFile(name, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return &localFile{File: f, early: earlySync{sync: f.Sync}}, nil
}

// localFile is a File of the operating system.
type localFile struct {
	*os.File
	early earlySync
}

// StartWriteback implements WritebackStarter.
func (f *localFile) StartWriteback(offset, length int64) {
	startWriteback(f.File, offset, length)
	f.early.wrote(length)
}

// Sync implements File.
func (f *localFile) Sync() error { return f.early.now() }

// Rename implements FS.
func (Local) Rename(oldName, newName string) error { return os.Rename(oldName, newName) }

// Remove implements FS.
func (Local) Remove(name string) error { return os.Remove(name) }

// MkdirAll implements FS.
func (Local) MkdirAll(name string) error { return os.MkdirAll(name, 0o777) }

// ReadDir implements FS.
func (Local) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

// Stat implements FS.
func (Local) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// SyncDir implements FS.
func (Local) SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync folder: %w", err), d.Close())
	}
	return d.Close()
}
