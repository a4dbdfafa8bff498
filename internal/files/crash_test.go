package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

const crashSeed = 20

// targetText returns what a reader of the target sees: the file, or the
// records of all part files in the order of their names.
func targetText(t *testing.T, fsys storage.FS, path string, c Compression) string {
	t.Helper()
	info, err := fsys.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	if !info.IsDir() {
		return unpack(t, fsys, path, c)
	}
	entries, err := fsys.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text := unpack(t, fsys, filepath.Join(path, e.Name()), c)
		header, records, _ := strings.Cut(text, "\n")
		if header != "id|name" {
			t.Fatalf("%s begins with %q", e.Name(), header)
		}
		all.WriteString(records)
	}
	return "id|name\n" + all.String()
}

func unpack(t *testing.T, fsys storage.FS, name string, c Compression) string {
	t.Helper()
	f, err := fsys.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := c.reader(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(text)
}

// leftovers returns the names in a folder that are no part of the result.
func leftovers(t *testing.T, fsys storage.FS, dir string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func sortedRows(text string) []string {
	rows := strings.SplitAfter(text, "\n")
	slices.Sort(rows[1:])
	return rows
}

type crashCase struct {
	name        string
	out         string
	dir         string
	slots       int
	abandon     bool
	compression Compression
	before      string // what the target holds before the run
	// exchange has the file system forget a duty, to show that the test sees it.
	exchange func(storage.FS) storage.FS
}

func crashCases() []crashCase {
	return []crashCase{
		{name: "one file", out: "/out/t.txt", dir: "/out", slots: 1},
		{name: "one file, attempts given up", out: "/out/t.txt", dir: "/out", slots: 1, abandon: true},
		{name: "one file gzip", out: "/out/t.txt.gz", dir: "/out", slots: 1, abandon: true, compression: Gzip},
		{name: "folder", out: "/out/", dir: "/out", slots: 2, before: "part-00001.txt"},
		{name: "folder, attempts given up", out: "/out/", dir: "/out", slots: 2, abandon: true, before: "part-00077.txt"},
		{name: "folder zstd", out: "/out/", dir: "/out", slots: 2, abandon: true, compression: Zstd},
	}
}

func (c crashCase) setup(t *testing.T, seed uint64, text string) (*crashfs.FS, *job) {
	t.Helper()
	fsys := crashfs.New(seed)
	put(t, fsys, "/in/s.txt", []byte(text))
	if err := storage.MakeDir(fsys, "/out"); err != nil {
		t.Fatal(err)
	}
	if c.before != "" {
		put(t, fsys, filepath.Join("/out", c.before), []byte("id|name\nold|old\n"))
	}
	fsys = settled(t, fsys)
	j := newJob("/in/s.txt", c.out)
	j.slots, j.abandon = c.slots, c.abandon
	j.sink.Compression = string(c.compression)
	if c.compression == "" {
		j.sink.Compression = "none"
	}
	return fsys, j
}

// settled makes all that a file system holds durable.
func settled(t *testing.T, fsys *crashfs.FS) *crashfs.FS {
	t.Helper()
	for _, dir := range []string{"/in", "/out", "/"} {
		entries, err := fsys.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			f, err := fsys.OpenFile(filepath.Join(dir, e.Name()), os.O_RDWR)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Sync(), f.Close()); err != nil {
				t.Fatal(err)
			}
		}
		if err := fsys.SyncDir(dir); err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

// check says what is wrong with the target, "" when it equals the source.
func (c crashCase) check(t *testing.T, fsys storage.FS, text string) string {
	got := targetText(t, fsys, c.out, c.compression)
	want := text
	if strings.HasSuffix(c.out, "/") {
		if !slices.Equal(sortedRows(got), sortedRows(want)) {
			return fmt.Sprintf("the target holds %q, want %q in any order", got, want)
		}
		return ""
	}
	if got != want {
		return fmt.Sprintf("the target holds %q, want %q", got, want)
	}
	return ""
}

// Exactness rules 9, 10 and 11: whatever operation a crash comes at - of the
// process alone, or of the machine - the run goes on from the last stored
// states, and the target has each record once; before the end it shows nothing.
func TestRules9to11CrashAtEachOperation(t *testing.T) {
	text := crashText()
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			total := c.changes(t, text)
			for at := int64(1); at <= total; at++ {
				for _, machine := range []bool{false, true} {
					if problem := c.crashAt(t, crashSeed+uint64(at), at, machine, text); problem != "" {
						t.Fatalf("seed %d, crash at change %d of %d, of the machine %v: %s", crashSeed+uint64(at), at, total, machine, problem)
					}
				}
			}
		})
	}
}

func crashText() string {
	text, _ := numbered(60)
	return strings.ReplaceAll(text, "'line\nend'", "quoted")
}

// changes returns how many operations of a run without a crash change something.
func (c crashCase) changes(t *testing.T, text string) int64 {
	t.Helper()
	fsys, j := c.setup(t, crashSeed, text)
	before := fsys.Changes()
	if err := j.process(t.Context(), fsys); err != nil {
		t.Fatal(err)
	}
	if problem := c.check(t, fsys, text); problem != "" {
		t.Fatal(problem)
	}
	if left := leftovers(t, fsys, c.dir); len(left) > 0 {
		t.Fatalf("left over: %v", left)
	}
	return fsys.Changes() - before
}

// crashAt runs the job with a crash, and another soon after it, to its end.
func (c crashCase) crashAt(t *testing.T, seed uint64, at int64, machine bool, text string) string {
	t.Helper()
	exchange := c.exchange
	if exchange == nil {
		exchange = func(f storage.FS) storage.FS { return f }
	}
	fsys, j := c.setup(t, seed, text)
	for _, crash := range []int64{at, 1 + at%17, 0} {
		if crash > 0 {
			fsys.CrashAt(fsys.Changes() + crash)
		}
		err := j.process(t.Context(), exchange(fsys))
		fsys.CrashAt(0)
		if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			return err.Error()
		}
		if err == nil {
			if crash == 0 {
				break
			}
			continue
		}
		if machine {
			fsys = fsys.CrashClone()
		}
		if j.finished {
			c.removeMark(t, fsys, j)
		}
		if problem := c.showsNothingYet(t, fsys, j, text); problem != "" {
			return problem
		}
	}
	if left := leftovers(t, fsys, c.dir); len(left) > 0 {
		return fmt.Sprintf("left over: %v", left)
	}
	return c.check(t, fsys, text)
}

// removeMark does what the next run's Prepare does about a crash in Close.
func (c crashCase) removeMark(t *testing.T, fsys *crashfs.FS, j *job) {
	t.Helper()
	snk, err := NewSink(SinkConfig{FS: fsys, Format: j.format, Options: j.sink})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snk.Resolve(t.Context(), &batch.Schema{}); err != nil {
		t.Fatal(err)
	}
	if err := snk.Prepare(t.Context(), connector.Run{ID: "next"}); err != nil {
		t.Fatal(err)
	}
}

// showsNothingYet looks at a target whose run has not come to its end.
func (c crashCase) showsNothingYet(t *testing.T, fsys storage.FS, j *job, text string) string {
	t.Helper()
	for _, split := range j.splits {
		if !j.states[split.ID].Done {
			got := targetText(t, fsys, c.out, c.compression)
			if c.before != "" {
				got = strings.Replace(got, "old|old\n", "", 1)
			}
			if got != "" && got != "id|name\n" {
				return fmt.Sprintf("before the end the target shows %q", got)
			}
			return ""
		}
	}
	return ""
}

// forgetful is a file system whose files, or folders, are not synced.
type forgetful struct {
	storage.FS
	files, dirs bool
}

func (f forgetful) SyncDir(name string) error {
	if f.dirs {
		return nil
	}
	return f.FS.SyncDir(name)
}

func (f forgetful) OpenFile(name string, flag int) (storage.File, error) {
	file, err := f.FS.OpenFile(name, flag)
	if err != nil || !f.files {
		return file, err
	}
	return unsynced{file}, nil
}

type unsynced struct{ storage.File }

func (unsynced) Sync() error { return nil }

// The test above fails when a sync is left out: exactness rule 11 broken.
func TestRule11MissingSyncsAreSeen(t *testing.T) {
	text := crashText()
	for what, exchange := range map[string]func(storage.FS) storage.FS{
		"files":   func(f storage.FS) storage.FS { return forgetful{FS: f, files: true} },
		"folders": func(f storage.FS) storage.FS { return forgetful{FS: f, dirs: true} },
	} {
		c := crashCases()[0]
		c.exchange = exchange
		total := c.changes(t, text)
		seen := 0
		for at := int64(1); at <= total; at++ {
			if c.crashAt(t, crashSeed+uint64(at), at, true, text) != "" {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("no crash showed that %s are not synced", what)
		}
	}
}
