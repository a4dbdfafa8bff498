// Package storage is the seam between Leat and the place where files stand:
// state, dirty records, sources and targets all go through an FS. Local is
// the operating system's; storage/crashfs is one that a test can crash.
//
// A file's data is durable once File.Sync has returned, and its name once
// SyncDir of its folder has: nothing else is promised. WriteAtomic and
// MakeDir do both in the right order.
package storage

import (
	"io"
	"io/fs"
)

// FS is a file system. Names are as package path/filepath has them. Errors
// satisfy errors.Is with the errors of package io/fs. All methods may be
// called concurrently.
type FS interface {
	// Open opens a file to read.
	Open(name string) (File, error)
	// OpenFile opens a file with the flags of package os (O_RDONLY, O_WRONLY,
	// O_RDWR, O_CREATE, O_EXCL, O_TRUNC, O_APPEND).
	OpenFile(name string, flag int) (File, error)
	// Rename moves a file or folder, replacing a file of the new name. It is
	// durable once SyncDir of both folders has returned.
	Rename(oldName, newName string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	// MkdirAll makes a folder and those above it; existing ones are left.
	MkdirAll(name string) error
	// ReadDir returns a folder's entries by name.
	ReadDir(name string) ([]fs.DirEntry, error)
	// Stat tells what a name is, following links.
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the names in a folder durable: those created, renamed and
	// removed before it.
	SyncDir(name string) error
}

// File is an open file. A File belongs to one goroutine, but for Close and
// ReadAt.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Seeker
	io.Closer
	// Sync makes the data written so far durable. Once it has failed, it fails:
	// the system may have given up what it was about.
	Sync() error
	// Truncate sets the file's length; the offset stays.
	Truncate(size int64) error
	// Stat tells the file's length and times.
	Stat() (fs.FileInfo, error)
}

// WritebackStarter is a File that can be asked to begin with what Sync would
// have to do, so that Sync then takes less time. It promises nothing; an error
// that it meets is Sync's.
type WritebackStarter interface {
	StartWriteback(offset, length int64)
}
