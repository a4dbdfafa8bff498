package heartbeat

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Rule 1: the check is two-way. A request re-arms the receiver's monitor of the
// sender, the answer the opposite.
func TestRule1TheCheckIsTwoWay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{})
		pass(10 * time.Minute)
		d.master.wantLost()
		d.worker.wantLost()
		if n := d.toWorker.beats.Load(); n < 60 || n > 61 {
			t.Errorf("%d requests in 60 intervals", n)
		}
		if d.toMaster.beats.Load() != d.toWorker.beats.Load() {
			t.Errorf("%d answers to %d requests", d.toMaster.beats.Load(), d.toWorker.beats.Load())
		}
	})
}

// Rule 1, each way by itself: without answers the master misses the worker, which
// hears requests; without requests the worker misses the master.
func TestRule1EachWayByItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{})
		pass(15 * time.Second)
		d.toMaster.cut.Store(true)
		pass(45 * time.Second)
		d.master.wantLost()
		pass(2 * time.Second)
		d.master.wantLost("worker")
		d.worker.wantLost()
		pass(50 * time.Second) // The lost worker gets no more requests.
		d.worker.wantLost("master")
	})
}

// Rule 2: the defaults, and the order of interval and timeout.
func TestRule2IntervalIsPositiveAndSmallerThanTimeout(t *testing.T) {
	t.Parallel()
	cfg := Config{}.WithDefaults()
	if cfg.Interval != 10*time.Second || cfg.Timeout != 50*time.Second {
		t.Errorf("defaults are %s and %s", cfg.Interval, cfg.Timeout)
	}
	for _, c := range []Config{
		{Interval: -time.Second},
		{Interval: 50 * time.Second},
		{Interval: time.Second, Timeout: time.Second},
		{Interval: 10, Timeout: 50},
	} {
		_, err := New(c)
		if err == nil || !strings.Contains(err.Error(), "heartbeat.interval") {
			t.Errorf("interval %s, timeout %s: error %v", c.Interval, c.Timeout, err)
		}
	}
	if _, err := New(Config{Interval: time.Second, Timeout: time.Second + 1}); err != nil {
		t.Error(err)
	}
}

// Rule 3: a timeout is reported exactly once per monitored target.
func TestRule3ATimeoutIsReportedOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		mon := monitor(t, m, "master", nowhere())
		pass(49950 * time.Millisecond)
		o.wantLost()
		pass(200 * time.Millisecond)
		o.wantLost("master")
		pass(5 * time.Minute)
		o.wantLost("master")
		if mon.State() != TimedOut {
			t.Errorf("state %s", mon.State())
		}
		l := o.lost()[0]
		if l.Reason != Silence || !l.LastHeartbeat.IsZero() || l.Silent < 50*time.Second || l.Generation != mon.Generation() {
			t.Errorf("loss %+v", l.Loss)
		}
		// Put under monitoring again, it can be lost again.
		monitor(t, m, "master", nowhere())
		pass(51 * time.Second)
		o.wantLost("master", "master")
	})
}

// Rule 3: never after unmonitor or stop, also when both happen at the moment of the
// timeout. The loop is busy then, so that the judgement is queued already.
func TestRule3NeverAfterUnmonitorOrStop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		a, b := monitor(t, m, "a", nowhere()), monitor(t, m, "b", nowhere())
		pass(49 * time.Second)
		o.busy(2 * time.Second)
		pass(1500 * time.Millisecond) // Both are late, and the turn is queued.
		if !m.Unmonitor("a") {
			t.Error("a was not monitored any more")
		}
		m.Stop()
		pass(time.Minute)
		o.wantLost()
		if a.State() != Canceled || b.State() != Canceled {
			t.Errorf("states %s, %s", a.State(), b.State())
		}
	})
}

// Rule 3: what the listener unmonitors, or stops, when it hears of one loss is not
// reported any more, though it was late at the same moment.
func TestRule3AListenerMayUnmonitorTheNext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		monitor(t, m, "a", nowhere())
		monitor(t, m, "b", nowhere())
		monitor(t, m, "c", nowhere())
		o.whenLost(func(id ID, _ Loss) {
			for _, other := range []ID{"a", "b", "c"} {
				if other != id {
					m.Unmonitor(other)
				}
			}
		})
		pass(time.Minute)
		if n := len(o.lost()); n != 1 {
			t.Errorf("%d losses", n)
		}
	})
}

// A heartbeat that comes while others are being reported still counts.
func TestAHeartbeatAtTheLastMomentCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		all := map[ID]*Monitor{}
		for _, id := range []ID{"a", "b", "c"} {
			all[id] = monitor(t, m, id, nowhere())
		}
		o.whenLost(func(id ID, _ Loss) {
			for other, mon := range all {
				if other != id {
					mon.Heard()
				}
			}
		})
		pass(51 * time.Second)
		if n := len(o.lost()); n != 1 {
			t.Errorf("%d losses", n)
		}
	})
}

// Rule 3: of a timeout and an unmonitoring at the same moment exactly one wins, by
// whatever goroutine.
func TestRule3TimeoutAndUnmonitorRace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{Timeout: 11 * time.Second}), "worker")
		const n = 4 // Fewer than are many.
		canceled := 0
		for range 200 {
			for i := range n {
				monitor(t, m, ID(rune('a'+i)), nowhere())
			}
			before := len(o.lost())
			pass(11 * time.Second)
			var race sync.WaitGroup
			won := make([]bool, n)
			for i := range n {
				race.Go(func() { won[i] = m.Unmonitor(ID(rune('a' + i))) })
			}
			race.Wait()
			synctest.Wait()
			wins := 0
			for _, w := range won {
				if w {
					wins++
				}
			}
			if lost := len(o.lost()) - before; wins+lost != n {
				t.Fatalf("%d unmonitored and %d lost, of %d", wins, lost, n)
			}
			canceled += wins
		}
		t.Logf("%d of %d were unmonitored first", canceled, 200*n)
	})
}

// Rule 4: monitoring an id twice changes nothing and is logged; a heartbeat from
// one that is not monitored is dropped, and not answered.
func TestRule4TwiceIsNoOpAndStrangersAreDropped(t *testing.T) {
	bubble(t, func(t *testing.T) {
		log := newLog()
		m, o := newPassive(t, start(t, Config{Logger: log.logger()}), "worker")
		first, second := nowhere(), nowhere()
		a := monitor(t, m, "master", first)
		pass(30 * time.Second)
		if b := monitor(t, m, "master", second); a != b {
			t.Error("a second monitor was made")
		}
		if m.Targets() != 1 || !strings.Contains(log.text(), "monitored already") {
			t.Errorf("%d targets, log:\n%s", m.Targets(), log.text())
		}
		text := "hello"
		o.do(func() {
			if !m.Receive(Beat[string]{From: "master", Request: true}) {
				t.Error("the master's request was dropped")
			}
			if m.Receive(Beat[string]{From: "stranger", Request: true, Payload: &text}) {
				t.Error("a stranger's request was taken")
			}
		})
		if first.beats.Load() != 1 || second.beats.Load() != 0 || o.asked != 1 || len(o.reported()) != 0 {
			t.Errorf("answers %d and %d, asked %d times, reports %v", first.beats.Load(), second.beats.Load(), o.asked, o.reported())
		}
		o.do(func() { m.Unmonitor("master"); m.Receive(Beat[string]{From: "master", Request: true}) })
		if first.beats.Load() != 1 {
			t.Error("who is not monitored any more was answered")
		}
		pass(5 * time.Minute)
		o.wantLost()
	})
}

// Rule 5: the time of the last heartbeat, and a distinct "unknown".
func TestRule5LastHeartbeatFrom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		if _, ok := m.LastHeartbeatFrom("master"); ok {
			t.Error("an id that was never monitored is known")
		}
		monitor(t, m, "master", nowhere())
		if last, ok := m.LastHeartbeatFrom("master"); !ok || !last.IsZero() {
			t.Errorf("before the first: %s, %t", last, ok)
		}
		pass(7 * time.Second)
		at := time.Now()
		o.do(func() { m.Receive(Beat[string]{From: "master"}) })
		pass(7 * time.Second)
		if last, ok := m.LastHeartbeatFrom("master"); !ok || !last.Equal(at) || last.Sub(at) != 0 {
			t.Errorf("last heartbeat at %s, want %s", last, at)
		}
		m.Unmonitor("master")
		if _, ok := m.LastHeartbeatFrom("master"); ok {
			t.Error("an id that is not monitored any more is known")
		}
	})
}

// Rule 6: a nil payload is not reported; the one that goes is fetched per target,
// when it is sent.
func TestRule6Payloads(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{})
		pass(time.Minute)
		if len(d.master.reported()) != 0 || len(d.worker.reported()) != 0 {
			t.Errorf("nil was reported: %q, %q", d.master.reported(), d.worker.reported())
		}
		slots, began := 0, time.Now()
		d.worker.sends(func(id ID) *string {
			slots++
			text := "slots for " + string(id) + " at " + time.Since(began).Truncate(time.Second).String()
			return &text
		})
		pass(25 * time.Second)
		got := d.master.reported()
		if len(got) < 2 || slots != len(got) {
			t.Fatalf("fetched %d times, reported %q", slots, got)
		}
		seen := slices.Clone(got)
		if slices.Sort(seen); len(slices.Compact(seen)) != len(got) || !strings.HasPrefix(got[0], "worker:slots for master at ") {
			t.Errorf("reported %q", got)
		}
	})
}

// Rule 7: stopping while a target is being added leaves nothing monitored, and no
// timer: the bubble would not end, or the leak check would find it.
func TestRule7StopWhileAdding(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for range 300 {
			s, err := New(Config{})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			o := newOwner(t)
			m, err := NewSender(s, "master", Listener[string, string](o), o.run)
			if err != nil {
				t.Fatal(err)
			}
			var race sync.WaitGroup
			for i := range 4 {
				race.Go(func() {
					mon, err := m.Monitor(ID(rune('a'+i)), nowhere())
					if err == nil && mon == nil {
						t.Error("neither a monitor nor an error")
					}
				})
			}
			race.Go(m.Stop)
			race.Go(s.Stop)
			race.Wait()
			if n := m.Targets(); n != 0 {
				t.Fatalf("%d targets are left", n)
			}
			if _, err := m.Monitor("z", nowhere()); err == nil {
				t.Fatal("a target was added after the stop")
			}
		}
	})
}

// Rule 8: the owner is called on its own loop, one call at a time: the owner of the
// tests checks it in each call. Here the loop has other work at the same moments.
func TestRule8CallsRunOnTheOwnersLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{Interval: time.Second, Timeout: 5 * time.Second})
		text := "p"
		d.worker.sends(func(ID) *string { return &text })
		d.master.sends(func(ID) *string { return &text })
		for range 300 {
			d.master.busy(3 * time.Millisecond)
			d.worker.busy(7 * time.Millisecond)
			pass(100 * time.Millisecond)
		}
		d.toMaster.cut.Store(true)
		d.toWorker.cut.Store(true)
		d.master.busy(5 * time.Second)
		pass(time.Minute)
		d.master.wantLost("worker")
		d.worker.wantLost("master")
		if d.master.outsider || d.worker.outsider || d.master.asked == 0 || d.worker.asked == 0 {
			t.Errorf("asked %d and %d times", d.master.asked, d.worker.asked)
		}
	})
}

// Rule 10: what a timeout leads to is the owner's. The worker drops the master,
// looks the leader up and registers again; registering twice is harmless.
func TestRule10RegisteringAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		d := newDuo(t, Config{Interval: time.Second, Timeout: 5 * time.Second})
		registrations := 0
		register := func() {
			registrations++
			d.sender.Unmonitor("worker")
			monitor(t, d.sender.Manager, "worker", d.toWorker)
		}
		d.worker.whenLost(func(id ID, _ Loss) {
			d.master.run(register)
			monitor(t, d.manager, id, d.toMaster)
		})
		d.toWorker.cut.Store(true)
		pass(7 * time.Second)
		d.toWorker.cut.Store(false)
		pass(5 * time.Second)
		for range 3 { // As if the first reply had been lost.
			d.master.run(register)
			pass(100 * time.Millisecond)
		}
		before := d.worker.lost()
		pass(time.Minute)
		if len(before) != 1 || len(d.worker.lost()) != 1 || registrations != 4 || d.sender.Targets() != 1 || d.manager.Targets() != 1 {
			t.Errorf("worker lost %v, %d registrations, %d and %d targets",
				d.worker.lost(), registrations, d.sender.Targets(), d.manager.Targets())
		}
		if n := len(d.master.lost()); n > 1 {
			t.Errorf("the master lost the worker %d times", n)
		}
	})
}
