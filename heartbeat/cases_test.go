package heartbeat

import (
	"fmt"
	"testing"
	"time"
)

// Each test here is a fault that masters have had with their heartbeats, in the
// order of the project's list of cases. Those of them that processes can show are
// shown with processes as well: TestKilledWorkerIsNoticed and
// TestFreezeOfMasterDeclaresNobodyDead.

// A dead worker was found after the timeout of 50 s only. A killed one's address
// refuses connections: it is found within interval × threshold, whenever it dies.
func TestCaseKilledWorkerIsFoundLongBeforeTheTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newActive(t, start(t, Config{}), "master")
		cfg := m.group.services.Config()
		bound := cfg.Interval * time.Duration(cfg.FailureThreshold)
		for i := range 40 { // At a time: many at once would be doubted, were it silence.
			worker := &broken{to: answering(m, o, name(i))}
			monitor(t, m.Manager, name(i), worker)
			pass(25*time.Second + time.Duration(i)*cfg.Interval/40)
			killed := time.Since(o.began)
			worker.fail(dialError())
			pass(bound + time.Millisecond)
			l := o.lost()
			if len(l) != i+1 || l[i].id != name(i) || l[i].Reason != Refusals || l[i].at-killed > bound {
				t.Fatalf("killed %s after the last, within %s there are %d losses: %+v", killed, bound, len(l), l[max(0, len(l)-1):])
			}
		}
	})
}

// A detector that was itself stalled declared everyone dead: for however long it was
// stopped, and whenever in its workers' rhythm, it declares nobody dead, and goes on;
// with few workers, too, which are never many at once.
func TestCaseStalledDetectorDeclaresNobodyDead(t *testing.T) {
	timeout := Config{}.WithDefaults().Timeout
	for _, workers := range []int{4, 40} {
		for _, stall := range []time.Duration{timeout / 2, timeout, 2 * timeout, 3 * timeout, 100 * timeout} {
			t.Run(fmt.Sprintf("%d workers, %s", workers, stall), func(t *testing.T) {
				bubble(t, func(t *testing.T) { stalledDetector(t, workers, stall) })
			})
		}
	}
}

func stalledDetector(t *testing.T, workers int, stall time.Duration) {
	c := newCrowd(t, workers, Config{})
	pass(25 * time.Second)
	for range 12 {
		c.clock.jump(stall)
		pass(10*time.Second + 870*time.Millisecond)
	}
	pass(2 * time.Minute)
	c.master.wantLost()
	if n := c.sender.Targets(); n != workers {
		t.Errorf("%d workers are left", n)
	}
	c.cut(0, 1, true)
	pass(51 * time.Second)
	c.master.wantLost(name(0))
}

// Registrations were deleted though the worker came back before its work was moved.
// One that misses heartbeats and is back in time keeps its registration: nothing is
// reported, and its monitor is the same.
func TestCaseBackBeforeItsWorkMovedKeepsItsRegistration(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{})
		pass(15 * time.Second)
		for range 20 {
			d.toWorker.cut.Store(true)
			pass(29 * time.Second) // Three requests are missed.
			d.toWorker.cut.Store(false)
			pass(11 * time.Second)
		}
		d.master.wantLost()
		d.worker.wantLost()
		if again := monitor(t, d.sender.Manager, "worker", d.toWorker); again != d.ofWorker || again.State() != Running {
			t.Errorf("generation %d is %s, it was registered as %d", again.Generation(), again.State(), d.ofWorker.Generation())
		}
		if d.ofMaster.State() != Running {
			t.Errorf("the worker's monitor of its master is %s", d.ofMaster.State())
		}
	})
}

// The same with two witnesses: a worker that was found lost by one of them only has
// its work still, and keeps it when it is back.
func TestCaseBackAsASuspectKeepsItsRegistration(t *testing.T) {
	t.Parallel()
	w := newWitnesses(t, Config{}, Both)
	w.Step(0, Input{"w", Registered})
	w.Step(time.Minute, Input{"w", Unreachable})
	if v := w.Verdict("w"); v.Health != Suspect {
		t.Errorf("found lost by one witness: %s", v)
	}
	w.Step(3*time.Minute, Input{"w", Reached})
	if changes := w.Tick(time.Hour); len(changes) != 0 || w.Verdict("w").Health != Alive {
		t.Errorf("back in time: %s, and later %v", w.Verdict("w"), changes)
	}
}
