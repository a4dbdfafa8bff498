package hatest

import (
	"errors"
	"testing"

	"github.com/leatdata/leat/ha"
)

func retrievals() map[string]func(*testing.T, *World) {
	return map[string]func(*testing.T, *World){
		"a listener hears each leader, and that it is gone": hearsLeaders,
		"a retrieval starts once":                           retrievalOnce,
		"a listener that comes late hears the leader":       lateListener,
		"a retrieval that is stopped tells nothing more":    stoppedRetrieval,
	}
}

func isAt(address string) func(ha.Leader) bool {
	return func(l ha.Leader) bool { return l.Address == address }
}

// listen has a node's listener follow a component.
func (n *node) listen(component string) (*Listener, ha.Retrieval) {
	n.t.Helper()
	l, r := &Listener{}, n.Retrieval(component)
	if err := r.Start(l); err != nil {
		n.t.Fatal(err)
	}
	return l, r
}

func hearsLeaders(t *testing.T, w *World) {
	worker := w.open(t, "worker")
	defer worker.close()
	l, r := worker.listen(component)
	defer r.Stop()
	last := ha.Epoch(0)
	for _, name := range []string{"a", "b", "c"} {
		n, c, term := w.lead(t, name)
		n.Election(component).Confirm(c.Last().ID, name+":1")
		now := l.Hears(t, "the new leader", isAt(name+":1"))
		if now.Epoch != term.Epoch || now.Epoch <= last || now.Session != c.Last().ID {
			t.Errorf("told %+v, granted %+v", now, c.Last())
		}
		last = now.Epoch
		n.close()
		l.Hears(t, "that nobody leads", ha.Leader.None)
	}
	l.NeverTwice(t)
	if told := l.Told(); len(told) != 6 {
		t.Errorf("told %+v", told)
	}
}

func retrievalOnce(t *testing.T, w *World) {
	n := w.open(t, "a")
	defer n.close()
	_, r := n.listen(component)
	if err := r.Start(&Listener{}); !errors.Is(err, ha.ErrStarted) {
		t.Errorf("second start: %v", err)
	}
	r.Stop()
	r.Stop()
	never := n.Retrieval(component)
	never.Stop()
	if err := never.Start(&Listener{}); err == nil {
		t.Error("started after its stop")
	}
}

func lateListener(t *testing.T, w *World) {
	n, c, _ := w.lead(t, "a")
	defer n.close()
	n.Election(component).Confirm(c.Last().ID, "a:1")
	first, r1 := n.listen(component)
	defer r1.Stop()
	first.Hears(t, "the leader", isAt("a:1"))
	late, r2 := n.listen(component)
	defer r2.Stop()
	late.Hears(t, "the leader", isAt("a:1"))
}

func stoppedRetrieval(t *testing.T, w *World) {
	n, c, _ := w.lead(t, "a")
	stopped, r := n.listen(component)
	r.Stop()
	before := len(stopped.Told())
	n.Election(component).Confirm(c.Last().ID, "a:1")
	witness, r2 := n.listen(component)
	witness.Hears(t, "the leader", isAt("a:1"))
	r2.Stop()
	n.close()
	if told := stopped.Told(); len(told) != before {
		t.Errorf("told after its stop: %+v", told)
	}
}
