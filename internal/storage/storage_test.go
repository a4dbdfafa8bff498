package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// both runs a test on the operating system's files and on those in memory,
// which have to behave alike.
func both(t *testing.T, test func(t *testing.T, fsys storage.FS, dir string)) {
	t.Run("local", func(t *testing.T) { test(t, storage.Local{}, t.TempDir()) })
	t.Run("crashfs", func(t *testing.T) {
		fsys := crashfs.New(1)
		if err := fsys.MkdirAll("/top"); err != nil {
			t.Fatal(err)
		}
		test(t, fsys, "/top")
	})
}

func write(t *testing.T, fsys storage.FS, name, text string) {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, fsys storage.FS, name string) string {
	t.Helper()
	data, err := storage.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestFilesBehaveAlike(t *testing.T) {
	both(t, func(t *testing.T, fsys storage.FS, dir string) {
		name := filepath.Join(dir, "a")
		write(t, fsys, name, "hello world")
		f, err := fsys.OpenFile(name, os.O_RDWR)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Truncate(5); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Seek(0, io.SeekEnd); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, "!!"); err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 4)
		if n, err := f.ReadAt(p, 4); n != 3 || !errors.Is(err, io.EOF) || string(p[:n]) != "o!!" {
			t.Errorf("ReadAt = %q, %v", p[:n], err)
		}
		if info, err := f.Stat(); err != nil || info.Size() != 7 || info.IsDir() {
			t.Errorf("Stat = %v, %v", info, err)
		}
		if err := f.Sync(); err != nil {
			t.Error(err)
		}
		if got := read(t, fsys, name); got != "hello!!" {
			t.Errorf("file holds %q", got)
		}
	})
}

func TestErrorsBehaveAlike(t *testing.T) {
	both(t, func(t *testing.T, fsys storage.FS, dir string) {
		name := filepath.Join(dir, "a")
		write(t, fsys, name, "x")
		if _, err := fsys.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open of nothing: %v", err)
		}
		if _, err := fsys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY); !errors.Is(err, fs.ErrExist) {
			t.Errorf("exclusive creation of what exists: %v", err)
		}
		if err := fsys.Rename(filepath.Join(dir, "none"), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rename of nothing: %v", err)
		}
		if err := fsys.Remove(dir); err == nil {
			t.Error("a folder that is not empty was removed")
		}
		if err := fsys.MkdirAll(filepath.Join(name, "sub")); err == nil {
			t.Error("a folder was made in a file")
		}
		if _, err := fsys.OpenFile(dir, os.O_WRONLY); err == nil {
			t.Error("a folder was opened to write")
		}
		if _, err := storage.ReadFile(fsys, dir); err == nil {
			t.Error("a folder was read as a file")
		}
		if _, err := fsys.ReadDir(name); err == nil {
			t.Error("a file was listed as a folder")
		}
	})
}

func TestRenameReplacesAndRemoveAllClears(t *testing.T) {
	both(t, func(t *testing.T, fsys storage.FS, dir string) {
		sub := filepath.Join(dir, "sub", "deeper")
		if err := storage.MakeDir(fsys, sub); err != nil {
			t.Fatal(err)
		}
		write(t, fsys, filepath.Join(sub, "new"), "new")
		write(t, fsys, filepath.Join(dir, "old"), "old")
		if err := fsys.Rename(filepath.Join(sub, "new"), filepath.Join(dir, "old")); err != nil {
			t.Fatal(err)
		}
		if got := read(t, fsys, filepath.Join(dir, "old")); got != "new" {
			t.Errorf("after the rename: %q", got)
		}
		write(t, fsys, filepath.Join(sub, "more"), "")
		for range 2 { // the second finds nothing
			if err := storage.RemoveAll(fsys, filepath.Join(dir, "sub")); err != nil {
				t.Fatal(err)
			}
		}
		entries, err := fsys.ReadDir(dir)
		if err != nil || len(entries) != 1 || entries[0].Name() != "old" {
			t.Errorf("left are %v, %v", entries, err)
		}
	})
}

func TestGlob(t *testing.T) {
	both(t, func(t *testing.T, fsys storage.FS, dir string) {
		for _, name := range []string{"y=1/b.csv", "y=1/a.csv", "y=2/a.csv", "y=2/a.txt", "c.csv"} {
			name = filepath.Join(dir, name)
			if err := storage.MakeDir(fsys, filepath.Dir(name)); err != nil {
				t.Fatal(err)
			}
			write(t, fsys, name, "")
		}
		for pattern, want := range map[string][]string{
			"*.csv":       {"c.csv"},
			"y=*/*.csv":   {"y=1/a.csv", "y=1/b.csv", "y=2/a.csv"},
			"y=*/a.txt":   {"y=2/a.txt"},
			"c.csv":       {"c.csv"},
			"none*":       nil,
			"none.csv":    nil,
			"c.csv/*":     nil,
			"y=[2-9]/*.t": nil,
		} {
			got, err := storage.Glob(fsys, filepath.Join(dir, pattern))
			for i := range want {
				want[i] = filepath.Join(dir, want[i])
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("Glob(%s) = %v, %v, want %v", pattern, got, err, want)
			}
		}
		if _, err := storage.Glob(fsys, "a[b"); !errors.Is(err, filepath.ErrBadPattern) {
			t.Errorf("a bad pattern: %v", err)
		}
	})
}

// Exactness rule 11: after a crash at any moment the file holds what it held
// or what was written, whole; once WriteAtomic has returned, the latter.
func TestRule11WriteAtomicIsWholeAfterAnyCrash(t *testing.T) {
	const seed, rounds = 7, 40
	seen := map[string]int{}
	for at := int64(1); ; at++ {
		finished := false
		for round := range uint64(rounds) {
			fsys := crashfs.New(seed + round)
			if err := storage.MakeDir(fsys, "/state"); err != nil {
				t.Fatal(err)
			}
			if err := storage.WriteAtomic(fsys, "/state/file", []byte("before")); err != nil {
				t.Fatal(err)
			}
			fsys.CrashAt(fsys.Changes() + at)
			err := storage.WriteAtomic(fsys, "/state/file", []byte("after"))
			got := read(t, fsys.CrashClone(), "/state/file")
			seen[got]++
			if got != "before" && got != "after" {
				t.Fatalf("seed %d, crash at %d: the file holds %q", seed+round, at, got)
			}
			if finished = err == nil; finished && got != "after" {
				t.Fatalf("seed %d: written, and after a crash it holds %q", seed+round, got)
			}
		}
		if finished {
			break
		}
	}
	if seen["before"] == 0 || seen["after"] == 0 {
		t.Errorf("the crashes left only %v", seen)
	}
}

func TestWriteAtomicReportsEachFailure(t *testing.T) {
	boom := errors.New("no space")
	for at := int64(1); at <= 5; at++ { // create, write, sync, rename, sync of the folder
		fsys := crashfs.New(1)
		if err := fsys.MkdirAll("/s"); err != nil {
			t.Fatal(err)
		}
		fsys.FailAt(fsys.Changes()+at, boom)
		if err := storage.WriteAtomic(fsys, "/s/f", []byte("x")); !errors.Is(err, boom) {
			t.Errorf("failure of change %d: %v", at, err)
		}
	}
}
