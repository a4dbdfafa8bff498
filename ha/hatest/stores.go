package hatest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/leatdata/leat/ha"
)

func stores() map[string]func(*testing.T, *World) {
	return map[string]func(*testing.T, *World){
		"the newest checkpoints are kept":                      keepsNewest,
		"checkpoint ids are never given twice":                 idsOnce,
		"checkpoints come in order, and once":                  checkpointsInOrder,
		"discarded checkpoints leave nothing":                  discarded,
		"job graphs are put, recovered, listed, removed":       jobGraphs,
		"a job goes from pending to running to done, for good": jobStates,
		"results are dirty, then clean, then forgotten":        results,
		"an older term is fenced in every store":               fencedStores,
		"without a term nothing is written":                    withoutTerm,
		"counters are written by each and read by all":         workerCounters,
		"what a leader stored its successor finds":             successor,
		"clean up leaves nothing but the marks":                cleanUp,
	}
}

func keepsNewest(t *testing.T, w *World) {
	n := w.openWith(t, "a", ha.Config{KeepCheckpoints: 2})
	defer n.close()
	term := n.compete(component).Leads(t).Term
	c := n.Checkpoints("job/1 ü")
	if _, err := c.Latest(within(t)); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("latest of none: %v", err)
	}
	for id := range ha.CheckpointID(5) {
		p := ha.Checkpoint{ID: id + 1, Data: fmt.Appendf(nil, "state %d", id+1)}
		if err := c.Add(within(t), term, p); err != nil {
			t.Fatal(err)
		}
		latest, err := c.Latest(within(t))
		if err != nil || latest.ID != p.ID || !bytes.Equal(latest.Data, p.Data) {
			t.Errorf("latest %+v, %v", latest, err)
		}
	}
	ids, err := c.IDs(within(t))
	if err != nil || !slices.Equal(ids, []ha.CheckpointID{4, 5}) {
		t.Errorf("kept %v, %v", ids, err)
	}
	if old, err := c.Get(within(t), 4); err != nil || string(old.Data) != "state 4" {
		t.Errorf("fourth: %+v, %v", old, err)
	}
	if _, err := c.Get(within(t), 1); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("first: %v", err)
	}
	n.blobsSettle(t, "checkpoints", 2)
}

// blobsSettle waits until a folder has as many blobs as it should.
func (n *node) blobsSettle(t *testing.T, folder string, want int) {
	t.Helper()
	for ctx := within(t); ; {
		blobs, err := n.Blobs().List(ctx, folder)
		if err != nil {
			t.Fatalf("waited for %d blobs in %s: %v", want, folder, err)
		}
		if len(blobs) == want {
			return
		}
		elapse(n.world.Timeout / 100)
	}
}

func idsOnce(t *testing.T, w *World) {
	last := ha.CheckpointID(0)
	for _, name := range []string{"a", "b"} {
		n, _, term := w.lead(t, name)
		for range 3 {
			id, err := n.Checkpoints("j").NextID(within(t), term)
			if err != nil || id <= last {
				t.Errorf("id %d after %d, %v", id, last, err)
			}
			last = id
		}
		n.close()
	}
}

func checkpointsInOrder(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	c := n.Checkpoints("j")
	add := func(id ha.CheckpointID, data string) error {
		return c.Add(within(t), term, ha.Checkpoint{ID: id, Data: []byte(data)})
	}
	if err := errors.Join(add(3, "x"), add(3, "x"), add(5, "y")); err != nil {
		t.Error(err)
	}
	if err := add(4, "late"); !errors.Is(err, ha.ErrConflict) {
		t.Errorf("an older id: %v", err)
	}
	if err := add(5, "other"); !errors.Is(err, ha.ErrConflict) {
		t.Errorf("the same id with other data: %v", err)
	}
	if ids, err := c.IDs(within(t)); err != nil || !slices.Equal(ids, []ha.CheckpointID{3, 5}) {
		t.Errorf("kept %v, %v", ids, err)
	}
	n.blobsSettle(t, "checkpoints", 2)
}

func discarded(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	c := n.Checkpoints("j")
	id, err := c.NextID(within(t), term)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Add(within(t), term, ha.Checkpoint{ID: id, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Discard(within(t), term), c.Discard(within(t), term)); err != nil {
		t.Error(err)
	}
	if _, err := c.Latest(within(t)); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("latest: %v", err)
	}
	n.blobsSettle(t, "checkpoints", 0)
	n.blobsSettle(t, "checkpoint-counter", 0)
}

func jobGraphs(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	g := n.JobGraphs()
	if jobs, err := g.List(within(t)); err != nil || len(jobs) != 0 {
		t.Errorf("listed %v, %v", jobs, err)
	}
	large := bytes.Repeat([]byte("graph "), 1<<18)
	for _, job := range []ha.JobID{"b", "a/..", ""} {
		if err := errors.Join(
			g.Put(within(t), term, job, []byte("first")),
			g.Put(within(t), term, job, large),
			g.Put(within(t), term, job, large),
		); err != nil {
			t.Fatal(err)
		}
		if got, err := g.Recover(within(t), job); err != nil || !bytes.Equal(got, large) {
			t.Errorf("recovered %d bytes, %v", len(got), err)
		}
	}
	jobs, err := g.List(within(t))
	slices.Sort(jobs)
	if err != nil || !slices.Equal(jobs, []ha.JobID{"", "a/..", "b"}) {
		t.Errorf("listed %q, %v", jobs, err)
	}
	n.blobsSettle(t, "jobgraphs", 3)
	if err := errors.Join(g.Remove(within(t), term, "b"), g.Remove(within(t), term, "b")); err != nil {
		t.Error(err)
	}
	if _, err := g.Recover(within(t), "b"); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("recovered a removed graph: %v", err)
	}
	n.blobsSettle(t, "jobgraphs", 2)
}

func jobStates(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	j := n.Jobs()
	is := func(want ha.JobState) {
		t.Helper()
		if got, err := j.State(within(t), "j"); err != nil || got != want {
			t.Errorf("state %s, want %s, %v", got, want, err)
		}
	}
	is(ha.JobPending)
	if err := errors.Join(j.SetRunning(within(t), term, "j"), j.SetRunning(within(t), term, "j")); err != nil {
		t.Error(err)
	}
	is(ha.JobRunning)
	if err := errors.Join(
		j.Finish(within(t), term, "j", []byte("ok")), j.Finish(within(t), term, "j", []byte("ok")),
	); err != nil {
		t.Error(err)
	}
	is(ha.JobDone)
	if err := j.Finish(within(t), term, "j", []byte("failed")); !errors.Is(err, ha.ErrExists) {
		t.Errorf("another result: %v", err)
	}
	if err := j.SetRunning(within(t), term, "j"); !errors.Is(err, ha.ErrConflict) {
		t.Errorf("run a job that is done: %v", err)
	}
	is(ha.JobDone)
}

func results(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	j := n.Jobs()
	if err := j.SetClean(within(t), term, "j"); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("clean nothing: %v", err)
	}
	if err := j.Finish(within(t), term, "j", []byte("ok")); err != nil {
		t.Fatal(err)
	}
	if err := j.Forget(within(t), term, "j"); !errors.Is(err, ha.ErrConflict) {
		t.Errorf("forget what is dirty: %v", err)
	}
	for range 2 {
		if err := j.SetClean(within(t), term, "j"); err != nil {
			t.Error(err)
		}
	}
	want := ha.Result{Job: "j", Data: []byte("ok"), Clean: true}
	all, err := j.Results(within(t))
	if err != nil || len(all) != 1 || all[0].Job != want.Job || !bytes.Equal(all[0].Data, want.Data) || !all[0].Clean {
		t.Errorf("results %+v, %v", all, err)
	}
	for range 2 {
		if err := j.Forget(within(t), term, "j"); err != nil {
			t.Error(err)
		}
	}
	if _, err := j.Result(within(t), "j"); !errors.Is(err, ha.ErrNotFound) {
		t.Errorf("forgotten: %v", err)
	}
	n.blobsSettle(t, "results", 0)
}

func fencedStores(t *testing.T, w *World) {
	n, c, old := w.lead(t, "a")
	defer n.close()
	if err := errors.Join(
		n.JobGraphs().Put(within(t), old, "j", []byte("graph")),
		n.Jobs().Finish(within(t), old, "done", nil),
	); err != nil {
		t.Fatal(err)
	}
	n.Observe(old.Epoch + 1)
	now := c.Granted(t, 2).Term
	for name, err := range map[string]error{
		"put":       n.JobGraphs().Put(within(t), old, "j", []byte("other")),
		"remove":    n.JobGraphs().Remove(within(t), old, "j"),
		"next id":   second(n.Checkpoints("j").NextID(within(t), old)),
		"add":       n.Checkpoints("j").Add(within(t), old, ha.Checkpoint{ID: 99}),
		"run":       n.Jobs().SetRunning(within(t), old, "j"),
		"finish":    n.Jobs().Finish(within(t), old, "j", nil),
		"set clean": n.Jobs().SetClean(within(t), old, "done"),
	} {
		refusal, ok := errors.AsType[*ha.FencedError](err)
		if !ok || !errors.Is(err, ha.ErrFenced) || refusal.Epoch != now.Epoch {
			t.Errorf("%s under an old term: %v", name, err)
		}
	}
	if err := n.JobGraphs().Put(within(t), now, "j", []byte("new")); err != nil {
		t.Error(err)
	}
	if granted, revoked := c.Count(); granted != 2 || revoked != 1 {
		t.Errorf("an old term's refusals ended a newer grant: granted %d, revoked %d", granted, revoked)
	}
}

func second[T any](_ T, err error) error { return err }

func withoutTerm(t *testing.T, w *World) {
	n := w.open(t, "a")
	defer n.close()
	if err := n.JobGraphs().Put(within(t), ha.Term{}, "j", []byte("x")); !errors.Is(err, ha.ErrFenced) {
		t.Errorf("put without a term: %v", err)
	}
	if err := n.Jobs().Finish(within(t), ha.Term{}, "j", nil); !errors.Is(err, ha.ErrFenced) {
		t.Errorf("finish without a term: %v", err)
	}
}

func workerCounters(t *testing.T, w *World) {
	n, m := w.open(t, "worker"), w.open(t, "master")
	defer n.close()
	defer m.close()
	if all, err := m.Counters().ReadAll(within(t)); err != nil {
		if errors.Is(err, ha.ErrUnavailable) {
			return // nothing is shared, and it says so
		}
		t.Errorf("read %v, %v", all, err)
	}
	if err := errors.Join(
		n.Counters().Write(within(t), "w1 #2", 1), n.Counters().Write(within(t), "w1 #2", 7),
		n.Counters().Write(within(t), "w2", 3), n.Counters().Remove(within(t), "none"),
	); err != nil {
		t.Error(err)
	}
	all, err := m.Counters().ReadAll(within(t))
	if err != nil || len(all) != 2 || all["w1 #2"] != 7 || all["w2"] != 3 {
		t.Errorf("read %v, %v", all, err)
	}
	if err := m.Counters().Remove(within(t), "w2"); err != nil {
		t.Error(err)
	}
	if all, err = m.Counters().ReadAll(within(t)); err != nil || len(all) != 1 {
		t.Errorf("read %v, %v", all, err)
	}
}

func successor(t *testing.T, w *World) {
	a, _, old := w.lead(t, "a")
	if err := errors.Join(
		a.JobGraphs().Put(within(t), old, "j", []byte("graph")),
		a.Jobs().SetRunning(within(t), old, "j"),
		a.Checkpoints("j").Add(within(t), old, ha.Checkpoint{ID: 4, Data: []byte("state")}),
		a.Jobs().Finish(within(t), old, "done", []byte("ok")),
	); err != nil {
		t.Fatal(err)
	}
	a.close()
	b, _, _ := w.lead(t, "b")
	defer b.close()
	graph, err1 := b.JobGraphs().Recover(within(t), "j")
	latest, err2 := b.Checkpoints("j").Latest(within(t))
	running, err3 := b.Jobs().State(within(t), "j")
	done, err4 := b.Jobs().State(within(t), "done")
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	if string(graph) != "graph" || latest.ID != 4 || string(latest.Data) != "state" ||
		running != ha.JobRunning || done != ha.JobDone {
		t.Errorf("found %q, %+v, %s, %s", graph, latest, running, done)
	}
}

func cleanUp(t *testing.T, w *World) {
	a, _, old := w.lead(t, "a")
	if err := errors.Join(
		a.JobGraphs().Put(within(t), old, "j", []byte("graph")),
		a.Jobs().Finish(within(t), old, "done", []byte("ok")),
	); err != nil {
		t.Fatal(err)
	}
	if err := a.CloseAndCleanUp(within(t)); err != nil {
		t.Fatal(err)
	}
	b, _, now := w.lead(t, "b")
	defer b.close()
	if now.Epoch <= old.Epoch {
		t.Errorf("epoch %d after %d", now.Epoch, old.Epoch)
	}
	jobs, err := b.JobGraphs().List(within(t))
	all, err2 := b.Jobs().Results(within(t))
	if errors.Join(err, err2) != nil || len(jobs)+len(all) != 0 {
		t.Errorf("left: %v, %v, %v, %v", jobs, all, err, err2)
	}
}
