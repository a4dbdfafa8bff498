package crashfs_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

const seed = 11

func open(t *testing.T, fsys storage.FS, name string) storage.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeTo(t *testing.T, f storage.File, text string) {
	t.Helper()
	_, err := f.Write([]byte(text))
	must(t, err)
}

// outcomes returns what many crashes leave, as told by look.
func outcomes(fsys *crashfs.FS, look func(*crashfs.FS) string) []string {
	var seen []string
	for range 400 {
		if got := look(fsys.CrashClone()); !slices.Contains(seen, got) {
			seen = append(seen, got)
		}
	}
	slices.Sort(seen)
	return seen
}

func content(name string) func(*crashfs.FS) string {
	return func(c *crashfs.FS) string {
		data, err := storage.ReadFile(c, name)
		if errors.Is(err, fs.ErrNotExist) {
			return "none"
		}
		return strings.ReplaceAll(string(data), "\x00", "0")
	}
}

func TestUnsyncedDataMayBeLostTornOrZeros(t *testing.T) {
	fsys := crashfs.New(seed)
	f := open(t, fsys, "/f")
	writeTo(t, f, "ab")
	must(t, f.Sync())
	must(t, fsys.SyncDir("/"))
	writeTo(t, f, "cd")
	got := outcomes(fsys, content("/f"))
	if want := []string{"ab", "ab00", "abc", "abc0", "abcd"}; !slices.Equal(got, want) {
		t.Errorf("crashes left %q, want %q", got, want)
	}
	must(t, f.Sync())
	if got := outcomes(fsys, content("/f")); !slices.Equal(got, []string{"abcd"}) {
		t.Errorf("after Sync crashes left %q", got)
	}
}

func TestUnsyncedNamesMayBeLost(t *testing.T) {
	fsys := crashfs.New(seed)
	f := open(t, fsys, "/f")
	writeTo(t, f, "x")
	must(t, f.Sync())
	if got := outcomes(fsys, content("/f")); !slices.Equal(got, []string{"none", "x"}) {
		t.Errorf("created, not synced: %q", got)
	}
	must(t, fsys.SyncDir("/"))
	if got := outcomes(fsys, content("/f")); !slices.Equal(got, []string{"x"}) {
		t.Errorf("created and synced: %q", got)
	}
	must(t, fsys.Remove("/f"))
	if got := outcomes(fsys, content("/f")); !slices.Equal(got, []string{"none", "x"}) {
		t.Errorf("removed, not synced: %q", got)
	}
	must(t, fsys.SyncDir("/"))
	if got := outcomes(fsys, content("/f")); !slices.Equal(got, []string{"none"}) {
		t.Errorf("removed and synced: %q", got)
	}
}

func TestRenameIsWholeAlsoBetweenFolders(t *testing.T) {
	fsys := crashfs.New(seed)
	must(t, fsys.MkdirAll("/a"))
	must(t, fsys.MkdirAll("/b"))
	must(t, fsys.SyncDir("/"))
	f := open(t, fsys, "/a/f")
	writeTo(t, f, "x")
	must(t, f.Sync())
	must(t, fsys.SyncDir("/a"))
	must(t, fsys.Rename("/a/f", "/b/f"))
	look := func(c *crashfs.FS) string { return content("/a/f")(c) + " " + content("/b/f")(c) }
	if got := outcomes(fsys, look); !slices.Equal(got, []string{"none x", "x none"}) {
		t.Errorf("renamed, not synced: %q", got)
	}
	must(t, fsys.SyncDir("/b"))
	if got := outcomes(fsys, look); !slices.Equal(got, []string{"none x"}) {
		t.Errorf("renamed and synced: %q", got)
	}
}

func TestAnEarlierChangeNeverUndoesADurableOne(t *testing.T) {
	fsys := crashfs.New(seed)
	must(t, fsys.MkdirAll("/a"))
	must(t, fsys.MkdirAll("/b"))
	must(t, fsys.SyncDir("/"))
	writeTo(t, open(t, fsys, "/a/f"), "")
	must(t, fsys.Rename("/a/f", "/b/f")) // touches a and b
	must(t, fsys.Remove("/b/f"))
	must(t, fsys.SyncDir("/b"))
	if got := outcomes(fsys, content("/b/f")); !slices.Equal(got, []string{"none"}) {
		t.Errorf("crashes left %q", got)
	}
}

func TestSameSeedSameCrashes(t *testing.T) {
	leave := func() []string {
		fsys := crashfs.New(seed)
		for _, name := range []string{"/a", "/b", "/c"} {
			writeTo(t, open(t, fsys, name), strings.Repeat(name, 9))
		}
		var left []string
		for range 50 {
			c := fsys.CrashClone()
			left = append(left, content("/a")(c)+content("/b")(c)+content("/c")(c))
		}
		return left
	}
	if a, b := leave(), leave(); !slices.Equal(a, b) {
		t.Errorf("one seed left\n%q and\n%q", a, b)
	}
}

func TestInjectFailAtAndCrashAt(t *testing.T) {
	boom := errors.New("boom")
	fsys := crashfs.New(seed)
	f := open(t, fsys, "/f")
	fsys.FailAt(fsys.Changes()+2, boom)
	writeTo(t, f, "ab")
	if n, err := f.Write([]byte("cdef")); n != 2 || !errors.Is(err, boom) {
		t.Errorf("the failing write wrote %d, %v", n, err)
	}
	writeTo(t, f, "gh")
	if got := content("/f")(fsys); got != "abcdgh" {
		t.Errorf("the file holds %q", got)
	}
	fsys.FailAt(fsys.Changes()+1, boom)
	for range 2 {
		if err := f.Sync(); !errors.Is(err, boom) {
			t.Errorf("a sync, after one that failed: %v", err)
		}
	}
	f = open(t, fsys, "/f")
	fsys.Inject(func(op crashfs.Op) error {
		if op.Kind == crashfs.OpStat {
			return boom
		}
		return nil
	})
	if _, err := fsys.Stat("/f"); !errors.Is(err, boom) {
		t.Errorf("stat: %v", err)
	}
	fsys.CrashAt(fsys.Changes() + 1)
	if err := f.Sync(); !errors.Is(err, crashfs.ErrCrashed) {
		t.Errorf("sync at the crash: %v", err)
	}
	if _, err := fsys.Open("/f"); !errors.Is(err, crashfs.ErrCrashed) {
		t.Errorf("open after the crash: %v", err)
	}
	if _, err := fsys.CrashClone().ReadDir("/"); err != nil {
		t.Errorf("the clone: %v", err)
	}
}
