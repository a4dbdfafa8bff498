package files

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// One operation that fails - a full disk, say - ends the process with its
// error; the next one goes on, and the target has each record once.
func TestRule9EachOperationMayFail(t *testing.T) {
	text := crashText()
	full := errors.New("no space left")
	for _, c := range crashCases() {
		t.Run(c.name, func(t *testing.T) {
			total := c.changes(t, text)
			for at := int64(1); at <= total; at++ {
				fsys, j := c.setup(t, crashSeed, text)
				fsys.FailAt(fsys.Changes()+at, full)
				if err := j.process(t.Context(), fsys); err != nil && !errors.Is(err, full) {
					t.Fatalf("failure at %d: %v", at, err)
				}
				if j.finished {
					c.removeMark(t, fsys, j)
				}
				if err := j.process(t.Context(), fsys); err != nil {
					t.Fatalf("after the failure at %d: %v", at, err)
				}
				if problem := c.check(t, fsys, text); problem != "" {
					t.Fatalf("failure at %d: %s", at, problem)
				}
			}
		})
	}
}

// Exactness rule 9: one output file is renamed and not copied unless an
// attempt was lost; whole part files likewise.
func TestRule9NothingIsCopiedUnlessAnAttemptWasLost(t *testing.T) {
	text := crashText()
	for _, c := range crashCases() {
		if c.slots == 1 && c.abandon {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			fsys, j := c.setup(t, crashSeed, text)
			fsys.Inject(func(op crashfs.Op) error {
				if op.Kind == crashfs.OpCreate && strings.Contains(op.Name, "joined-") {
					return errors.New("a copy is made: " + op.Name)
				}
				return nil
			})
			if err := j.process(t.Context(), fsys); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFolderRollsAndReplacesEarlierParts(t *testing.T) {
	fsys := crashfs.New(1)
	text, _ := numbered(200)
	text = strings.ReplaceAll(text, "'line\nend'", "q")
	put(t, fsys, "/in.txt", []byte(text))
	for _, name := range []string{"part-00001.txt", "part-00099.txt", "part-00003.txt.gz", "README", "part-1.txt", "part-00001.csv"} {
		put(t, fsys, "/out/"+name, []byte("old"))
	}
	j := newJob("/in.txt", "/out")
	if err := j.process(t.Context(), fsys); err != nil {
		t.Fatal(err)
	}
	all := names(t, fsys, "/out")
	for _, stays := range []string{"README", "part-1.txt", "part-00001.csv"} {
		if !slices.Contains(all, stays) {
			t.Errorf("%s is gone", stays)
		}
	}
	for _, goes := range []string{"part-00099.txt", "part-00003.txt.gz"} {
		if slices.Contains(all, goes) {
			t.Errorf("%s is still there", goes)
		}
	}
	var got strings.Builder
	for n := 1; slices.Contains(all, (&target{suffix: ".txt"}).partName(n, "")); n++ {
		data, err := storage.ReadFile(fsys, "/out/"+(&target{suffix: ".txt"}).partName(n, ""))
		if err != nil {
			t.Fatal(err)
		}
		if n > 1 {
			data = bytes.TrimPrefix(data, []byte("id|name\n"))
		} else if len(data) > 1200 {
			t.Errorf("a part of %d bytes was not rolled", len(data))
		}
		got.Write(data)
	}
	if got.String() != text {
		t.Errorf("the parts hold %q", got.String())
	}
}

func TestAppendAddsPartFiles(t *testing.T) {
	fsys := crashfs.New(1)
	put(t, fsys, "/in.txt", []byte("id|name\n1|a\n"))
	for i, id := range []string{"aaaaaaaa-1", "bbbbbbbb-2"} {
		j := newJob("/in.txt", "/out/")
		j.sink.Mode, j.run.ID = "append", id
		if err := j.process(t.Context(), fsys); err != nil {
			t.Fatal(err)
		}
		if got := names(t, fsys, "/out"); len(got) != i+1 {
			t.Fatalf("after run %d: %v", i+1, got)
		}
	}
	if got, want := names(t, fsys, "/out"), []string{"part-00001-aaaaaaaa.txt", "part-00002-bbbbbbbb.txt"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	put(t, fsys, "/in.txt", []byte("id|name\n"))
	j := newJob("/in.txt", "/out/")
	j.sink.Mode, j.run.ID = "append", "cccccccc-3"
	if err := j.process(t.Context(), fsys); err != nil {
		t.Fatal(err)
	}
	if got := names(t, fsys, "/out"); len(got) != 2 {
		t.Errorf("appending nothing left %v", got)
	}
}

func TestEmptySourceMakesAFileWithAHeader(t *testing.T) {
	for _, c := range []struct{ out, file string }{
		{"/out/t.txt", "/out/t.txt"},
		{"/out/t.txt.gz", "/out/t.txt.gz"},
		{"/out/", "/out/part-00001.txt"},
	} {
		fsys := crashfs.New(1)
		put(t, fsys, "/in.txt", []byte("id|name\n"))
		j := newJob("/in.txt", c.out)
		if err := j.process(t.Context(), fsys); err != nil {
			t.Fatal(err)
		}
		if got := unpack(t, fsys, c.file, CompressionOf(c.file)); got != "id|name\n" {
			t.Errorf("%s holds %q", c.file, got)
		}
		if left := leftovers(t, fsys, "/out"); len(left) > 0 {
			t.Errorf("left over: %v", left)
		}
	}
}

func TestResolveRefusesWhatCannotBeHad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.txt")
	put(t, storage.Local{}, file, nil)
	for what, o := range map[string]SinkOptions{
		"append to a file": {Path: file, Mode: "append"},
		"a file as folder": {Path: file + "/"},
		"a device":         {Path: "/dev/null"},
	} {
		s, err := NewSink(SinkConfig{FS: storage.Local{}, Format: lineFormat{}, Options: o})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Resolve(t.Context(), &batch.Schema{}); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), strings.TrimSuffix(o.Path, "/")) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestResolveTellsFilesAndFoldersApart(t *testing.T) {
	dir := t.TempDir()
	put(t, storage.Local{}, filepath.Join(dir, "there"), nil)
	if err := os.Mkdir(filepath.Join(dir, "sub.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, folder := range map[string]bool{
		"new": true, "new/": true, "new.txt": false, "there": false, "sub.d": true, "new.txt.gz": false, "x.y/": true,
	} {
		end := ""
		if strings.HasSuffix(path, "/") {
			end = "/"
		}
		s, err := NewSink(SinkConfig{FS: storage.Local{}, Format: lineFormat{}, Options: SinkOptions{Path: filepath.Join(dir, path) + end}})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Resolve(t.Context(), &batch.Schema{})
		if err != nil {
			t.Fatal(err)
		}
		if plan.Ordered == folder || plan.Guarantee != connector.Staged {
			t.Errorf("%s: ordered %v, %v", path, plan.Ordered, plan.Guarantee)
		}
	}
}

func TestFinishSaysWhatIsMissing(t *testing.T) {
	text := crashText()
	for what, harm := range map[string]func(t *testing.T, fsys storage.FS, staging string){
		"a staged file is gone": func(t *testing.T, fsys storage.FS, staging string) {
			if err := fsys.Remove(filepath.Join(staging, names(t, fsys, staging)[0])); err != nil {
				t.Fatal(err)
			}
		},
		"a staged file is short": func(t *testing.T, fsys storage.FS, staging string) {
			f, err := fsys.OpenFile(filepath.Join(staging, names(t, fsys, staging)[0]), os.O_WRONLY)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(20), f.Close()); err != nil {
				t.Fatal(err)
			}
		},
		"all is gone": func(t *testing.T, fsys storage.FS, staging string) {
			if err := storage.RemoveAll(fsys, staging); err != nil {
				t.Fatal(err)
			}
		},
	} {
		c := crashCases()[0]
		fsys, j := c.setup(t, 1, text)
		failed := false
		fsys.Inject(func(op crashfs.Op) error {
			if op.Kind == crashfs.OpCreate && strings.Contains(op.Name, manifestName) {
				failed = true
				return errors.New("stop before the end")
			}
			return nil
		})
		if err := j.process(t.Context(), fsys); !failed {
			t.Fatal(err)
		}
		fsys.Inject(nil)
		harm(t, fsys, "/out/"+stagePrefix+j.run.ID)
		err := j.process(t.Context(), fsys)
		if connector.ClassOf(err) != connector.Fatal || !strings.Contains(err.Error(), "--restart") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestFinishAgainAfterTheFolderIsGone(t *testing.T) {
	text := crashText()
	for _, c := range crashCases() {
		fsys, j := c.setup(t, 1, text)
		if err := j.process(t.Context(), fsys); err != nil {
			t.Fatal(err)
		}
		j.finished = false // the engine did not get to store it
		if err := j.process(t.Context(), fsys); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if problem := c.check(t, fsys, text); problem != "" {
			t.Errorf("%s: %s", c.name, problem)
		}
	}
}

// thief takes a run's folder away as soon as it has its mark, as another run
// that prepares in the same folder does.
type thief struct {
	storage.FS
	taken bool
}

func (f *thief) Rename(oldName, newName string) error {
	if err := f.FS.Rename(oldName, newName); err != nil || filepath.Base(newName) != finishedName {
		return err
	}
	f.taken = true
	staging := filepath.Dir(newName)
	return f.FS.Rename(staging, staging+goneSuffix)
}

func TestFinishBesideARunThatTidiesUp(t *testing.T) {
	text := crashText()
	for _, c := range crashCases() {
		fsys, j := c.setup(t, 1, text)
		f := &thief{FS: fsys}
		if err := j.process(t.Context(), f); err != nil || !f.taken {
			t.Errorf("%s: %v, taken %v", c.name, err, f.taken)
		}
		if problem := c.check(t, fsys, text); problem != "" {
			t.Errorf("%s: %s", c.name, problem)
		}
	}
}

func TestPrepareRemovesAGivenUpRun(t *testing.T) {
	fsys := crashfs.New(1)
	put(t, fsys, "/out/.leat-old/1-2.3-0.txt", []byte("x"))
	put(t, fsys, "/out/.leat-other/1-2.3-0.txt", []byte("x"))
	s, err := NewSink(SinkConfig{FS: fsys, Format: lineFormat{}, Options: SinkOptions{Path: "/out/"}})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Resolve(t.Context(), &batch.Schema{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Doubts) != 2 {
		t.Errorf("doubts: %q", plan.Doubts)
	}
	if err := s.Prepare(t.Context(), connector.Run{ID: "new", Abandoned: "old", Restart: true}); err != nil {
		t.Fatal(err)
	}
	if got := names(t, fsys, "/out"); !slices.Equal(got, []string{".leat-other"}) {
		t.Errorf("left are %v", got)
	}
}

func TestRejectedRowsAreNotCounted(t *testing.T) {
	fsys := crashfs.New(1)
	schema := &batch.Schema{Fields: []batch.Field{{Name: "a"}, {Name: "b"}}}
	s, err := NewSink(SinkConfig{FS: fsys, Format: lineFormat{}, Options: SinkOptions{Path: "/t.txt"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	var rejected []string
	w, state, err := s.Claim(t.Context(), connector.Attempt{
		Run: connector.Run{ID: "r"}, Token: 1,
		Reject: func(b *batch.Batch, row int, column string, _ batch.Cause, reason string) {
			rejected = append(rejected, string(b.Row(row)[0])+column+reason)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), oneRow(schema, "1", "x", "2", "|", "3", "yy")); err != nil {
		t.Fatal(err)
	}
	state.Counters.Read = 3
	state, err = w.Commit(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rejected, []string{"2bholds the delimiter"}) {
		t.Errorf("rejected %q", rejected)
	}
	if c := state.Counters; c.Written != 2 || c.Read != 3 || c.BytesWritten != int64(len("1|x\n3|yy\n")) || state.CommitNo != 1 {
		t.Errorf("state %+v", state)
	}
}

// Many subtasks write at once, each its own files.
func TestManyWritersAtOnce(t *testing.T) {
	text, _ := numbered(4000)
	text = strings.ReplaceAll(text, "'line\nend'", "q")
	dir := t.TempDir()
	put(t, storage.Local{}, filepath.Join(dir, "in.txt"), []byte(text))
	f := lineFormat{header: true, rows: 50}
	src := newTestSource(t, storage.Local{}, f, SourceOptions{Path: []string{filepath.Join(dir, "in.txt")}, SplitSize: 1000})
	splits := enumerate(t, src, connector.Want{})
	snk, err := NewSink(SinkConfig{FS: storage.Local{}, Format: f, Options: SinkOptions{Path: filepath.Join(dir, "out"), RollSize: 5000}})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := src.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snk.Resolve(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	jobs := make([]*job, 4)
	var all sync.WaitGroup
	var next atomic.Int64
	for slot := range jobs {
		j := newJob("", "")
		jobs[slot] = j
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(splits); i = next.Add(1) - 1 {
				if err := j.copySplit(t.Context(), src, snk, splits[i], slot); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	var states []connector.SplitState
	for _, j := range jobs {
		for _, state := range j.states {
			states = append(states, state)
		}
	}
	if err := errors.Join(snk.Finish(t.Context(), jobs[0].run, states), snk.Close()); err != nil {
		t.Fatal(err)
	}
	got := targetText(t, storage.Local{}, filepath.Join(dir, "out"), Plain)
	if !slices.Equal(sortedRows(got), sortedRows(text)) {
		t.Errorf("%d bytes were copied to %d", len(text), len(got))
	}
}
