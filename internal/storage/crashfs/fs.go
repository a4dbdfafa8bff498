package crashfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leatdata/leat/internal/storage"
)

// ErrCrashed is the error of every operation once CrashAt's has come.
var ErrCrashed = errors.New("the process has crashed")

// FS is the file system. It is safe for concurrent use.
type FS struct {
	mu      sync.Mutex
	rng     *rand.Rand
	root    *node
	pending []*change // names changed since the SyncDir of their folder, in order
	seq     int64     // number of the last change
	clock   int64     // seconds that have passed, one per change of a file
	changes int64     // operations that change something, so far
	inject  func(Op) error
	failAt  int64
	failErr error
	crashAt int64
}

var _ storage.FS = (*FS)(nil)

// New returns an empty file system. The seed decides what crashes leave.
func New(seed uint64) *FS {
	return &FS{rng: rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15)), root: newDir()}
}

// Inject has f see each operation from now on; nil ends it. f must not use
// the file system.
func (f *FS) Inject(inject func(Op) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inject = inject
}

// FailAt makes the n-th changing operation fail with err, once.
func (f *FS) FailAt(n int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt, f.failErr = n, err
}

// CrashAt makes the n-th changing operation and all operations after it fail.
func (f *FS) CrashAt(n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = n
}

// Changes returns the number of changing operations so far.
func (f *FS) Changes() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changes
}

// before is called with mu held at the start of each operation.
func (f *FS) before(kind Kind, name string) error {
	if kind.Changes() {
		f.changes++
		if f.failAt == f.changes {
			return &fs.PathError{Op: kind.String(), Path: name, Err: f.failErr}
		}
	}
	if f.crashAt > 0 && f.changes >= f.crashAt {
		return &fs.PathError{Op: kind.String(), Path: name, Err: ErrCrashed}
	}
	if f.inject != nil {
		if err := f.inject(Op{Kind: kind, Name: name, Change: f.changes}); err != nil {
			return &fs.PathError{Op: kind.String(), Path: name, Err: err}
		}
	}
	return nil
}

// Open implements storage.FS.
func (f *FS) Open(name string) (storage.File, error) { return f.OpenFile(name, os.O_RDONLY) }

// OpenFile implements storage.FS.
func (f *FS) OpenFile(name string, flag int) (storage.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.entries[base]
	if base == "." {
		n = f.root
	}
	kind := OpOpen
	if n == nil && flag&os.O_CREATE != 0 || flag&os.O_TRUNC != 0 {
		kind = OpCreate
	}
	if err := f.before(kind, name); err != nil {
		return nil, err
	}
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n != nil && n.dir && writes:
		return nil, &fs.PathError{Op: "open", Path: name, Err: errIsDir}
	case n == nil:
		n = &node{modified: f.tick()}
		f.change(entry{dir, base, n})
	}
	if flag&os.O_TRUNC != 0 && len(n.data) > 0 {
		n.apply(write{size: 0, truncate: true}, f.tick())
	}
	return &file{fs: f, node: n, name: name, flag: flag}, nil
}

// Rename implements storage.FS.
func (f *FS) Rename(oldName, newName string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, oldBase, err := f.parent("rename", oldName)
	if err != nil {
		return err
	}
	to, newBase, err := f.parent("rename", newName)
	if err != nil {
		return err
	}
	if err := f.before(OpRename, oldName); err != nil {
		return err
	}
	n := from.entries[oldBase]
	if n == nil {
		return &fs.PathError{Op: "rename", Path: oldName, Err: fs.ErrNotExist}
	}
	if there := to.entries[newBase]; there == n {
		return nil
	} else if there != nil && (there.dir || n.dir) {
		return &fs.PathError{Op: "rename", Path: newName, Err: fs.ErrExist}
	}
	f.change(entry{from, oldBase, nil}, entry{to, newBase, n})
	return nil
}

// Remove implements storage.FS.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, base, err := f.parent("remove", name)
	if err != nil {
		return err
	}
	if err := f.before(OpRemove, name); err != nil {
		return err
	}
	n := dir.entries[base]
	if n == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if n.dir && len(n.entries) > 0 {
		return &fs.PathError{Op: "remove", Path: name, Err: errNotEmpty}
	}
	f.change(entry{dir, base, nil})
	return nil
}

// MkdirAll implements storage.FS.
func (f *FS) MkdirAll(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.before(OpMkdir, name); err != nil {
		return err
	}
	dir := f.root
	for _, part := range parts(name) {
		n := dir.entries[part]
		if n == nil {
			n = newDir()
			n.modified = f.tick()
			f.change(entry{dir, part, n})
		}
		if !n.dir {
			return &fs.PathError{Op: "mkdir", Path: name, Err: errNotDir}
		}
		dir = n
	}
	return nil
}

// ReadDir implements storage.FS.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.before(OpReadDir, name); err != nil {
		return nil, err
	}
	n, err := f.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.dir {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	entries := make([]fs.DirEntry, 0, len(n.entries))
	for base, child := range n.entries {
		entries = append(entries, fs.FileInfoToDirEntry(child.info(base)))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Stat implements storage.FS.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.before(OpStat, name); err != nil {
		return nil, err
	}
	n, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return n.info(filepath.Base(name)), nil
}

// SyncDir implements storage.FS.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.before(OpSyncDir, name); err != nil {
		return err
	}
	dir, err := f.find("sync", name)
	if err != nil {
		return err
	}
	if !dir.dir {
		return &fs.PathError{Op: "sync", Path: name, Err: errNotDir}
	}
	f.pending = slices.DeleteFunc(f.pending, func(c *change) bool {
		if !c.touches(dir) {
			return false
		}
		c.makeDurable()
		return true
	})
	return nil
}

// tick returns the time of a change, each a second after the one before.
func (f *FS) tick() time.Time {
	f.clock++
	return time.Unix(1_700_000_000+f.clock, 0).UTC()
}

// change makes names what they are to be, and keeps in mind that they are not durable.
func (f *FS) change(entries ...entry) {
	f.seq++
	for _, e := range entries {
		e.dir.set(e.name, e.node)
	}
	f.pending = append(f.pending, &change{seq: f.seq, entries: entries})
}

// find returns the node of a name.
func (f *FS) find(op, name string) (*node, error) {
	n := f.root
	for _, part := range parts(name) {
		if !n.dir {
			return nil, &fs.PathError{Op: op, Path: name, Err: errNotDir}
		}
		if n = n.entries[part]; n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
	}
	return n, nil
}

// parent returns the folder of a name, and the name in it.
func (f *FS) parent(op, name string) (*node, string, error) {
	p := parts(name)
	if len(p) == 0 {
		return f.root, ".", nil
	}
	dir, err := f.find(op, strings.Join(p[:len(p)-1], "/"))
	if err == nil && !dir.dir {
		err = &fs.PathError{Op: op, Path: name, Err: errNotDir}
	}
	return dir, p[len(p)-1], err
}

// parts cuts a name at its slashes; the root has none.
func parts(name string) []string {
	name = filepath.ToSlash(filepath.Clean(name))
	if name == "." {
		return nil
	}
	return strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
}
