package heartbeat

import (
	"slices"
	"testing"
	"time"
)

// The payloads of three kinds of components.
type (
	slotReport   struct{ free int }
	slotsAllowed struct{ n int }
	accumulators struct{ rows int }
	nothing      struct{}
)

// component is a listener of any payloads.
type component[In, Out any] struct {
	*loop
	in   []In
	out  *Out
	lost []ID
}

func (c *component[In, Out]) Timeout(id ID, _ Loss)      { c.lost = append(c.lost, id) }
func (c *component[In, Out]) ReportPayload(_ ID, in *In) { c.in = append(c.in, *in) }
func (c *component[In, Out]) RetrievePayload(id ID) *Out { return c.out }
func (c *component[In, Out]) got() (in []In, lost []ID) {
	c.do(func() { in, lost = slices.Clone(c.in), slices.Clone(c.lost) })
	return in, lost
}

func made[In, Out any](t *testing.T, out *Out) *component[In, Out] {
	return &component[In, Out]{loop: newLoop(t), out: out}
}

// wire connects an active and a passive component: what one sends is what the other
// gets, and the compiler holds it.
func wire[A, B any](t *testing.T, s *Services, a ID, active *component[B, A], b ID, passive *component[A, B]) {
	t.Helper()
	sender, err := NewSender(s, a, Listener[B, A](active), active.run)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := NewManager(s, b, Listener[A, B](passive), passive.run)
	if err != nil {
		t.Fatal(err)
	}
	_, err = sender.Monitor(b, TargetFunc[A](func(beat Beat[A]) error {
		passive.run(func() { manager.Receive(beat) })
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	_, err = manager.Monitor(a, TargetFunc[B](func(beat Beat[B]) error {
		active.run(func() { sender.Receive(beat) })
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
}

// Rule 9: the same code serves resource manager ↔ worker, jobmaster ↔ worker and
// resource manager ↔ jobmaster, each with payloads of its own; all from the services
// of one process, with one goroutine.
func TestRule9OneServiceManyKinds(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{})
		rm := made[slotReport, nothing](t, nil)
		rmWorker := made[nothing](t, &slotReport{free: 3})
		wire(t, s, "rm", rm, "worker", rmWorker)
		jm := made[accumulators](t, &slotsAllowed{n: 2})
		jmWorker := made[slotsAllowed](t, &accumulators{rows: 7})
		wire(t, s, "jm", jm, "worker", jmWorker)
		rmForJobs := made[nothing, nothing](t, nil)
		job := made[nothing, nothing](t, nil)
		wire(t, s, "rm", rmForJobs, "jm", job)

		pass(5 * time.Minute)
		slots, lost1 := rm.got()
		rows, lost2 := jm.got()
		allowed, lost3 := jmWorker.got()
		none, lost4 := job.got()
		if len(slots) < 29 || slots[0] != (slotReport{3}) || len(rows) < 29 || rows[0] != (accumulators{7}) ||
			len(allowed) < 29 || allowed[0] != (slotsAllowed{2}) || len(none) != 0 {
			t.Errorf("payloads: %d %d %d %d", len(slots), len(rows), len(allowed), len(none))
		}
		if lost := slices.Concat(lost1, lost2, lost3, lost4); len(lost) != 0 {
			t.Errorf("lost %v", lost)
		}
	})
}
