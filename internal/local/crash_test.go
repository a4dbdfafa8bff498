package local_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

const crashSeed = 7

// target is one of the scripted jobs.
type target struct {
	name, sink string
	database   bool
	over       func(storage.FS) storage.FS
	// given, when set, crashes a run at that change before all else, and gives
	// it up; again gives up what the crash of that leaves, too.
	given int64
	again bool
	// named is the file that errors.dirty names.
	named string
}

// step is a start that crashes at a change, 0 for none.
type step struct {
	crash   int64
	restart bool
}

// steps are the starts of a job that crashes at a change, and soon after again.
func (c target) steps(at int64) []step {
	if c.given == 0 {
		return []step{{crash: at}, {crash: 1 + at%17}, {}}
	}
	return []step{{crash: c.given}, {crash: at, restart: true}, {crash: 1 + at%17, restart: c.again}, {}}
}

func targets() []target {
	return []target{
		{name: "database", sink: "{database: {}}", database: true},
		{name: "folder", sink: "{csv: {path: /out/, mode: overwrite, roll_size: 200B}}"},
		{name: "file", sink: "{csv: {path: /out/all.csv, mode: overwrite}}"},
		{name: "database, dirty records elsewhere", sink: "{database: {}}", database: true, named: "/elsewhere/bad.jsonl"},
		{name: "database, dirty records elsewhere, given up", sink: "{database: {}}", database: true, named: "/elsewhere/bad.jsonl", given: 70},
		{name: "database, given up", sink: "{database: {}}", database: true, given: 70},
		{name: "database, given up twice", sink: "{database: {}}", database: true, given: 70, again: true},
		{name: "folder, given up", sink: "{csv: {path: /out/, mode: overwrite, roll_size: 200B}}", given: 90},
	}
}

func (c target) machine(t *testing.T, seed uint64) *machine {
	m := &machine{t: t, fs: crashfs.New(seed), over: c.over, sink: c.sink, named: c.named, tokens: map[connector.Token]bool{}}
	if c.database {
		m.db = newDatabase()
	}
	return m
}

// changes returns how many operations of a run without a crash change the disk.
func (c target) changes(t *testing.T) (n int64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := c.machine(t, crashSeed)
		sum, err := m.start(false)
		if err != nil {
			t.Fatal(err)
		}
		if problem := m.problem(&sum); problem != "" {
			t.Fatal(problem)
		}
		n = m.fs.Changes()
	})
	return n
}

// crashAt runs the job with a crash, and another soon after it, to its end.
func (c target) crashAt(t *testing.T, seed uint64, at int64, whole bool) (problem string) {
	synctest.Test(t, func(t *testing.T) {
		m := c.machine(t, seed+uint64(at))
		for _, step := range c.steps(at) {
			if step.crash > 0 {
				m.fs.CrashAt(m.fs.Changes() + step.crash)
			}
			sum, err := m.start(step.restart)
			crashed := m.alive() != nil
			m.fs.CrashAt(0)
			if err == nil {
				if problem = m.problem(&sum); problem == "" && !crashed {
					problem = m.leftover()
				}
				if problem == "" && whole {
					problem = m.afterLosingPower()
				}
				return
			}
			if !crashed {
				problem = "a start fails: " + err.Error()
				return
			}
			if whole {
				m.fs = m.fs.CrashClone()
			}
			done, err := m.done()
			switch {
			case err != nil:
				problem = err.Error()
				return
			case done || m.fault != "":
				problem = m.problem(nil)
				return
			}
		}
	})
	return problem
}

// afterLosingPower says what is wrong when the machine crashes after a run was
// reported as done.
func (m *machine) afterLosingPower() string {
	m.fs = m.fs.CrashClone()
	done, err := m.done()
	switch {
	case err != nil:
		return err.Error()
	case !done:
		return "a crash after the end leaves a job that is not done"
	}
	return m.problem(nil)
}

// Exactness rules 1, 2, 11, 13 and 14: whatever operation on the disk a crash
// comes at, of the process alone or of the machine, the next start goes on; the
// machine may crash once more when the job is reported as done. The target has
// each clean record once, the dirty file each other one once, and no token
// comes twice.
func TestRules1And11And13CrashAtEachOperation(t *testing.T) {
	for _, c := range targets() {
		t.Run(c.name, func(t *testing.T) {
			total, stride := c.changes(t), int64(1)
			if c.given > 0 {
				stride = 3 // most of it is what the others show
			}
			for at := int64(1); at <= total; at += stride {
				for _, whole := range []bool{false, true} {
					if problem := c.crashAt(t, crashSeed, at, whole); problem != "" {
						t.Fatalf("crash at change %d of %d, of the machine %v: %s", at, total, whole, problem)
					}
				}
			}
		})
	}
}

// forgetful is a disk that forgets to sync some names.
type forgetful struct {
	storage.FS
	file, dir func(name string) bool
}

// SyncDir implements storage.FS.
func (f forgetful) SyncDir(name string) error {
	if f.dir(name) {
		return nil
	}
	return f.FS.SyncDir(name)
}

// OpenFile implements storage.FS.
func (f forgetful) OpenFile(name string, flag int) (storage.File, error) {
	file, err := f.FS.OpenFile(name, flag)
	if err != nil || !f.file(name) {
		return file, err
	}
	return unsynced{file}, nil
}

type unsynced struct{ storage.File }

// Sync implements storage.File.
func (unsynced) Sync() error { return nil }

// The test above fails when a sync is left out: exactness rules 11 and 13 broken.
func TestRules11And13MissingSyncsAreSeen(t *testing.T) {
	never := func(string) bool { return false }
	in := func(part string) func(string) bool {
		return func(name string) bool { return strings.Contains(name, part) }
	}
	for what, lie := range map[string]forgetful{
		"states":                    {file: in("/state-"), dir: never},
		"the names of states":       {file: never, dir: func(name string) bool { return name == "/state/scripted" }},
		"dirty parts":               {file: in("/dirty/"), dir: never},
		"the names of dirty parts":  {file: never, dir: in("/dirty")},
		"the dirty records, joined": {file: in("dirty.jsonl"), dir: never},
	} {
		c := targets()[0]
		c.over = func(f storage.FS) storage.FS {
			lie := lie
			lie.FS = f
			return lie
		}
		total, seen := c.changes(t), false
		for seed := uint64(0); seed < 10 && !seen; seed++ {
			for at := total; at > 0 && !seen; at-- {
				seen = c.crashAt(t, seed<<32, at, true) != ""
			}
		}
		if !seen {
			t.Errorf("no crash shows that %s are not synced", what)
		}
	}
}
