package records

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// late has the first write lose its way: it is taken for ambiguous, and carried out
// when the returned function is called.
func (w *world) late() (arrives func() error) {
	var lost func() error
	w.script.onWrite.set(func(write func() error) error {
		w.script.onWrite.set(nil)
		lost = write
		return ha.ErrAmbiguous
	})
	return func() error { return lost() }
}

// A creation whose reply was lost arrives when what it would create was removed: it
// must not leave a record that points to nothing, or one of a job that is over.
func TestALateCreationAfterTheRemovalFindsATombstone(t *testing.T) {
	type store struct {
		write, remove func(w *world) error
	}
	for name, s := range map[string]store{
		"checkpoints": {
			func(w *world) error { return w.add(1) },
			func(w *world) error { return w.Checkpoints("j").Discard(w.t.Context(), w.term) },
		},
		"counter": {
			func(w *world) error {
				_, err := w.Checkpoints("j").NextID(w.t.Context(), w.term)
				return err
			},
			func(w *world) error { return w.Checkpoints("j").Discard(w.t.Context(), w.term) },
		},
		"graph": {
			func(w *world) error { return w.put(w.term) },
			func(w *world) error { return w.JobGraphs().Remove(w.t.Context(), w.term, "j") },
		},
		"result": {
			func(w *world) error {
				return errors.Join(w.Jobs().Finish(w.t.Context(), w.term, "j", []byte("ok")), w.Jobs().SetClean(w.t.Context(), w.term, "j"))
			},
			func(w *world) error { return w.Jobs().Forget(w.t.Context(), w.term, "j") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
					t.Fatal(err)
				}
				arrives := w.late()
				if err := errors.Join(s.write(w), s.remove(w), s.remove(w)); err != nil {
					t.Fatal(err)
				}
				if err := arrives(); !errors.Is(err, ha.ErrExists) {
					t.Errorf("the late creation: %v", err)
				}
				synctest.Wait()
				w.isUnknown()
				jobs, err := w.JobGraphs().List(t.Context())
				results, err2 := w.Jobs().Results(t.Context())
				if errors.Join(err, err2) != nil || len(jobs)+len(results) != 0 {
					t.Errorf("listed %v, %v, %v, %v", jobs, results, err, err2)
				}
				// It can be stored again, and removed.
				if err := errors.Join(s.write(w), s.remove(w)); err != nil {
					t.Error(err)
				}
				w.succeed()
				for _, folder := range coord.Folders() {
					left, err := w.script.List(t.Context(), folder)
					if err != nil || folder != coord.Cluster && len(left) != 0 {
						t.Errorf("the next leader has left %v, %v", left, err)
					}
				}
			})
		})
	}
}
