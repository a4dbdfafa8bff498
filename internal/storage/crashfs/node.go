package crashfs

import (
	"errors"
	"io/fs"
	"time"
)

var (
	errIsDir    = errors.New("is a folder")
	errNotDir   = errors.New("is not a folder")
	errNotEmpty = errors.New("folder is not empty")
)

// node is a file or a folder.
type node struct {
	dir      bool
	modified time.Time

	// Of a folder: the names as they are, and as they are known to be durable.
	entries map[string]*node
	durable map[string]durable

	// Of a file: the data as it is, the data at the last Sync, and what was
	// written since.
	data   []byte
	synced []byte
	writes []write
}

// durable is what a name durably is: a node, or nil for none, since a change.
type durable struct {
	node *node
	seq  int64
}

// write is a write to a file, or a truncation to size.
type write struct {
	offset   int64
	data     []byte
	size     int64
	truncate bool
}

// entry is what a name in a folder becomes; a nil node removes it.
type entry struct {
	dir  *node
	name string
	node *node
}

// change is a set of names that change as one.
type change struct {
	seq     int64
	entries []entry
}

func newDir() *node {
	return &node{dir: true, entries: map[string]*node{}, durable: map[string]durable{}}
}

func (n *node) set(name string, child *node) {
	if child == nil {
		delete(n.entries, name)
		return
	}
	n.entries[name] = child
}

func (c *change) touches(dir *node) bool {
	for _, e := range c.entries {
		if e.dir == dir {
			return true
		}
	}
	return false
}

// makeDurable leaves names alone that a later change has already made durable.
func (c *change) makeDurable() {
	for _, e := range c.entries {
		if d := e.dir.durable[e.name]; d.seq < c.seq {
			e.dir.durable[e.name] = durable{e.node, c.seq}
		}
	}
}

// apply does a write to the data.
func (n *node) apply(w write, now time.Time) {
	n.data = w.on(n.data)
	n.writes = append(n.writes, w)
	n.modified = now
}

// sync makes the data durable.
func (n *node) sync() {
	for _, w := range n.writes {
		n.synced = w.on(n.synced)
	}
	n.writes = nil
}

// on returns data with the write done to it.
func (w write) on(data []byte) []byte {
	end := w.size
	if !w.truncate {
		end = max(w.offset+int64(len(w.data)), int64(len(data)))
	}
	if end <= int64(len(data)) {
		data = data[:end]
	} else {
		data = append(data, make([]byte, end-int64(len(data)))...)
	}
	if !w.truncate {
		copy(data[w.offset:], w.data)
	}
	return data
}

func (n *node) info(name string) fs.FileInfo {
	return fileInfo{name: name, size: int64(len(n.data)), dir: n.dir, modified: n.modified}
}

// fileInfo implements fs.FileInfo.
type fileInfo struct {
	name     string
	size     int64
	dir      bool
	modified time.Time
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) ModTime() time.Time { return i.modified }
func (i fileInfo) IsDir() bool        { return i.dir }
func (i fileInfo) Sys() any           { return nil }

func (i fileInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o777
	}
	return 0o666
}
