package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// job is a run from Parquet to Parquet as an engine drives it, over any number
// of processes. What it holds is what the engine has stored.
type job struct {
	out      string
	slots    int
	abandon  bool // each third attempt is given up before its end
	exchange func(storage.FS) storage.FS

	splits   []connector.Split
	states   map[connector.SplitID]connector.SplitState
	finished bool
	epoch    uint64
}

var crashRun = connector.Run{ID: "0198f2c4-run", Job: "test"}

const crashRows = 50

// process is what one process does of the job until it is done or fails.
func (j *job) process(ctx context.Context, fsys storage.FS) error {
	j.epoch++
	if j.exchange != nil {
		fsys = j.exchange(fsys)
	}
	src, err := NewSource(fsys, &SourceOptions{Path: []string{"/in/a.parquet"}, SplitSize: 1}, connector.SourceEnv{})
	if err != nil {
		return err
	}
	o := SinkOptions{Path: j.out, RollSize: 2500, RowGroupRows: 8, Compression: "none"}.withDefaults()
	snk, err := NewSink(fsys, &o, connector.SinkEnv{})
	if err != nil {
		return err
	}
	schema, err := src.Schema(ctx)
	if err != nil {
		return err
	}
	if _, err := snk.Resolve(ctx, schema); err != nil || j.finished {
		return err
	}
	if err := snk.Prepare(ctx, crashRun); errors.Is(err, connector.ErrFinished) {
		j.finished = true
		return snk.Close()
	} else if err != nil {
		return err
	}
	if j.splits == nil {
		e, err := src.Enumerate(ctx, "", 0, connector.Want{Parallelism: j.slots, Ordered: j.slots == 1})
		if err != nil {
			return err
		}
		j.splits = e.Splits
	}
	var states []connector.SplitState
	for i, split := range j.splits {
		if err := j.copySplit(ctx, src, snk, split, i%j.slots); err != nil {
			return err
		}
		states = append(states, j.states[split.ID])
	}
	if err := snk.Finish(ctx, crashRun, states); err != nil {
		return err
	}
	j.finished = true
	return snk.Close()
}

var errAbandoned = errors.New("the attempt is given up")

func (j *job) copySplit(ctx context.Context, src *Source, snk connector.Sink, split connector.Split, slot int) error {
	for n := uint32(0); ; n++ {
		giveUp := j.abandon && split.ID%3 == 1 && n == 0
		err := j.attempt(ctx, src, snk, split, slot, connector.NewToken(j.epoch, uint32(split.ID)*4+n), giveUp)
		if !errors.Is(err, errAbandoned) {
			return err
		}
	}
}

// attempt commits after every third batch of five rows.
func (j *job) attempt(ctx context.Context, src *Source, snk connector.Sink, split connector.Split, slot int, token connector.Token, giveUp bool) (err error) {
	w, state, err := snk.Claim(ctx, connector.Attempt{
		Run: crashRun, Split: split, Token: token, Slot: slot, State: j.states[split.ID],
		Reject: func(_ *batch.Batch, _ int, _ string, _ batch.Cause, reason string) { panic(reason) },
	})
	if err != nil || state.Done {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r, err := src.Open(ctx, split, state.Position)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	schema, _ := src.Schema(ctx)
	for n := 1; ; n++ {
		b := &batch.Batch{}
		b.Reset(schema)
		err := r.Next(ctx, b)
		if errors.Is(err, io.EOF) {
			state.Done = true
			state, err = w.Commit(ctx, state)
			if err == nil {
				j.states[split.ID] = state
			}
			return err
		}
		if err != nil {
			return err
		}
		if err := w.Write(ctx, b); err != nil {
			return err
		}
		state.Position, _ = r.Position()
		if giveUp {
			return errAbandoned
		}
		if n%2 == 0 {
			if state, err = w.Commit(ctx, state); err != nil {
				return err
			}
			j.states[split.ID] = state
		}
	}
}

func crashContent() []connectortest.Row { return contractRows(crashRows) }

// setUp makes a file system with the source, all of it durable.
func (j *job) setUp(t *testing.T, seed uint64) *crashfs.FS {
	t.Helper()
	fsys := crashfs.New(seed)
	for _, dir := range []string{"/in", "/out"} {
		if err := storage.MakeDir(fsys, dir); err != nil {
			t.Fatal(err)
		}
	}
	write(t, fsys, SinkOptions{Path: "/in/a.parquet", RowGroupRows: 11, Compression: "none"}, connectortest.Schema(), batchesOf(connectortest.Schema(), crashContent(), 11)...)
	*j = job{out: j.out, slots: j.slots, abandon: j.abandon, exchange: j.exchange, states: map[connector.SplitID]connector.SplitState{}}
	return fsys
}

// target reads what the target shows; nothing when it is not there.
func (j *job) target(t *testing.T, fsys storage.FS) ([]connectortest.Row, error) {
	t.Helper()
	info, err := fsys.Stat(strings.TrimSuffix(j.out, "/"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && info.IsDir() {
		parts, err := storage.Glob(fsys, filepath.Join(j.out, "part-*"))
		if err != nil || len(parts) == 0 {
			return nil, err
		}
	}
	s := newTestSource(t, fsys, SourceOptions{Path: []string{j.out}})
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil {
		return nil, err
	}
	var rows []connectortest.Row
	for _, split := range e.Splits {
		more, err := readSplit(t.Context(), s, split, "")
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (j *job) check(t *testing.T, fsys storage.FS) string {
	t.Helper()
	texts := func(rows []connectortest.Row) []string {
		var all []string
		for _, r := range rows {
			all = append(all, r.String())
		}
		if j.slots > 1 {
			slices.Sort(all)
		}
		return all
	}
	rows, err := j.target(t, fsys)
	if err != nil {
		return err.Error()
	}
	got, want := texts(rows), texts(crashContent())
	if !slices.Equal(got, want) {
		return fmt.Sprintf("the target has %d rows, want %d: %q", len(got), len(want), got)
	}
	return ""
}

// crashAt runs the job with a crash, and another soon after it, to its end.
func (j *job) crashAt(t *testing.T, seed uint64, at int64, machine bool) string {
	t.Helper()
	fsys := j.setUp(t, seed)
	for _, crash := range []int64{at, 1 + at%17, 0} {
		if crash > 0 {
			fsys.CrashAt(fsys.Changes() + crash)
		}
		err := j.process(t.Context(), fsys)
		fsys.CrashAt(0)
		if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
			return err.Error()
		}
		if err == nil {
			continue
		}
		if machine {
			fsys = fsys.CrashClone()
		}
		if rows, err := j.target(t, fsys); (err != nil || len(rows) > 0) && !j.allDone() {
			return fmt.Sprintf("before the end the target shows %d rows, %v", len(rows), err)
		}
	}
	return j.check(t, fsys)
}

func (j *job) allDone() bool {
	for _, split := range j.splits {
		if !j.states[split.ID].Done {
			return false
		}
	}
	return j.splits != nil
}

// changes returns how many operations of a run without a crash change something.
func (j *job) changes(t *testing.T) int64 {
	t.Helper()
	fsys := j.setUp(t, 1)
	before := fsys.Changes()
	if err := j.process(t.Context(), fsys); err != nil {
		t.Fatal(err)
	}
	if problem := j.check(t, fsys); problem != "" {
		t.Fatal(problem)
	}
	return fsys.Changes() - before
}

func crashJobs() map[string]*job {
	return map[string]*job{
		"one file":                    {out: "/out/t.parquet", slots: 1},
		"one file, attempts given up": {out: "/out/t.parquet", slots: 1, abandon: true},
		"folder":                      {out: "/out/", slots: 2},
		"folder, attempts given up":   {out: "/out/", slots: 2, abandon: true},
	}
}

// Exactness rules 9, 10 and 11: whatever operation a crash comes at - of the
// process alone, or of the machine - the run goes on from the last stored
// states, and the target has each record once; before the end it shows nothing.
func TestRules9to11CrashAtEachOperation(t *testing.T) {
	for name, j := range crashJobs() {
		t.Run(name, func(t *testing.T) {
			total := j.changes(t)
			for at := int64(1); at <= total; at++ {
				for _, machine := range []bool{false, true} {
					if problem := j.crashAt(t, uint64(at), at, machine); problem != "" {
						t.Fatalf("seed %d, crash at change %d of %d, of the machine %v: %s", at, at, total, machine, problem)
					}
				}
			}
		})
	}
}

// unsynced is a file system whose files are not synced.
type unsynced struct{ storage.FS }

func (u unsynced) OpenFile(name string, flag int) (storage.File, error) {
	f, err := u.FS.OpenFile(name, flag)
	if err != nil || flag == os.O_RDONLY {
		return f, err
	}
	return unsyncedFile{f}, nil
}

type unsyncedFile struct{ storage.File }

func (unsyncedFile) Sync() error { return nil }

// The test above fails when a sync is left out: exactness rule 11 broken.
func TestRule11MissingSyncsAreSeen(t *testing.T) {
	j := &job{out: "/out/t.parquet", slots: 1, exchange: func(f storage.FS) storage.FS { return unsynced{f} }}
	total, seen := j.changes(t), 0
	for at := int64(1); at <= total; at++ {
		if j.crashAt(t, uint64(at), at, true) != "" {
			seen++
		}
	}
	if seen == 0 {
		t.Error("no crash showed that files are not synced")
	}
}

// Exactness rule 10: an end that does not show what was recorded is an error,
// and never a file with other rows.
func TestRule10BrokenPacksAreFatal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	schema := connectortest.Schema()
	e := (&writeFormat{maxRows: 10, maxHeld: 1 << 20}).NewEncoder(schema).(*encoder)
	data := e.Header(nil)
	start := len(data)
	for _, b := range batchesOf(schema, contractRows(30), 5) {
		data = e.Encode(data, b, nil)
	}
	data = e.Pack(data)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	seg := connector.Segment{Offset: int64(start), Length: int64(len(data) - start)}
	groups, err := readPacks(strings.NewReader(string(data)), seg, tagOf(schema))
	if err != nil || len(groups) != 3 {
		t.Fatalf("%d row groups, %v", len(groups), err)
	}
	for at := start; at < len(data); at++ {
		broken := []byte(string(data))
		broken[at] ^= 0x40
		groups, err := readPacks(strings.NewReader(string(broken)), seg, tagOf(schema))
		if err == nil && (len(groups) != 3 || groups[0].Rows+groups[1].Rows+groups[2].Rows != 30) {
			t.Fatalf("byte %d broken: %v", at, groups)
		}
	}
	for cut := range seg.Length {
		part := seg
		part.Length = cut
		if groups, err := readPacks(strings.NewReader(string(data)), part, tagOf(schema)); err == nil && len(groups) == 3 {
			t.Fatalf("the first %d bytes of %d gave all row groups", cut, seg.Length)
		}
	}
	if _, err := readPacks(strings.NewReader(string(data)), seg, tagOf(schema)+1); err == nil {
		t.Error("packs of another schema were taken")
	}
}
