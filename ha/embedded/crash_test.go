package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/memstore"
	"github.com/leatdata/leat/internal/storage/crashfs"
)

// onCrashFS is a server whose store and blobs are on a file system that crashes.
func onCrashFS(fsys *crashfs.FS) *Server {
	lock := func(string) (func(), error) { return func() {}, nil }
	return &Server{
		store: memstore.New(timeout, timeout/10, memstore.NewFolder(fsys, "store", lock)),
		blobs: blobdir.New(fsys, "blobs"),
	}
}

// acknowledged is what a life was told to be done.
type acknowledged struct {
	epoch      ha.Epoch
	graph      string
	checkpoint ha.Checkpoint
	id         ha.CheckpointID
	done       bool
}

// TestCrashAtAnyWrite crashes the machine at each operation that changes the
// file system: what was acknowledged is there afterwards, epochs and checkpoint
// ids go on above those that were used, a pointer never points to nothing, and
// nothing is left over for ever.
func TestCrashAtAnyWrite(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("LEAT_SEED"); text != "" {
		seed, _ = strconv.ParseUint(text, 10, 64)
	}
	t.Logf("LEAT_SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	for at := int64(1); ; at++ {
		crashed := false
		synctest.Test(t, func(t *testing.T) {
			fsys := crashfs.New(rng.Uint64())
			var known acknowledged
			live(t, fsys, 1, &known) // a life before, so that there is something to lose
			fsys.CrashAt(fsys.Changes() + at)
			before := fsys.Changes()
			live(t, fsys, 2, &known)
			crashed = fsys.Changes()-before >= at
			clone := fsys.CrashClone()
			verify(t, clone, known)
		})
		if t.Failed() {
			t.Fatalf("LEAT_SEED=%d, crash at the change %d", seed, at)
		}
		if !crashed {
			return
		}
	}
}

// live is a process's life: it ends at the first error, or when all is done.
func live(t *testing.T, fsys *crashfs.FS, n int, known *acknowledged) {
	s := onCrashFS(fsys)
	services := s.services(ha.Config{Name: "a", SessionTimeout: timeout, KeepCheckpoints: 2}.WithDefaults(), s.store.Client())
	defer func() { _ = services.Close(context.WithoutCancel(t.Context())) }()
	ctx, cancel := context.WithTimeout(t.Context(), 4*timeout)
	defer cancel()
	c := &quiet{granted: make(chan ha.Term, 10)}
	if err := services.Election("dispatcher").Start(c); err != nil {
		t.Fatal(err)
	}
	select {
	case term := <-c.granted:
		if term.Epoch <= known.epoch {
			t.Errorf("epoch %d after %d", term.Epoch, known.epoch)
		}
		known.epoch = term.Epoch
		_ = work(ctx, services, term, n, known)
	case <-ctx.Done():
	}
}

// quiet tells its grants, and cares for nothing else.
type quiet struct{ granted chan ha.Term }

func (q *quiet) Grant(_ context.Context, _ ha.SessionID, term ha.Term) error {
	q.granted <- term
	return nil
}
func (q *quiet) Revoke()     {}
func (q *quiet) Error(error) {}

func work(ctx context.Context, s ha.Services, term ha.Term, n int, known *acknowledged) error {
	graph := fmt.Sprintf("graph %d", n)
	if err := s.JobGraphs().Put(ctx, term, "j", []byte(graph)); err != nil {
		return err
	}
	known.graph = graph
	if err := s.Jobs().SetRunning(ctx, term, "j"); err != nil {
		return err
	}
	for range 3 {
		id, err := s.Checkpoints("j").NextID(ctx, term)
		if err != nil {
			return err
		}
		known.id = id
		p := ha.Checkpoint{ID: id, Data: fmt.Appendf(nil, "state %d", id)}
		if err := s.Checkpoints("j").Add(ctx, term, p); err != nil {
			return err
		}
		known.checkpoint = p
	}
	if err := s.Jobs().Finish(ctx, term, "done", []byte("ok")); err != nil {
		return err
	}
	known.done = true
	return s.Jobs().SetClean(ctx, term, "done")
}

// verify starts anew on what the crash has left.
func verify(t *testing.T, fsys *crashfs.FS, known acknowledged) {
	s := onCrashFS(fsys)
	services := s.services(ha.Config{Name: "b", SessionTimeout: timeout, KeepCheckpoints: 2}.WithDefaults(), s.store.Client())
	c := hatest.NewContender(services.Election("dispatcher"))
	if err := services.Election("dispatcher").Start(c); err != nil {
		t.Fatal(err)
	}
	term := c.Leads(t).Term
	if term.Epoch <= known.epoch {
		t.Errorf("epoch %d after %d", term.Epoch, known.epoch)
	}
	// What was under way when it crashed may have happened or not.
	graph, err := services.JobGraphs().Recover(t.Context(), "j")
	if err != nil || string(graph) != known.graph && string(graph) != "graph 2" {
		t.Errorf("graph %q, %v; acknowledged was %q", graph, err, known.graph)
	}
	latest, err := services.Checkpoints("j").Latest(t.Context())
	if err != nil || latest.ID < known.checkpoint.ID || string(latest.Data) != fmt.Sprintf("state %d", latest.ID) {
		t.Errorf("checkpoint %+v, %v; acknowledged was %+v", latest, err, known.checkpoint)
	}
	if id, err := services.Checkpoints("j").NextID(t.Context(), term); err != nil || id <= known.id {
		t.Errorf("id %d after %d, %v", id, known.id, err)
	}
	if state, err := services.Jobs().State(t.Context(), "done"); err != nil || known.done && state != ha.JobDone {
		t.Errorf("state %s, %v", state, err)
	}
	synctest.Wait() // for the sweep
	for folder, most := range map[string]int{"checkpoints": 2, "jobgraphs": 1, "results": 1, "mirrors": 2} {
		if blobs, err := services.Blobs().List(t.Context(), folder); err != nil || len(blobs) > most {
			t.Errorf("left over: %+v, %v", blobs, err)
		}
	}
	if err := services.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestFullDisk: errors name the thing, nothing that was stored is lost, and when
// there is room again everything goes on, with nobody restarting anything.
func TestFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := crashfs.New(1)
		s := onCrashFS(fsys)
		services := s.services(ha.Config{Name: "a", SessionTimeout: timeout}.WithDefaults(), s.store.Client())
		c := hatest.NewContender(services.Election("dispatcher"))
		if err := services.Election("dispatcher").Start(c); err != nil {
			t.Fatal(err)
		}
		g := c.Leads(t)
		var known acknowledged
		if err := work(t.Context(), services, g.Term, 2, &known); err != nil {
			t.Fatal(err)
		}
		full := func(op crashfs.Op) error {
			if op.Kind == crashfs.OpWrite || op.Kind == crashfs.OpCreate {
				return syscall.ENOSPC
			}
			return nil
		}
		fsys.Inject(full)
		for name, err := range map[string]error{
			"graph of job x":          services.JobGraphs().Put(t.Context(), g.Term, "x", []byte("graph")),
			"checkpoint 999 of job j": services.Checkpoints("j").Add(t.Context(), g.Term, ha.Checkpoint{ID: 999}),
			"finish job x":            services.Jobs().Finish(t.Context(), g.Term, "x", nil),
		} {
			if !errors.Is(err, syscall.ENOSPC) || len(err.Error()) < len(name) || err.Error()[:len(name)] != name {
				t.Errorf("%s on a full disk: %v", name, err)
			}
		}
		// A grant needs a mark: none on a full disk, and the contender is told why.
		services.Election("dispatcher").Resign(g.ID, errors.New("to be granted again"))
		c.Told(t, func(err error) bool { return errors.Is(err, syscall.ENOSPC) })
		fsys.Inject(nil)
		term := c.Granted(t, 2).Term
		if graph, err := services.JobGraphs().Recover(t.Context(), "j"); err != nil || string(graph) != known.graph {
			t.Errorf("graph %q, %v", graph, err)
		}
		if latest, err := services.Checkpoints("j").Latest(t.Context()); err != nil || latest.ID != known.checkpoint.ID {
			t.Errorf("checkpoint %+v, %v", latest, err)
		}
		if err := services.JobGraphs().Put(t.Context(), term, "x", []byte("graph")); err != nil {
			t.Error(err)
		}
		if err := services.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
