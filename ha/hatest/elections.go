package hatest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

const component = "dispatcher"

func elections() map[string]func(*testing.T, *World) {
	return map[string]func(*testing.T, *World){
		"one of three leads, and each next epoch is higher":            oneLeads,
		"a grant has its own id, and is revoked once":                  grantAndRevoke,
		"components share a grant and have ids of their own":           componentsShare,
		"a component that comes late is granted too":                   lateComponent,
		"a component that leaves takes its record along":               leavingComponent,
		"only the issued id is confirmed":                              onlyIssued,
		"who resigns leaves it to others":                              resigning,
		"a late event of an older grant ends no newer one":             lateResignation,
		"becoming active fails once on each node":                      failsOnceEach,
		"who is unhealthy stays out until healthy":                     unhealthy,
		"a stop hook that blocks holds up nobody else":                 blockedHook,
		"starting twice and stopping twice":                            startTwice,
		"status tells who leads and who competes":                      status,
		"a higher epoch that was met ends the grant":                   metHigher,
		"an elector that idles writes nothing and tells nothing":       idles,
		"a lease tells how long trust lasts":                           lease,
		"after close all is refused":                                   afterClose,
		"a grant's context ends before its revoke, and ids go with it": revokeOrder,
	}
}

// leader waits until one of the contenders leads, and returns it.
func leader(t *testing.T, contenders ...*Contender) int {
	t.Helper()
	found := make(chan int, len(contenders))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i, c := range contenders {
		go func() {
			if c.leads(ctx) {
				found <- i
			}
		}()
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case i := <-found:
		return i
	case <-limit.C:
		t.Fatal("waited too long: nobody leads")
		return 0
	}
}

// leads waits until the contender has leadership; false: ctx has ended.
func (c *Contender) leads(ctx context.Context) bool {
	for {
		c.mu.Lock()
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed, now := c.changed, len(c.grants) > c.revoked
		var last Grant
		if now {
			last = c.grants[len(c.grants)-1]
		}
		c.mu.Unlock()
		if now && c.election.HasLeadership(last.ID) {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// elapse lets time pass.
func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

func oneLeads(t *testing.T, w *World) {
	nodes := map[int]*node{}
	var contenders []*Contender
	for i, name := range []string{"a", "b", "c"} {
		nodes[i] = w.open(t, name)
		contenders = append(contenders, nodes[i].compete(component))
	}
	last := ha.Epoch(0)
	for range 3 {
		first := leader(t, contenders...)
		term := contenders[first].Last().Term
		if term.Epoch <= last || term.Grant == "" {
			t.Errorf("term %s after epoch %d", term, last)
		}
		last = term.Epoch
		for i, c := range contenders {
			if granted, revoked := c.Count(); i != first && nodes[i] != nil && granted > revoked {
				t.Errorf("node %d leads beside %d", i, first)
			}
		}
		nodes[first].close()
		contenders[first].Follows(t)
		nodes[first] = nil
	}
}

func grantAndRevoke(t *testing.T, w *World) {
	n, c, term := w.lead(t, "a")
	g := c.Last()
	e := n.Election(component)
	if g.ID == "" || g.Term != term || g.Ctx.Err() != nil || !e.HasLeadership(g.ID) {
		t.Errorf("granted %+v", g)
	}
	if e.HasLeadership("another") || e.HasLeadership("") {
		t.Error("leads with an id that was not issued")
	}
	n.close()
	if granted, revoked := c.Count(); granted != 1 || revoked != 1 {
		t.Errorf("granted %d times, revoked %d times", granted, revoked)
	}
	if e.HasLeadership(g.ID) || g.Ctx.Err() == nil {
		t.Error("leads after its end")
	}
}

func revokeOrder(t *testing.T, w *World) {
	n := w.open(t, "a")
	c := NewContender(n.Election(component))
	ended := make(chan bool, 1)
	c.OnGrant = func(g Grant) error {
		<-g.Ctx.Done() // a contender may serve within Grant
		return errors.New("an error after the end, which means nothing")
	}
	c.OnRevoke = func() {
		g := c.Last()
		ended <- g.Ctx.Err() != nil && !n.Election(component).HasLeadership(g.ID)
	}
	if err := n.Election(component).Start(c); err != nil {
		t.Fatal(err)
	}
	c.Granted(t, 1)
	n.close()
	if !<-ended {
		t.Error("revoked before its context had ended, or with leadership")
	}
}

func componentsShare(t *testing.T, w *World) {
	n := w.open(t, "a")
	defer n.close()
	a, b := n.compete("dispatcher"), n.compete("resource_manager")
	ga, gb := a.Leads(t), b.Leads(t)
	if ga.Term != gb.Term || ga.ID == gb.ID {
		t.Errorf("granted %+v and %+v", ga, gb)
	}
	if n.Election("dispatcher").HasLeadership(gb.ID) {
		t.Error("one component leads with another's id")
	}
}

func lateComponent(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	late := n.compete("rest_server")
	if g := late.Leads(t); g.Term != term {
		t.Errorf("granted %s under %s", g.Term, term)
	}
}

func leavingComponent(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	defer n.close()
	second := n.compete("rest_server")
	g := second.Leads(t)
	l := &Listener{}
	r := n.Retrieval("rest_server")
	if err := r.Start(l); err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	n.Election("rest_server").Confirm(g.ID, "rest:1")
	l.Hears(t, "the address", func(leader ha.Leader) bool { return leader.Address == "rest:1" })
	if err := n.Election("rest_server").Stop(within(t)); err != nil {
		t.Fatal(err)
	}
	l.Hears(t, "that it is gone", ha.Leader.None)
	if granted, revoked := second.Count(); granted != 1 || revoked != 1 {
		t.Errorf("granted %d, revoked %d", granted, revoked)
	}
	if now, ok := n.Election(component).Lease(); !ok || now.Term != term {
		t.Errorf("the other component has %+v, %v", now, ok)
	}
}

func onlyIssued(t *testing.T, w *World) {
	n, c, term := w.lead(t, "a")
	defer n.close()
	l := &Listener{}
	r := n.Retrieval(component)
	if err := r.Start(l); err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	n.Election(component).Confirm("not issued", "wrong:1")
	n.Election(component).Confirm("", "wrong:2")
	n.Election(component).Confirm(c.Last().ID, "right:1")
	n.Election(component).Confirm(c.Last().ID, "right:1")
	l.Hears(t, "the address", func(leader ha.Leader) bool {
		return leader == ha.Leader{Address: "right:1", Session: c.Last().ID, Epoch: term.Epoch}
	})
	if told := l.Told(); len(told) != 1 {
		t.Errorf("told %+v", told)
	}
}

func resigning(t *testing.T, w *World) {
	a, ca, term := w.lead(t, "a")
	defer a.close()
	b := w.open(t, "b")
	defer b.close()
	cb := b.compete(component)
	a.Election(component).Resign("not issued", errors.New("no cause"))
	// On a busy machine the others may need more than one chance to come first.
	for leader(t, ca, cb) == 0 {
		a.Election(component).Resign(ca.Last().ID, errors.New("disk on fire"))
		ca.Follows(t)
	}
	if g := cb.Leads(t); g.Term.Epoch <= term.Epoch {
		t.Errorf("granted %s after %s", g.Term, term)
	}
	ca.Follows(t)
}

func lateResignation(t *testing.T, w *World) {
	a, ca, _ := w.lead(t, "a")
	defer a.close()
	old := ca.Last().ID
	a.Election(component).Resign(old, errors.New("first"))
	g := ca.Granted(t, 2)
	a.Election(component).Resign(old, errors.New("comes late"))
	elapse(w.Timeout)
	if granted, revoked := ca.Count(); granted != 2 || revoked != 1 || !a.Election(component).HasLeadership(g.ID) {
		t.Errorf("granted %d, revoked %d", granted, revoked)
	}
}

func failsOnceEach(t *testing.T, w *World) {
	var failed [2]atomic.Bool
	var contenders []*Contender
	succeeded := make(chan Grant, 16)
	for i, name := range []string{"a", "b"} {
		n := w.open(t, name)
		defer n.close()
		c := NewContender(n.Election(component))
		c.OnGrant = func(g Grant) error {
			// On a slow machine the same one may come first again, though it holds off.
			if !failed[i].Swap(true) || !failed[1-i].Load() {
				return errors.New("could not become active")
			}
			succeeded <- g
			return nil
		}
		if err := n.Election(component).Start(c); err != nil {
			t.Fatal(err)
		}
		contenders = append(contenders, c)
	}
	for _, c := range contenders {
		c.Told(t, func(err error) bool { return err != nil })
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-succeeded:
	case <-limit.C:
		t.Error("nobody becomes active in the end")
	}
}

func unhealthy(t *testing.T, w *World) {
	a, ca, _ := w.lead(t, "a")
	defer a.close()
	a.Election(component).SetHealthy(false)
	ca.Follows(t)
	b := w.open(t, "b")
	cb := b.compete(component)
	cb.Leads(t)
	b.close()
	elapse(2 * w.Timeout)
	if granted, _ := ca.Count(); granted != 1 {
		t.Errorf("granted %d times while unhealthy", granted)
	}
	a.Election(component).SetHealthy(true)
	ca.Granted(t, 2)
}

func blockedHook(t *testing.T, w *World) {
	a := w.open(t, "a")
	ca := NewContender(a.Election(component))
	unblock := make(chan struct{})
	ca.OnRevoke = func() { <-unblock }
	if err := a.Election(component).Start(ca); err != nil {
		t.Fatal(err)
	}
	g := ca.Leads(t)
	second := a.compete("rest_server")
	second.Leads(t)
	a.Election(component).Resign(g.ID, errors.New("go"))
	second.Follows(t)
	if a.Election(component).HasLeadership(g.ID) || g.Ctx.Err() == nil {
		t.Error("a blocked hook has leadership")
	}
	if _, err := a.JobGraphs().List(within(t)); err != nil {
		t.Error(err)
	}
	ca.Told(t, func(err error) bool { return err != nil }) // it is overdue
	if granted, _ := ca.Count(); granted != 1 {
		t.Error("granted again while the hook blocks")
	}
	close(unblock)
	ca.Granted(t, 2)
	a.close()
}

func startTwice(t *testing.T, w *World) {
	n := w.open(t, "a")
	e := n.Election("stopped_first")
	if err := errors.Join(e.Stop(within(t)), e.Stop(within(t))); err != nil {
		t.Error(err)
	}
	if err := e.Start(NewContender(e)); !errors.Is(err, ha.ErrStarted) {
		t.Errorf("start after stop: %v", err)
	}
	if n.Election(component) != n.Election(component) {
		t.Error("each call makes another election")
	}
	c := n.compete(component)
	if err := n.Election(component).Start(c); !errors.Is(err, ha.ErrStarted) {
		t.Errorf("second start: %v", err)
	}
	c.Leads(t)
	for range 2 {
		if err := n.Election(component).Stop(within(t)); err != nil {
			t.Error(err)
		}
	}
	n.close()
	n.close()
}

func afterClose(t *testing.T, w *World) {
	n := w.open(t, "a")
	n.close()
	if err := n.Election(component).Start(NewContender(n.Election(component))); !errors.Is(err, ha.ErrClosed) {
		t.Errorf("start an election: %v", err)
	}
	if err := n.Retrieval(component).Start(&Listener{}); !errors.Is(err, ha.ErrClosed) {
		t.Errorf("start a retrieval: %v", err)
	}
	if _, err := n.JobGraphs().List(within(t)); !errors.Is(err, ha.ErrClosed) {
		t.Errorf("list: %v", err)
	}
}

func status(t *testing.T, w *World) {
	a, _, term := w.lead(t, "host-a:1")
	b := w.open(t, "host-b:2")
	cb := b.compete(component)
	_ = cb
	for {
		s, err := b.Status(within(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Contenders) == 2 {
			slices.Sort(s.Contenders)
			if !slices.Equal(s.Contenders, []string{"host-a:1", "host-b:2"}) ||
				!s.Held || s.Epoch != term.Epoch || s.Grant != term.Grant || s.Holder != "host-a:1" || s.Since.IsZero() {
				t.Errorf("status %+v, term %s", s, term)
			}
			break
		}
		elapse(w.Timeout / 100)
	}
	b.close()
	a.close()
}

func metHigher(t *testing.T, w *World) {
	n, c, term := w.lead(t, "a")
	defer n.close()
	n.Observe(term.Epoch) // our own
	n.Observe(term.Epoch + 7)
	if g := c.Granted(t, 2); g.Term.Epoch <= term.Epoch+7 {
		t.Errorf("granted %s, though epoch %d was met", g.Term, term.Epoch+7)
	}
}

func idles(t *testing.T, w *World) {
	n, c, term := w.lead(t, "a")
	defer n.close()
	l := &Listener{}
	r := n.Retrieval(component)
	if err := r.Start(l); err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	n.Election(component).Confirm(c.Last().ID, "a:1")
	l.Hears(t, "the address", func(leader ha.Leader) bool { return leader.Address == "a:1" })
	elapse(4 * w.Timeout)
	lease, ok := n.Election(component).Lease()
	if granted, revoked := c.Count(); granted != 1 || revoked != 0 || !ok || lease.Term != term {
		t.Errorf("granted %d, revoked %d, lease %+v", granted, revoked, lease)
	}
	if told := l.Told(); len(told) != 1 {
		t.Errorf("told %+v", told)
	}
}

func lease(t *testing.T, w *World) {
	n, _, term := w.lead(t, "a")
	l, ok := n.Election(component).Lease()
	if !ok || l.Term != term || l.Left <= 0 || l.Age < 0 || l.Left+l.Age >= l.Timeout {
		t.Errorf("lease %+v, %v", l, ok)
	}
	n.close()
	if l, ok := n.Election(component).Lease(); ok {
		t.Errorf("lease after the end: %+v", l)
	}
}
