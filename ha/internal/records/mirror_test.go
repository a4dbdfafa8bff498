package records

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/ha"
)

func (w *world) put(term ha.Term) error {
	return w.JobGraphs().Put(w.t.Context(), term, "j", []byte("graph"))
}

// isUnknown fails if the store knows of the job, or the storage keeps something of it.
func (w *world) isUnknown() {
	w.t.Helper()
	if graph, err := w.JobGraphs().Recover(w.t.Context(), "j"); !errors.Is(err, ha.ErrNotFound) {
		w.t.Errorf("recovered %q, %v", graph, err)
	}
	if state, err := w.Jobs().State(w.t.Context(), "j"); err != nil || state != ha.JobPending {
		w.t.Errorf("state %s, %v", state, err)
	}
	for _, folder := range []string{"jobgraphs", "checkpoints", "results", mirrors} {
		if keys := w.keys(folder); len(keys) != 0 {
			w.t.Errorf("left over: %v", keys)
		}
	}
}

// What was refused, or was never answered since the leader died, does not come back
// from the blobs that it has left: neither after a gap in the epochs nor in a store
// that was deleted.
func TestWhatWasNotAcknowledgedIsNotBroughtBack(t *testing.T) {
	writes := map[string]func(w *world) error{
		"put":    func(w *world) error { return w.put(w.term) },
		"finish": func(w *world) error { return w.Jobs().Finish(w.t.Context(), w.term, "j", []byte("ok")) },
	}
	for name, do := range writes {
		t.Run(name+" refused", func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				other := w.beside()
				w.script.onWrite.set(func(write func() error) error {
					w.script.onWrite.set(nil)
					w.server.Wipe()
					other.lead()
					if err := other.Reconcile(t.Context(), other.script, other.term); err != nil {
						t.Error(err)
					}
					return write()
				})
				if err := do(w); !errors.Is(err, ha.ErrFenced) || errors.Is(err, ha.ErrAmbiguous) {
					t.Errorf("stored: %v", err)
				}
				other.skipEpoch()
				other.succeed()
				other.isUnknown()
				other.die()
			})
		})
		for _, deleted := range []bool{false, true} {
			t.Run(name+" never answered", func(t *testing.T) {
				inWorld(t, func(t *testing.T, w *world) {
					ctx, cancel := context.WithCancel(t.Context())
					w.script.onWrite.set(func(func() error) error {
						cancel()
						return ha.ErrUnavailable
					})
					w.t = t
					_ = do(w)
					<-ctx.Done()
					w.end() // what would be tidied up in the background is not
					if deleted {
						w.server.Wipe()
					}
					w.skipEpoch()
					w.succeed()
					w.isUnknown()
				})
			})
		}
	}
}

// What was acknowledged is brought back, also when the store is an old copy of the
// very epoch, where nothing tells it.
func TestWhatWasAcknowledgedIsBroughtBack(t *testing.T) {
	for name, gap := range map[string]bool{"of an older epoch": true, "of the same epoch": false} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				if err := errors.Join(w.Reconcile(t.Context(), w.script, w.term), w.JobGraphs().Put(t.Context(), w.term, "early", []byte("1"))); err != nil {
					t.Fatal(err)
				}
				old := w.server.Copy()
				if err := errors.Join(w.put(w.term), w.add(1), w.add(2), w.add(3),
					w.JobGraphs().Put(t.Context(), w.term, "early", []byte("2")),
					w.Jobs().Finish(t.Context(), w.term, "done", []byte("ok"))); err != nil {
					t.Fatal(err)
				}
				w.server.Restore(old)
				if gap {
					w.skipEpoch()
				}
				w.succeed()
				graph, err := w.JobGraphs().Recover(t.Context(), "j")
				latest, err2 := w.Checkpoints("j").Latest(t.Context())
				state, err3 := w.Jobs().State(t.Context(), "done")
				if errors.Join(err, err2, err3) != nil || string(graph) != "graph" || latest.ID != 3 || state != ha.JobDone {
					t.Errorf("found %q, %+v, %s, %v, %v, %v", graph, latest, state, err, err2, err3)
				}
				if early, err := w.JobGraphs().Recover(t.Context(), "early"); gap && (err != nil || string(early) != "2") {
					t.Errorf("the older graph: %q, %v", early, err)
				}
			})
		})
	}
}

// Numbers begin anew when a graph is removed and stored again: the newer one is the
// one that is brought back.
func TestARemovedAndStoredGraphIsNotTakenForItsOlderOne(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		store := func(text string) error {
			return w.JobGraphs().Put(t.Context(), w.term, "j", []byte(text))
		}
		if err := errors.Join(w.Reconcile(t.Context(), w.script, w.term), store("1"), store("2")); err != nil {
			t.Fatal(err)
		}
		old := w.server.Copy()
		if err := errors.Join(w.JobGraphs().Remove(t.Context(), w.term, "j"), store("3")); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.server.Restore(old)
		w.skipEpoch()
		w.succeed()
		if graph, err := w.JobGraphs().Recover(t.Context(), "j"); err != nil || string(graph) != "3" {
			t.Errorf("recovered %q, %v", graph, err)
		}
	})
}

// The store has it and its mirror cannot be written: nobody is told that all is well,
// and to ask again makes it so.
func TestAnUnsecuredWriteIsAmbiguous(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		w.blobs.onPut.set(func(key string) error {
			if strings.HasPrefix(key, mirrors) {
				return syscall.ENOSPC
			}
			return nil
		})
		for what, err := range map[string]error{"put": w.put(w.term), "add": w.add(1)} {
			if !errors.Is(err, ha.ErrAmbiguous) || !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", what, err)
			}
		}
		w.blobs.onPut.set(nil)
		if err := errors.Join(w.put(w.term), w.add(1)); err != nil {
			t.Error(err)
		}
		w.server.Wipe()
		w.succeed()
		if graph, err := w.JobGraphs().Recover(t.Context(), "j"); err != nil || string(graph) != "graph" {
			t.Errorf("recovered %q, %v", graph, err)
		}
	})
}

// The leader died between the store's answer and the mirror: the next one writes it.
func TestTheNextLeaderWritesMissingMirrors(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		w.blobs.onPut.set(func(key string) error {
			if strings.HasPrefix(key, mirrors) || strings.HasPrefix(key, "results") {
				return syscall.EIO
			}
			return nil
		})
		_ = errors.Join(w.put(w.term), w.add(1), w.Jobs().Finish(t.Context(), w.term, "done", []byte("ok")))
		w.blobs.onPut.set(nil)
		w.succeed()
		w.server.Wipe()
		w.succeed()
		graph, err := w.JobGraphs().Recover(t.Context(), "j")
		latest, err2 := w.Checkpoints("j").Latest(t.Context())
		state, err3 := w.Jobs().State(t.Context(), "done")
		if errors.Join(err, err2, err3) != nil || string(graph) != "graph" || latest.ID != 1 || state != ha.JobDone {
			t.Errorf("found %q, %+v, %s, %v, %v, %v", graph, latest, state, err, err2, err3)
		}
	})
}

// A leader is stopped between the store's answer and the mirror; another has removed
// the job when it goes on. The job does not come back.
func TestALateMirrorIsTakenBack(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		if err := w.Reconcile(t.Context(), w.script, w.term); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // what it sweeps in the background has the old session
		other := w.beside()
		w.blobs.onPut.set(func(key string) error {
			if !strings.HasPrefix(key, mirrors) {
				return nil
			}
			w.blobs.onPut.set(nil)
			if err := w.script.Session.Close(context.Background()); err != nil {
				t.Error(err)
			}
			session, err := w.server.Client().Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w.script.Session = session // it has joined again
			other.lead()
			return errors.Join(other.Reconcile(t.Context(), other.script, other.term),
				other.JobGraphs().Remove(t.Context(), other.term, "j"))
		})
		if err := w.put(w.term); !errors.Is(err, ha.ErrAmbiguous) || !errors.Is(err, ha.ErrFenced) {
			t.Errorf("put: %v", err)
		}
		other.skipEpoch()
		other.succeed()
		other.isUnknown()
		other.die()
	})
}
