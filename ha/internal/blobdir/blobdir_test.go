package blobdir_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// A blob is whole or not there, whatever was under way; one whose Put has returned
// is there.
func TestCrashLeavesBlobsWhole(t *testing.T) {
	data := func(n int) []byte { return bytes.Repeat([]byte{byte(n)}, 100*n) }
	for at := int64(1); at < 40; at++ {
		for seed := range uint64(5) {
			fsys := crashfs.New(seed)
			b := blobdir.New(fsys, "dir")
			fsys.CrashAt(at)
			stored := 0
			for n := 1; n <= 4; n++ {
				if b.Put(t.Context(), fmt.Sprintf("f%d/x", n%2), data(n)) == nil {
					stored = n
				}
			}
			after := blobdir.New(fsys.CrashClone(), "dir")
			for f := range 2 {
				last := stored // the last that was stored under this key
				for last > 0 && last%2 != f {
					last--
				}
				got, err := after.Get(t.Context(), fmt.Sprintf("f%d/x", f))
				if err != nil && (last > 0 || !errors.Is(err, ha.ErrNotFound)) {
					t.Fatalf("crash at %d, seed %d: %v, stored was %d", at, seed, err, last)
				}
				if err == nil && (len(got)%100 != 0 || len(got)/100 < last || !bytes.Equal(got, data(len(got)/100))) {
					t.Fatalf("crash at %d, seed %d: %d bytes, stored was %d", at, seed, len(got), last)
				}
			}
		}
	}
}

func TestKeysThatLeadElsewhereAreRefused(t *testing.T) {
	b := blobdir.New(crashfs.New(1), "dir")
	for _, key := range []string{"", "/", "a/", "/a", "a//b", "..", "a/../b", ".", "a b", "a\\b", "ü", "a/.tmp-1", "a\x00"} {
		for name, err := range map[string]error{
			"put": b.Put(t.Context(), key, nil), "delete": b.Delete(t.Context(), key),
		} {
			if !errors.Is(err, ha.ErrConfig) {
				t.Errorf("%s %q: %v", name, key, err)
			}
		}
	}
}

func TestErrorsNameTheBlobAndNothingIsLost(t *testing.T) {
	fsys := crashfs.New(1)
	b := blobdir.New(fsys, "dir")
	if err := b.Put(t.Context(), "f/x", []byte("old")); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= 4; n++ { // whichever of its steps fails
		fsys.FailAt(fsys.Changes()+n, syscall.ENOSPC)
		err := b.Put(t.Context(), "f/x", []byte("new"))
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write blob f/x") {
			t.Errorf("step %d: %v", n, err)
		}
		if got, err := b.Get(t.Context(), "f/x"); err != nil || string(got) != "old" {
			t.Errorf("step %d: left %q, %v", n, got, err)
		}
		if all, err := b.List(t.Context(), "f"); err != nil || len(all) != 1 {
			t.Errorf("step %d: %+v, %v", n, all, err)
		}
	}
}

// Whoever removes the last blob of a folder removes the folder: under the hands of
// one that writes there.
func TestFolderRemovedUnderAWriter(t *testing.T) {
	b := blobdir.New(storage.Local{}, t.TempDir())
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			key := fmt.Sprintf("f/g/%d", i)
			for range 50 {
				if err := errors.Join(b.Put(t.Context(), key, nil), b.Delete(t.Context(), key)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	if all, err := b.List(t.Context(), "f"); err != nil || len(all) != 0 {
		t.Errorf("left %+v, %v", all, err)
	}
}

// What a crash in the midst of a write has left is removed when it is old.
func TestTemporaryFilesAreRemovedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		write := func() {
			f, err := storage.Local{}.OpenFile(dir+"/f/.tmp-1", 0x41) // O_WRONLY|O_CREATE
			if err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
		}
		b := blobdir.New(storage.Local{}, dir)
		if err := b.Put(t.Context(), "f/x", nil); err != nil {
			t.Fatal(err)
		}
		write()
		if all, err := b.List(t.Context(), "f"); err != nil || len(all) != 1 {
			t.Errorf("%+v, %v", all, err)
		}
		_, err := storage.Local{}.Stat(dir + "/f/.tmp-1")
		young := err == nil
		// The file's time is the system's, the bubble's clock begins in 2000: go on
		// until both agree that it is old.
		<-time.NewTimer(100 * 365 * 24 * time.Hour).C
		if _, err := b.List(t.Context(), "f"); err != nil {
			t.Error(err)
		}
		if _, err := (storage.Local{}).Stat(dir + "/f/.tmp-1"); err == nil || !young {
			t.Errorf("young: kept %v; old: %v", young, err)
		}
	})
}
