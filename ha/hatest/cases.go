package hatest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

// cases are what users of such code have met, as far as faults are needed.
func cases(w *World) map[string]func(*testing.T, *World) {
	tests := map[string]func(*testing.T, *World){}
	if w.Cut != nil {
		tests["a stop hook that asks the store keeps no session from being opened"] = hookAsksStore
		tests["a job that another leader has finished is not run again"] = notRunAgain
		tests["the lock of one's own older session is waited for"] = ownOlderSession
		tests["a revoke has returned before another is granted"] = revokedBefore
		tests["a graph outlives a revoke in the midst of its removal"] = graphOutlives
	}
	if w.Wipe != nil {
		tests["a refused write ends the grant, and another follows"] = refusedWrite
	}
	return tests
}

// A controller thread waited for a session that only the same thread could
// make anew.
func hookAsksStore(t *testing.T, w *World) {
	a := w.open(t, "a")
	defer a.close()
	c := NewContender(a.Election(component))
	asked := make(chan error, 10)
	c.OnRevoke = func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_, err := a.JobGraphs().List(ctx)
		asked <- err
	}
	if err := a.Election(component).Start(c); err != nil {
		t.Fatal(err)
	}
	g := c.Leads(t)
	w.Cut("a")
	<-g.Ctx.Done()
	w.Heal("a")
	if err := <-asked; err != nil {
		t.Errorf("the hook's call: %v", err)
	}
	c.Granted(t, 2)
}

// The former leader's node kept a job's graph, and the finished job was run again
// at the next failover.
func notRunAgain(t *testing.T, w *World) {
	a, ca, old := w.lead(t, "a")
	if err := errors.Join(
		a.JobGraphs().Put(within(t), old, "j", []byte("graph")), a.Jobs().SetRunning(within(t), old, "j"),
	); err != nil {
		t.Fatal(err)
	}
	w.Cut("a")
	b, _, now := w.lead(t, "b")
	if err := errors.Join(
		b.Jobs().Finish(within(t), now, "j", []byte("ok")), b.JobGraphs().Remove(within(t), now, "j"),
	); err != nil {
		t.Fatal(err)
	}
	w.Heal("a")
	ca.Follows(t)
	b.close()
	again := ca.Granted(t, 2).Term
	jobs, err := a.JobGraphs().List(within(t))
	state, err2 := a.Jobs().State(within(t), "j")
	if errors.Join(err, err2) != nil || len(jobs) != 0 || state != ha.JobDone {
		t.Errorf("jobs %v, state %s, %v, %v", jobs, state, err, err2)
	}
	if err := a.Jobs().SetRunning(within(t), again, "j"); !errors.Is(err, ha.ErrConflict) {
		t.Errorf("run it again: %v", err)
	}
	a.close()
}

// After its lease is over, a process is back before the store has ended its old
// session: the old lock is not its own.
func ownOlderSession(t *testing.T, w *World) {
	a, c, old := w.lead(t, "a")
	defer a.close()
	g := c.Last()
	w.Cut("a")
	<-g.Ctx.Done()
	w.Heal("a")
	if next := c.Granted(t, 2); next.Term.Epoch <= old.Epoch || next.Term.Grant == old.Grant || next.ID == g.ID {
		t.Errorf("granted %+v after %s", next, old)
	}
	if err := a.JobGraphs().Put(within(t), old, "j", nil); !errors.Is(err, ha.ErrFenced) {
		t.Errorf("a write under the old term: %v", err)
	}
}

func revokedBefore(t *testing.T, w *World) {
	a, ca, _ := w.lead(t, "a")
	defer a.close()
	b := w.open(t, "b")
	defer b.close()
	cb := NewContender(b.Election(component))
	revoked := make(chan int, 10)
	cb.OnGrant = func(Grant) error {
		_, n := ca.Count()
		revoked <- n
		return nil
	}
	if err := b.Election(component).Start(cb); err != nil {
		t.Fatal(err)
	}
	w.Cut("a")
	cb.Leads(t)
	if n := <-revoked; n != 1 {
		t.Errorf("another is granted after %d revokes", n)
	}
	w.Heal("a")
}

// A revoke during termination: who has lost its grant removes nothing.
func graphOutlives(t *testing.T, w *World) {
	a, ca, old := w.lead(t, "a")
	defer a.close()
	if err := a.JobGraphs().Put(within(t), old, "j", []byte("graph")); err != nil {
		t.Fatal(err)
	}
	g := ca.Last()
	w.Cut("a")
	<-g.Ctx.Done()
	w.Heal("a")
	now := ca.Granted(t, 2).Term
	if err := errors.Join(
		a.Checkpoints("j").Add(within(t), now, ha.Checkpoint{ID: 1, Data: []byte("state")}),
	); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"remove": a.JobGraphs().Remove(within(t), old, "j"), "discard": a.Checkpoints("j").Discard(within(t), old),
	} {
		if !errors.Is(err, ha.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	graph, err := a.JobGraphs().Recover(within(t), "j")
	latest, err2 := a.Checkpoints("j").Latest(within(t))
	if errors.Join(err, err2) != nil || string(graph) != "graph" || latest.ID != 1 {
		t.Errorf("graph %q, checkpoint %+v, %v, %v", graph, latest, err, err2)
	}
}

func refusedWrite(t *testing.T, w *World) {
	a, c, old := w.lead(t, "a")
	defer a.close()
	g := c.Last()
	w.Wipe()
	took, excused := w.measure(t, func() {
		if err := a.Jobs().SetRunning(within(t), old, "j"); !errors.Is(err, ha.ErrFenced) {
			t.Errorf("a write without a lock: %v", err)
		}
		<-g.Ctx.Done()
		if next := c.Granted(t, 2).Term; next.Epoch <= old.Epoch {
			t.Errorf("epoch %d after %d", next.Epoch, old.Epoch)
		}
	})
	if took > time.Second+w.Slack+excused {
		t.Errorf("granted again after %s", took)
	}
}
