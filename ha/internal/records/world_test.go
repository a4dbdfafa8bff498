package records

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/ha/internal/memstore"
)

// world is one leader's stores on a session that a test interferes with.
type world struct {
	*Base
	t      *testing.T
	server *memstore.Server
	blobs  *flakyBlobs
	script *script
	term   ha.Term
	fenced []*ha.FencedError
	gone   context.Context
	end    context.CancelFunc
}

// script is a session that does what a test says in the place of a call.
type script struct {
	coord.Session
	onWrite hook[func(write func() error) error]
	onGet   hook[func(get func() (coord.Record, error)) (coord.Record, error)]
}

// hook is what a test has put in the place of something, which work in the
// background may look at meanwhile.
type hook[T any] struct{ now atomic.Pointer[T] }

func (h *hook[T]) set(v T) { h.now.Store(&v) }

func (h *hook[T]) get() (v T) {
	if p := h.now.Load(); p != nil {
		v = *p
	}
	return v
}

func (s *script) Write(ctx context.Context, term ha.Term, ops ...coord.Op) error {
	write := func() error { return s.Session.Write(ctx, term, ops...) }
	if instead := s.onWrite.get(); instead != nil {
		return instead(write)
	}
	return write()
}

func (s *script) Get(ctx context.Context, key coord.Key) (coord.Record, error) {
	get := func() (coord.Record, error) { return s.Session.Get(ctx, key) }
	if instead := s.onGet.get(); instead != nil {
		return instead(get)
	}
	return get()
}

// flakyBlobs fails when it is told to.
type flakyBlobs struct {
	*memstore.Blobs
	putErr, getErr hook[error]
	// onPut is called before a blob is written.
	onPut hook[func(key string) error]
}

func (f *flakyBlobs) Put(ctx context.Context, key string, data []byte) error {
	if err := f.putErr.get(); err != nil {
		return err
	}
	if before := f.onPut.get(); before != nil {
		if err := before(key); err != nil {
			return err
		}
	}
	return f.Blobs.Put(ctx, key, data)
}

func (f *flakyBlobs) Get(ctx context.Context, key string) ([]byte, error) {
	if err := f.getErr.get(); err != nil {
		return nil, err
	}
	return f.Blobs.Get(ctx, key)
}

// Link implements Links.
func (w *world) Link(context.Context) (*election.Link, error) {
	return &election.Link{Session: w.script, Gone: w.gone}, nil
}

// Refused implements Links.
func (w *world) Refused(refusal *ha.FencedError) { w.fenced = append(w.fenced, refusal) }

// beside is another process on the same store and storage.
func (w *world) beside() *world { return &world{t: w.t, server: w.server, blobs: w.blobs} }

// inWorld runs a test under a grant of a new cluster.
func inWorld(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, server: memstore.New(time.Hour, time.Minute, nil), blobs: &flakyBlobs{Blobs: memstore.NewBlobs()}}
		w.lead()
		test(t, w)
		w.die()
	})
}

// lead begins the life of a leader.
func (w *world) lead() {
	w.t.Helper()
	w.gone, w.end = context.WithCancel(w.t.Context())
	session, err := w.server.Client().Open(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.script = &script{Session: session}
	w.Base = New(w, w.blobs, 2, slog.New(slog.DiscardHandler))
	marks := NewMarks(w.blobs)
	w.term, err = session.TakeOver(w.t.Context(), coord.Claim{
		Grant: ha.GrantID(time.Now().String()),
		Next: func(ctx context.Context, stored ha.Epoch) (ha.Epoch, error) {
			marked, err := marks.Highest(ctx)
			number := max(stored, marked) + 1
			return number, errors.Join(err, marks.Use(ctx, number))
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// succeed is the life of the next leader, which has compared store and storage.
func (w *world) succeed() {
	w.t.Helper()
	w.die()
	w.lead()
	if err := w.Reconcile(w.t.Context(), w.script, w.term); err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait()
}

// skipEpoch has the next leader find a gap, as a claim that has failed leaves one.
func (w *world) skipEpoch() {
	w.t.Helper()
	if err := NewMarks(w.blobs).Use(w.t.Context(), w.term.Epoch+1); err != nil {
		w.t.Fatal(err)
	}
}

// die ends it, as a killed process would.
func (w *world) die() {
	w.t.Helper()
	w.end()
	w.Close()
	if err := w.script.Session.Close(context.Background()); err != nil {
		w.t.Error(err)
	}
}

// keys are those of a folder's blobs.
func (w *world) keys(folder string) []string {
	w.t.Helper()
	list, err := w.blobs.List(w.t.Context(), folder)
	if err != nil {
		w.t.Fatal(err)
	}
	var keys []string
	for _, b := range list {
		keys = append(keys, b.Key)
	}
	return keys
}

func (w *world) add(id ha.CheckpointID) error {
	return w.Checkpoints("j").Add(w.t.Context(), w.term, ha.Checkpoint{ID: id, Data: []byte{byte(id)}})
}
