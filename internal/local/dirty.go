package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// joinDirty writes all dirty records of the run into one file and returns its
// name. Without any, a file of an earlier run is removed.
func (x *execution) joinDirty(states []connector.SplitState, tails map[connector.SplitID]connector.Token, some bool) (string, error) {
	out := x.dirtyOutput()
	if !some {
		return out.name, out.remove()
	}
	f, err := x.deps.FS.OpenFile(out.temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return out.name, fmt.Errorf("join dirty records: %w", err)
	}
	sum := newFileSum(f)
	err = errors.Join(x.dirty().Join(sum, states, tails), f.Sync(), f.Close())
	if err != nil {
		return out.name, err
	}
	return out.name, out.place(sum.mark())
}

// dirtyOutput is the file that a job's dirty records are joined in: one in
// the job's own folder, or the named one, where other things may stand. Of
// those only what this job has written itself is replaced.
type dirtyOutput struct {
	x               *execution
	name, temporary string
	// path names the file from anywhere; "" for the one in the job's folder.
	path string
}

func (x *execution) dirtyOutput() dirtyOutput {
	name := x.job.Errors.Dirty
	if name == "" {
		name = filepath.Join(x.dir, "dirty.jsonl")
		return dirtyOutput{x: x, name: name, temporary: name + storage.TempSuffix}
	}
	// A name of the run's own is nobody else's.
	return dirtyOutput{x: x, name: name, temporary: name + "." + x.store.data.Current.Run.ID + storage.TempSuffix, path: absolute(name)}
}

// absolute is the name from anywhere; the same if it cannot be told.
func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

// checkDirty refuses a job whose named file of dirty records cannot be made,
// or is another's, before anything is copied.
func (x *execution) checkDirty() error {
	name := x.job.Errors.Dirty
	if name == "" {
		return nil
	}
	dir := filepath.Dir(name)
	if err := storage.MakeDir(x.deps.FS, dir); err != nil {
		return connector.Errorf(connector.Usage, "errors.dirty: %w", err)
	}
	if _, local := x.deps.FS.(storage.Local); local {
		if err := unix.Access(dir, unix.W_OK); err != nil {
			return connector.Errorf(connector.Usage, "errors.dirty: %s cannot be made in %s: %w", name, dir, err)
		}
	}
	return connector.E(connector.Usage, dirtyOutput{x: x, name: name, path: absolute(name)}.check())
}

// check is nil when there is no such file, or one that this job has written.
func (o dirtyOutput) check() error {
	mark, err := markOf(o.x.deps.FS, o.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errNoFile):
		return fmt.Errorf("errors.dirty: %s is no file, and would be replaced by one: name another", o.name)
	case err != nil:
		return fmt.Errorf("errors.dirty: %w", err)
	case o.x.store.data.wroteDirty(o.path, mark):
		return nil
	}
	return fmt.Errorf("errors.dirty: %s is there already, and %s; it would be lost: move it away, or name another file", o.name, o.x.writerOf(o.path, mark))
}

// place makes the temporary file the file. What is known of it is stored
// before, so that a crash leaves no file that this job does not know.
func (o dirtyOutput) place(mark fileMark) error {
	filesystem, d := o.x.deps.FS, &o.x.store.data
	if o.path != "" {
		release := o.x.deps.LockFolder(filepath.Dir(o.name))
		defer release()
		if err := o.check(); err != nil {
			return errors.Join(err, filesystem.Remove(o.temporary))
		}
		d.DirtyFiles = append(d.DirtyFiles, dirtyFile{Path: o.path, Mark: mark})
		if err := o.x.save(); err != nil {
			return err
		}
	}
	if err := filesystem.Rename(o.temporary, o.name); err != nil {
		return fmt.Errorf("join dirty records: %w", err)
	}
	if err := filesystem.SyncDir(filepath.Dir(o.name)); err != nil {
		return fmt.Errorf("join dirty records: %w", err)
	}
	if o.path != "" {
		d.keepDirty(dirtyFile{Path: o.path, Mark: mark})
	}
	return nil
}

// remove removes the file of an earlier run; what is another's stays.
func (o dirtyOutput) remove() error {
	if o.path != "" {
		release := o.x.deps.LockFolder(filepath.Dir(o.name))
		defer release()
		if mark, err := markOf(o.x.deps.FS, o.name); err != nil || !o.x.store.data.wroteDirty(o.path, mark) {
			return nil //nolint:nilerr // what cannot be read is not known as ours
		}
	}
	if err := o.x.deps.FS.Remove(o.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the dirty records of an earlier run: %w", err)
	}
	return nil
}

// writerOf says who wrote a file of dirty records, of the jobs whose state
// stands beside this one's.
func (x *execution) writerOf(path string, mark fileMark) string {
	const unknown = "this job's state does not know it as its own"
	root := filepath.Dir(x.dir)
	entries, err := x.deps.FS.ReadDir(root)
	if err != nil {
		return unknown
	}
	for _, e := range entries {
		st, err := openStore(x.deps.FS, filepath.Join(root, e.Name()))
		if err == nil && e.Name() != x.job.Name && st.data.wroteDirty(path, mark) {
			return fmt.Sprintf("holds the dirty records of job %s", e.Name())
		}
	}
	return unknown
}
