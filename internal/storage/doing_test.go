package storage_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

func TestAnErrorNamesItsFileOnce(t *testing.T) {
	const dir = "/top"
	for _, c := range []struct {
		what string
		kind crashfs.Kind
		do   func(fsys storage.FS) error
		err  error
		want string
	}{
		{"a full disk", crashfs.OpWrite, func(fsys storage.FS) error { return storage.WriteAtomic(fsys, dir+"/a", []byte("x")) }, syscall.ENOSPC, "write /top/a.tmp: no space left on device"},
		{"a disk full at the sync", crashfs.OpSync, func(fsys storage.FS) error { return storage.WriteAtomic(fsys, dir+"/a", []byte("x")) }, syscall.ENOSPC, "write /top/a.tmp: sync: no space left on device"},
		{"a folder that may not be written to", crashfs.OpMkdir, func(fsys storage.FS) error { return storage.MakeDir(fsys, dir+"/d") }, fs.ErrPermission, "make folder /top/d: mkdir: permission denied"},
	} {
		fsys := crashfs.New(1)
		if err := fsys.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
		fsys.Inject(func(op crashfs.Op) error {
			if op.Kind == c.kind {
				return c.err
			}
			return nil
		})
		err := c.do(fsys)
		if !errors.Is(err, c.err) || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.what, err, c.want)
		}
	}
}

// The operating system's errors, of one name and of two, are no other.
func TestAnErrorOfTheSystemNamesItsFileOnce(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "missing", "a")
	err := storage.WriteAtomic(storage.Local{}, name, nil)
	if want := "write " + name + ".tmp: open: no such file or directory"; !errors.Is(err, fs.ErrNotExist) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err = storage.WriteAtomic(storage.Local{}, folder, nil); err == nil || strings.Count(err.Error(), folder) != 1 || !strings.HasPrefix(err.Error(), "put in place "+folder+": rename: ") {
		t.Errorf("a file where a folder is: %v", err)
	}
	full, err := storage.Local{}.OpenFile("/dev/full", os.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	_, err = full.Write([]byte("x"))
	err = storage.Doing("write", "/dev/full", errors.Join(err, nil))
	if want := "write /dev/full: no space left on device"; !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if err := storage.Doing("write", name, nil); err != nil {
		t.Errorf("no error: %v", err)
	}
}
