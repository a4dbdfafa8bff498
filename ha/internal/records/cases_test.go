package records

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// Case: an ambiguous metadata write treated as failed: blob deleted, pointer
// stayed. The write is applied, every reply is lost, and nothing can be read.
func TestAmbiguousWriteKeepsItsBlob(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.script.onWrite.set(func(write func() error) error {
			if err := write(); err != nil {
				t.Error(err)
			}
			w.script.onGet.set(func(func() (coord.Record, error)) (coord.Record, error) {
				return coord.Record{}, ha.ErrUnavailable
			})
			return ha.ErrAmbiguous
		})
		if err := w.add(1); !errors.Is(err, ha.ErrAmbiguous) {
			t.Errorf("add: %v", err)
		}
		synctest.Wait()
		w.script.onWrite.set(nil)
		w.script.onGet.set(nil)
		if latest, err := w.Checkpoints("j").Latest(t.Context()); err != nil || latest.ID != 1 {
			t.Errorf("latest %+v, %v", latest, err)
		}
		if err := w.add(1); err != nil {
			t.Errorf("add again: %v", err)
		}
		synctest.Wait()
		if keys := w.keys("checkpoints"); len(keys) != 1 {
			t.Errorf("blobs %v", keys)
		}
	})
}

// The write is not applied, and that cannot be known: the blob is kept until the
// next write has succeeded, and then goes.
func TestAmbiguousWriteThatNeverCameIsSwept(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.script.onWrite.set(func(func() error) error { return ha.ErrAmbiguous })
		if err := w.add(1); !errors.Is(err, ha.ErrAmbiguous) {
			t.Errorf("add: %v", err)
		}
		synctest.Wait()
		if keys := w.keys("checkpoints"); len(keys) != 1 {
			t.Errorf("the blob was taken for unreferenced: %v", keys)
		}
		w.script.onWrite.set(nil)
		if err := w.add(2); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if keys := w.keys("checkpoints"); len(keys) != 1 || !strings.Contains(keys[0], "0002-") {
			t.Errorf("blobs %v", keys)
		}
	})
}

// A refusal is known, and the elector hears of it. The blob stays until the present
// leader has proved that nothing points to it: it might have brought it back.
func TestFencedWriteLeavesItsBlobToTheLeader(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		stale := w.term
		if err := w.add(1); err != nil {
			t.Fatal(err)
		}
		w.die()
		w.lead()
		err := w.Checkpoints("j").Add(t.Context(), stale, ha.Checkpoint{ID: 2})
		if !errors.Is(err, ha.ErrFenced) || errors.Is(err, ha.ErrAmbiguous) {
			t.Errorf("add: %v", err)
		}
		if len(w.fenced) != 1 || w.fenced[0].Term != stale || w.fenced[0].Epoch != w.term.Epoch {
			t.Errorf("the elector was told %+v", w.fenced)
		}
		synctest.Wait()
		if keys := w.keys("checkpoints"); len(keys) != 2 {
			t.Errorf("blobs %v", keys)
		}
		if err := w.add(3); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if keys := w.keys("checkpoints"); len(keys) != 2 || !strings.Contains(keys[1], "0003-") {
			t.Errorf("blobs %v", keys)
		}
	})
}

// Case: a job ran though its graph was never persisted.
func TestGraphThatCannotBeStoredIsAnError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		put := func() error { return w.JobGraphs().Put(t.Context(), w.term, "j", []byte("graph")) }
		w.blobs.putErr.set(syscall.ENOSPC)
		if err := put(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "graph of job j") {
			t.Errorf("put: %v", err)
		}
		w.blobs.putErr.set(nil)
		w.script.onWrite.set(func(func() error) error { return ha.ErrUnavailable })
		if err := put(); !errors.Is(err, ha.ErrUnavailable) {
			t.Errorf("put: %v", err)
		}
		w.script.onWrite.set(nil)
		if jobs, err := w.JobGraphs().List(t.Context()); err != nil || len(jobs) != 0 {
			t.Errorf("jobs %v, %v", jobs, err)
		}
		synctest.Wait()
		if keys := w.keys("jobgraphs"); len(keys) != 0 {
			t.Errorf("blobs %v", keys)
		}
	})
}

// Case: an unreadable newest checkpoint skipped silently, an older one used: here
// the blob store does not answer.
func TestNewestThatDoesNotAnswerIsAnError(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := errors.Join(w.add(1), w.add(2)); err != nil {
			t.Fatal(err)
		}
		away := errors.New("503")
		w.blobs.getErr.set(away)
		if latest, err := w.Checkpoints("j").Latest(t.Context()); !errors.Is(err, away) || ha.Fatal(err) {
			t.Errorf("latest %+v, %v", latest, err)
		}
		w.blobs.getErr.set(nil)
		if latest, err := w.Checkpoints("j").Latest(t.Context()); err != nil || latest.ID != 2 {
			t.Errorf("latest %+v, %v", latest, err)
		}
	})
}

// What a killed leader has left over is swept by the next, and nothing else.
func TestNextLeaderSweeps(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := errors.Join(w.Reconcile(t.Context(), w.script, w.term), w.add(1),
			w.JobGraphs().Put(t.Context(), w.term, "j", []byte("graph")),
			w.JobGraphs().Put(t.Context(), w.term, "corrupt", []byte("graph")),
			w.Jobs().Finish(t.Context(), w.term, "done", nil)); err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{"checkpoints/j", "checkpoints/other", "jobgraphs/j", "jobgraphs/never-accepted", "jobgraphs/corrupt"} {
			folder, name, _ := strings.Cut(folder, "/")
			p := newPointer(coord.Key{Folder: folder, Name: name}, 77, w.term, nil)
			if err := w.blobs.Put(t.Context(), p.Blob, nil); err != nil {
				t.Fatal(err)
			}
		}
		w.server.Tamper(coord.Key{Folder: "jobgraphs", Name: "corrupt"}, []byte("{"))
		w.die()
		w.lead()
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for folder, want := range map[string]int{"checkpoints": 1, "jobgraphs": 3, "results": 1} {
			if keys := w.keys(folder); len(keys) != want {
				t.Errorf("%s: %v, want %d", folder, keys, want)
			}
		}
		if latest, err := w.Checkpoints("j").Latest(t.Context()); err != nil || latest.ID != 1 {
			t.Errorf("latest %+v, %v", latest, err)
		}
		_, err := w.JobGraphs().Recover(t.Context(), "corrupt")
		if !errors.Is(err, ha.ErrCorrupt) || !strings.Contains(err.Error(), "jobgraphs/corrupt") {
			t.Errorf("a corrupt pointer: %v", err)
		}
	})
}

// Neither a wrong storage nor a wrong store is led with.
func TestStorageAndStoreBelongTogether(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		w.die()
		for what, change := range map[string]func(){
			"the storage belongs to": func() { _ = w.blobs.Put(t.Context(), uuidBlob, []byte("another")) },
			"the storage is empty":   func() { _ = w.blobs.Delete(t.Context(), uuidBlob) },
		} {
			change()
			w.lead()
			err := w.Reconcile(t.Context(), w.script, w.term)
			if !errors.Is(err, ha.ErrConfig) || !ha.Fatal(err) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
			w.die()
		}
		w.lead()
	})
}

// Case: connection loss during CAS increments the counter twice: gaps are allowed,
// a number given twice is not, under whatever term.
func TestCounterNeverGivesTwice(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		given := map[ha.CheckpointID]bool{}
		last := ha.CheckpointID(0)
		for i := range 3 * block {
			if i%50 == 49 {
				w.die()
				if i%100 == 99 {
					w.server.Wipe()
				}
				w.lead()
			}
			lose := i%7 == 0
			w.script.onWrite.set(func(write func() error) error {
				err := write()
				if lose {
					lose = false
					return ha.ErrAmbiguous
				}
				return err
			})
			id, err := w.Checkpoints("j").NextID(t.Context(), w.term)
			if err != nil {
				t.Fatal(err)
			}
			if given[id] || id <= last {
				t.Fatalf("id %d after %d", id, last)
			}
			given[id], last = true, id
		}
		synctest.Wait()
		if keys := w.keys("checkpoint-counter"); len(keys) > 1 {
			t.Errorf("marks left over: %v", keys)
		}
	})
}

// Each job's name is its own, whatever it is.
func TestNamesAreEscaped(t *testing.T) {
	for name, want := range map[string]string{
		"job-1_a.B": "job-1_a.B", "": "%", ".": "%2E", "..": "%2E.", "a/b": "a%2Fb", "ü%": "%C3%BC%25",
	} {
		got := coord.Escape(name)
		back, err := coord.Unescape(got)
		if got != want || back != name || err != nil {
			t.Errorf("%q is %q (want %q), and back %q, %v", name, got, want, back, err)
		}
	}
}

// In a store that has just been deleted everything is absent: a sweep that runs
// then must take nothing for unreferenced.
func TestSweepInADeletedStoreRemovesNothing(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := errors.Join(w.Reconcile(t.Context(), w.script, w.term), w.add(1),
			w.JobGraphs().Put(t.Context(), w.term, "j", []byte("graph"))); err != nil {
			t.Fatal(err)
		}
		w.die()
		w.lead()
		w.server.Wipe()
		w.sweepLater(w.term)
		synctest.Wait()
		if checkpoints, graphs := w.keys("checkpoints"), w.keys("jobgraphs"); len(checkpoints) != 1 || len(graphs) != 1 {
			t.Errorf("left: %v, %v", checkpoints, graphs)
		}
		w.die()
		w.lead()
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		if latest, err := w.Checkpoints("j").Latest(t.Context()); err != nil || latest.ID != 1 {
			t.Errorf("latest %+v, %v", latest, err)
		}
	})
}
