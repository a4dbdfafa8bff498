package hatest

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

// faults are the tests that a world's faults allow.
func faults(w *World) map[string]func(*testing.T, *World) {
	tests := map[string]func(*testing.T, *World){}
	add := func(possible bool, more map[string]func(*testing.T, *World)) {
		for name, test := range more {
			if possible {
				tests[name] = test
			}
		}
	}
	add(w.Cut != nil, map[string]func(*testing.T, *World){
		"a leader that is cut off stops before another leads":            cutLeader,
		"a leader that is cut off stops though nobody else can lead":     cutAlone,
		"a loss shorter than half the timeout changes nothing":           shortLoss,
		"a long cut, a short opening, a longer cut, and one leads":       wedge,
		"a store that is away at the start is joined when it appears":    awayAtStart,
		"a listener hears nothing of a loss until its own lease is over": lossHeard,
		"a stale leader's writes are fenced, and end its grant":          staleWrites,
		"a checkpoint id is given soon after a loss":                     idAfterLoss,
	})
	add(w.Expire != nil, map[string]func(*testing.T, *World){
		"a session that the store ends is followed by another": expired,
	})
	add(w.DropReply != nil, map[string]func(*testing.T, *World){
		"a take-over whose reply is lost is found":   lostTakeOver,
		"writes whose replies are lost are resolved": lostReplies,
	})
	add(w.Wipe != nil, map[string]func(*testing.T, *World){
		"a deleted namespace brings no epoch back, and loses no job": wiped,
	})
	add(w.Backup != nil, map[string]func(*testing.T, *World){
		"a restored store brings no epoch back, and loses no job": restored,
	})
	add(w.Tamper != nil, map[string]func(*testing.T, *World){
		"a leader record that somebody changes is written again": tampered,
	})
	add(w.Corrupt != nil, map[string]func(*testing.T, *World){
		"an unreadable newest checkpoint is an error, never an older one": unreadableNewest,
		"one unreadable graph of many harms no other":                     unreadableGraph,
	})
	return tests
}

func cutLeader(t *testing.T, w *World) {
	a, ca, old := w.lead(t, "a")
	defer a.close()
	first := ca.Last()
	b := w.open(t, "b")
	defer b.close()
	cb := NewContender(b.Election(component))
	overlap := make(chan bool, 1)
	cb.OnGrant = func(Grant) error {
		select {
		case overlap <- first.Ctx.Err() == nil || a.Election(component).HasLeadership(first.ID):
		default:
		}
		return nil
	}
	if err := b.Election(component).Start(cb); err != nil {
		t.Fatal(err)
	}
	w.Cut("a")
	g := cb.Leads(t)
	if <-overlap {
		t.Error("two lead at once")
	}
	if g.Term.Epoch <= old.Epoch {
		t.Errorf("epoch %d after %d", g.Term.Epoch, old.Epoch)
	}
	w.Heal("a")
	ca.Follows(t)
}

func cutAlone(t *testing.T, w *World) {
	a, c, term := w.lead(t, "a")
	defer a.close()
	g := c.Last()
	w.Cut("a")
	elapse(w.Timeout)
	if g.Ctx.Err() == nil || a.Election(component).HasLeadership(g.ID) {
		t.Error("leads though its lease is over")
	}
	elapse(2 * w.Timeout)
	w.Heal("a")
	if next := c.Granted(t, 2); next.Term.Epoch <= term.Epoch {
		t.Errorf("epoch %d after %d", next.Term.Epoch, term.Epoch)
	}
}

func shortLoss(t *testing.T, w *World) {
	a, c, term := w.lead(t, "a")
	defer a.close()
	l, r := a.listen(component)
	defer r.Stop()
	a.Election(component).Confirm(c.Last().ID, "a:1")
	l.Hears(t, "the leader", isAt("a:1"))
	for range cmp.Or(w.Rounds, 5) {
		w.Cut("a")
		elapse(w.Timeout*48/100 - w.Slack)
		w.Heal("a")
		elapse(w.Timeout)
	}
	lease, ok := a.Election(component).Lease()
	if granted, revoked := c.Count(); granted != 1 || revoked != 0 || !ok || lease.Term != term {
		t.Errorf("granted %d, revoked %d, lease %+v", granted, revoked, lease)
	}
	if told := l.Told(); len(told) != 1 {
		t.Errorf("told %+v", told)
	}
}

// wedge is the schedule that left the model's nodes standby for good.
func wedge(t *testing.T, w *World) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 5))
	names := []string{"a", "b", "c"}
	var contenders []*Contender
	for _, name := range names {
		n := w.open(t, name)
		defer n.close()
		contenders = append(contenders, n.compete(component))
	}
	each := func(do func(string)) {
		for _, name := range names {
			do(name)
		}
	}
	portion := func(low, high float64) time.Duration {
		return time.Duration((low + rng.Float64()*(high-low)) * float64(w.Timeout))
	}
	last := ha.Epoch(0)
	for round := range cmp.Or(w.Rounds, 10) {
		first := contenders[leader(t, contenders...)].Last().Term
		if first.Epoch < last {
			t.Errorf("seed %d, round %d: epoch %d after %d", seed, round, first.Epoch, last)
		}
		each(w.Cut)
		elapse(portion(1.1, 3))
		each(w.Heal)
		elapse(portion(0, 0.3))
		each(w.Cut)
		elapse(portion(2, 8))
		var now ha.Term
		took, excused := w.measure(t, func() {
			each(w.Heal)
			now = contenders[leader(t, contenders...)].Last().Term
		})
		if bound := w.Timeout + min(time.Second, w.Timeout/3) + w.Slack + excused; took > bound {
			t.Errorf("seed %d, round %d: leader %s after healing, bound %s", seed, round, took, bound)
		}
		if now.Epoch <= first.Epoch {
			t.Errorf("seed %d, round %d: epoch %d after %d", seed, round, now.Epoch, first.Epoch)
		}
		last = now.Epoch
	}
	leaders := 0
	for _, c := range contenders {
		if granted, revoked := c.Count(); granted > revoked {
			leaders++
		}
	}
	if leaders != 1 {
		t.Errorf("seed %d: %d leaders", seed, leaders)
	}
}

func awayAtStart(t *testing.T, w *World) {
	w.Cut("a")
	a := w.open(t, "a")
	defer a.close()
	c := a.compete(component)
	elapse(10 * w.Timeout)
	if granted, _ := c.Count(); granted != 0 {
		t.Error("granted without a store")
	}
	w.Heal("a")
	c.Leads(t)
}

func lossHeard(t *testing.T, w *World) {
	a, c, _ := w.lead(t, "a")
	defer a.close()
	worker := w.open(t, "worker")
	defer worker.close()
	l, r := worker.listen(component)
	defer r.Stop()
	a.Election(component).Confirm(c.Last().ID, "a:1")
	l.Hears(t, "the leader", isAt("a:1"))
	w.Cut("worker")
	elapse(w.Timeout * 4 / 10)
	w.Heal("worker")
	elapse(w.Timeout)
	if told := l.Told(); len(told) != 1 {
		t.Errorf("told %+v of a short loss", told)
	}
	w.Cut("worker")
	l.Hears(t, "that nobody leads, once its own lease is over", ha.Leader.None)
	w.Heal("worker")
	l.Hears(t, "the leader anew", isAt("a:1"))
	l.NeverTwice(t)
	if told := l.Told(); len(told) != 3 {
		t.Errorf("told %+v", told)
	}
}

func staleWrites(t *testing.T, w *World) {
	a, ca, old := w.lead(t, "a")
	defer a.close()
	if err := a.JobGraphs().Put(within(t), old, "j", []byte("graph")); err != nil {
		t.Fatal(err)
	}
	w.Cut("a")
	b, _, now := w.lead(t, "b")
	defer b.close()
	w.Heal("a")
	for name, err := range map[string]error{
		"put":    a.JobGraphs().Put(within(t), old, "j", []byte("of the old leader")),
		"remove": a.JobGraphs().Remove(within(t), old, "j"),
		"finish": a.Jobs().Finish(within(t), old, "j", nil),
	} {
		refusal, ok := errors.AsType[*ha.FencedError](err)
		if !ok || refusal.Epoch != now.Epoch {
			t.Errorf("%s: %v", name, err)
		}
	}
	if graph, err := b.JobGraphs().Recover(within(t), "j"); err != nil || string(graph) != "graph" {
		t.Errorf("graph %q, %v", graph, err)
	}
	ca.Follows(t)
}

func idAfterLoss(t *testing.T, w *World) {
	a, _, term := w.lead(t, "a")
	defer a.close()
	before, err := a.Checkpoints("j").NextID(within(t), term)
	if err != nil {
		t.Fatal(err)
	}
	w.Cut("a")
	elapse(w.Timeout * 4 / 10)
	w.Heal("a")
	after, err := a.Checkpoints("j").NextID(within(t), term)
	if err != nil || after <= before {
		t.Errorf("id %d after %d, %v", after, before, err)
	}
}

func expired(t *testing.T, w *World) {
	a, ca, old := w.lead(t, "a")
	defer a.close()
	b := w.open(t, "b")
	defer b.close()
	cb := b.compete(component)
	w.Expire("a")
	ca.Follows(t)
	i := leader(t, ca, cb)
	now := []*Contender{ca, cb}[i].Last().Term
	if now.Epoch <= old.Epoch || now.Grant == old.Grant {
		t.Errorf("term %s after %s", now, old)
	}
}

func lostTakeOver(t *testing.T, w *World) {
	last := ha.Epoch(0)
	for range 3 {
		w.DropReply("a")
		a := w.open(t, "a")
		c := a.compete(component)
		g := c.Leads(t)
		if g.Term.Epoch <= last {
			t.Errorf("epoch %d after %d", g.Term.Epoch, last)
		}
		if err := a.JobGraphs().Put(within(t), g.Term, "j", []byte("graph")); err != nil {
			t.Error(err)
		}
		last = g.Term.Epoch
		a.close()
	}
}

func lostReplies(t *testing.T, w *World) {
	a, _, term := w.lead(t, "a")
	defer a.close()
	last := ha.CheckpointID(0)
	for i := range ha.CheckpointID(4) {
		w.DropReply("a")
		id, err := a.Checkpoints("j").NextID(within(t), term)
		if err != nil || id <= last {
			t.Errorf("id %d after %d, %v", id, last, err)
		}
		last = id
		w.DropReply("a")
		data := fmt.Appendf(nil, "state %d", i)
		if err := a.Checkpoints("j").Add(within(t), term, ha.Checkpoint{ID: id, Data: data}); err != nil {
			t.Error(err)
		}
		if latest, err := a.Checkpoints("j").Latest(within(t)); err != nil || latest.ID != id || string(latest.Data) != string(data) {
			t.Errorf("latest %+v, %v", latest, err)
		}
	}
	for name, do := range map[string]func() error{
		"put":       func() error { return a.JobGraphs().Put(within(t), term, "j", []byte("graph")) },
		"run":       func() error { return a.Jobs().SetRunning(within(t), term, "j") },
		"finish":    func() error { return a.Jobs().Finish(within(t), term, "j", []byte("ok")) },
		"set clean": func() error { return a.Jobs().SetClean(within(t), term, "j") },
	} {
		if name == "set clean" {
			if err := a.Jobs().Finish(within(t), term, "j", []byte("ok")); err != nil {
				t.Fatal(err)
			}
		}
		w.DropReply("a")
		if err := do(); err != nil && !(name == "run" && errors.Is(err, ha.ErrConflict)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	a.blobsSettle(t, "checkpoints", 3)
}

// furnish stores something of each kind.
func (n *node) furnish(term ha.Term, job ha.JobID) {
	n.t.Helper()
	c := n.Checkpoints(job)
	id, err := c.NextID(within(n.t), term)
	if err := errors.Join(
		err,
		n.JobGraphs().Put(within(n.t), term, job, []byte("graph of "+job)),
		c.Add(within(n.t), term, ha.Checkpoint{ID: id, Data: []byte("state of " + job)}),
		n.Jobs().Finish(within(n.t), term, "finished before "+job, []byte("ok")),
	); err != nil {
		n.t.Fatal(err)
	}
}

// isFurnished fails unless all of that is there, and numbers go on.
func (n *node) isFurnished(term ha.Term, job ha.JobID) {
	n.t.Helper()
	graph, err := n.JobGraphs().Recover(within(n.t), job)
	if err != nil || string(graph) != string("graph of "+job) {
		n.t.Errorf("graph %q, %v", graph, err)
	}
	latest, err := n.Checkpoints(job).Latest(within(n.t))
	if err != nil || string(latest.Data) != string("state of "+job) {
		n.t.Errorf("checkpoint %+v, %v", latest, err)
	}
	if id, err := n.Checkpoints(job).NextID(within(n.t), term); err != nil || id <= latest.ID {
		n.t.Errorf("id %d after %d, %v", id, latest.ID, err)
	}
	if state, err := n.Jobs().State(within(n.t), "finished before "+job); err != nil || state != ha.JobDone {
		n.t.Errorf("state %s, %v", state, err)
	}
	jobs, err := n.JobGraphs().List(within(n.t))
	if err != nil || !slices.Contains(jobs, job) {
		n.t.Errorf("jobs %v, %v", jobs, err)
	}
}

func wiped(t *testing.T, w *World) {
	a, ca, term := w.lead(t, "a")
	defer a.close()
	b := w.open(t, "b")
	defer b.close()
	cb := b.compete(component)
	nodes, contenders := []*node{a, b}, []*Contender{ca, cb}
	a.furnish(term, "j")
	for range 3 {
		i := leader(t, contenders...)
		old := contenders[i].Last()
		w.Wipe()
		contenders[i].await(t, "the grant's end", func() bool { return old.Ctx.Err() != nil })
		i = leader(t, contenders...)
		now := contenders[i].Last().Term
		if now.Epoch <= old.Term.Epoch {
			t.Errorf("epoch %d after %d", now.Epoch, old.Term.Epoch)
		}
		nodes[i].isFurnished(now, "j")
	}
}

func restored(t *testing.T, w *World) {
	a, ca, term := w.lead(t, "a")
	defer a.close()
	a.furnish(term, "early")
	restore := w.Backup()
	a.furnish(term, "late")
	a.furnish(term, "early") // a second checkpoint
	id, err := a.Checkpoints("early").NextID(within(t), term)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		g := ca.Leads(t)
		a.Election(component).Resign(g.ID, errors.New("to raise the epoch"))
		granted, _ := ca.Count()
		term = ca.Granted(t, granted+1).Term
	}
	restore()
	ca.await(t, "a higher epoch", func() bool { return ca.grants[len(ca.grants)-1].Term.Epoch > term.Epoch })
	now := ca.Leads(t).Term
	a.isFurnished(now, "early")
	a.isFurnished(now, "late")
	if next, err := a.Checkpoints("early").NextID(within(t), now); err != nil || next <= id {
		t.Errorf("id %d after %d, %v", next, id, err)
	}
}

func tampered(t *testing.T, w *World) {
	a, c, _ := w.lead(t, "a")
	defer a.close()
	l, r := a.listen(component)
	defer r.Stop()
	a.Election(component).Confirm(c.Last().ID, "a:1")
	l.Hears(t, "the leader", isAt("a:1"))
	for _, value := range [][]byte{nil, []byte(`{"address":"evil:1","session":"x","epoch":1}`), []byte("no record")} {
		before := len(l.Told())
		w.Tamper(component, value)
		elapse(w.Timeout)
		l.Hears(t, "the leader again", isAt("a:1"))
		_ = before
	}
	l.NeverTwice(t)
	if granted, revoked := c.Count(); granted != 1 || revoked != 0 {
		t.Errorf("granted %d, revoked %d", granted, revoked)
	}
}

func unreadableNewest(t *testing.T, w *World) {
	a, _, term := w.lead(t, "a")
	defer a.close()
	c := a.Checkpoints("j")
	if err := c.Add(within(t), term, ha.Checkpoint{ID: 1, Data: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	if err := c.Add(within(t), term, ha.Checkpoint{ID: 2, Data: []byte("new")}); err != nil {
		t.Fatal(err)
	}
	w.Corrupt(t, "checkpoints/j")
	if got, err := c.Latest(within(t)); !errors.Is(err, ha.ErrCorrupt) || !ha.Fatal(err) {
		t.Errorf("latest %+v, %v", got, err)
	}
	if ids, err := c.IDs(within(t)); err != nil || len(ids) != 2 {
		t.Errorf("kept %v, %v", ids, err)
	}
}

func unreadableGraph(t *testing.T, w *World) {
	a, _, term := w.lead(t, "a")
	defer a.close()
	const jobs = 20
	for i := range jobs {
		if err := a.JobGraphs().Put(within(t), term, ha.JobID(fmt.Sprintf("j%d", i)), []byte("graph")); err != nil {
			t.Fatal(err)
		}
	}
	w.Corrupt(t, "jobgraphs/j7")
	all, err := a.JobGraphs().List(within(t))
	if err != nil || len(all) != jobs {
		t.Errorf("listed %v, %v", all, err)
	}
	for _, job := range all {
		_, err := a.JobGraphs().Recover(within(t), job)
		if bad := job == "j7"; bad != errors.Is(err, ha.ErrCorrupt) {
			t.Errorf("recover %s: %v", job, err)
		}
	}
	if err := a.JobGraphs().Put(within(t), term, "j7", []byte("graph submitted again")); err != nil {
		t.Errorf("put over what is unreadable: %v", err)
	}
}
