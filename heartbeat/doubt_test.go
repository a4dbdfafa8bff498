package heartbeat

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// crowd is one master's sender with workers that answer as long as they are let.
type crowd struct {
	services *Services
	clock    *shifted
	sender   *active
	master   *owner
	lines    []*line
	// reaches is nil, or delivers an answer in its own way.
	deliver func(f func())
}

func newCrowd(t *testing.T, n int, cfg Config) *crowd {
	t.Helper()
	c := &crowd{clock: newShifted()}
	cfg.Clock = c.clock.now
	c.services = start(t, cfg)
	c.sender, c.master = newActive(t, c.services, "master")
	c.deliver = func(f func()) { c.master.run(f) }
	for i := range n {
		id := name(i)
		l := &line{to: func(b Beat[string]) {
			c.deliver(func() { c.sender.Receive(Beat[string]{From: id}) })
		}}
		c.lines = append(c.lines, l)
		monitor(t, c.sender.Manager, id, l)
	}
	return c
}

func name(i int) ID { return ID(fmt.Sprintf("worker-%03d", i)) }

func (c *crowd) cut(from, to int, on bool) {
	for _, l := range c.lines[from:to] {
		l.cut.Store(on)
	}
}

// A master that was stopped for three timeouts declares nobody dead, though nobody
// was heard meanwhile; and still finds who has died.
func TestFrozenMasterDeclaresNobodyDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrowd(t, 100, Config{})
		pass(25 * time.Second)
		c.cut(0, 3, true) // Dead, and heard within the last interval.
		for range 10 {
			c.clock.jump(150 * time.Second)
			pass(4 * time.Second)
			c.master.wantLost()
		}
		pass(51 * time.Second)
		c.master.wantLost(name(0), name(1), name(2))
		if got := c.services.Stalled(); got < 1500*time.Second || got > 1501*time.Second {
			t.Errorf("stalled for %s", got)
		}
	})
}

// What has queued up while the process stood still is handled before anybody is
// judged, also when it takes a while and a target had hardly any time left.
func TestQueuedHeartbeatsCountAfterAStall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrowd(t, 3, Config{})
		pass(25 * time.Second)
		c.cut(0, 3, true)
		pass(44 * time.Second) // A second is left of everybody's timeout.
		c.master.wantLost()
		c.clock.jump(100 * time.Second)
		// The sockets' buffers are read in the first seconds after waking.
		pass(3 * time.Second)
		c.master.do(func() {
			for i := range 3 {
				c.sender.Receive(Beat[string]{From: name(i)})
			}
		})
		c.cut(0, 3, false)
		pass(5 * time.Minute)
		c.master.wantLost()
	})
}

// An owner whose loop was busy for longer than the timeout has asked nobody: it
// asks before it judges. Who is really dead is found all the same, also by one
// whose loop is busy all the time.
func TestBusyOwnerAsksBeforeItJudges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrowd(t, 4, Config{})
		pass(25 * time.Second)
		c.master.busy(3 * time.Minute)
		c.cut(3, 4, true)
		pass(4 * time.Minute)
		c.master.wantLost(name(3))

		c.cut(2, 3, true)
		for range 80 {
			c.master.busy(2 * time.Second) // More than passes: the queue grows.
			pass(time.Second)
		}
		pass(70 * time.Second)
		c.cut(1, 2, true)
		for range 120 {
			c.master.busy(1900 * time.Millisecond)
			pass(2 * time.Second)
		}
		c.master.wantLost(name(1), name(2), name(3))
	})
}

// A loop that lags all the time is no stall: who is dead is found on time, and the
// lag later.
func TestLaggingLoopStillFindsTheDead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{})
		o := newOwner(t)
		const lag = 3 * time.Second
		m, err := NewSender(s, "master", Listener[string, string](o), func(f func()) {
			time.AfterFunc(lag, func() { o.run(f) })
		})
		if err != nil {
			t.Fatal(err)
		}
		var lines []*line
		for i := range 100 {
			lines = append(lines, answering(m, o, name(i)))
			monitor(t, m.Manager, name(i), lines[i])
		}
		pass(5 * time.Minute)
		o.wantLost()
		lines[7].cut.Store(true)
		pass(50*time.Second + 2*lag + 100*time.Millisecond)
		o.wantLost(name(7))
	})
}

// More than a fifth and at least five at once: one timeout more, once. They come
// back within it, and nobody is dead.
func TestManyAtOnceWaitOneMoreTimeout(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrowd(t, 100, Config{})
		pass(25 * time.Second)
		c.cut(0, 21, true)
		pass(95 * time.Second) // Almost two timeouts after the first's last heartbeat.
		c.master.wantLost()
		c.cut(0, 21, false)
		c.master.do(func() {
			for i := range 21 {
				c.sender.Receive(Beat[string]{From: name(i)})
			}
		})
		pass(5 * time.Minute)
		c.master.wantLost()

		// Heard again, they are given the same once more; but not a third timeout.
		c.cut(0, 21, true)
		pass(88 * time.Second)
		c.master.wantLost()
		pass(15 * time.Second)
		if n := len(c.master.lost()); n != 21 {
			t.Errorf("%d lost, want 21", n)
		}
	})
}

// A fifth, or fewer than five, is believed at once.
func TestFewAtOnceAreBelieved(t *testing.T) {
	for _, c := range []struct{ dead, of int }{{20, 100}, {4, 4}, {4, 5}, {1, 1}} {
		t.Run(fmt.Sprintf("%d of %d", c.dead, c.of), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				crowd := newCrowd(t, c.of, Config{})
				pass(25 * time.Second)
				crowd.cut(0, c.dead, true)
				pass(50*time.Second + 200*time.Millisecond)
				if n := len(crowd.master.lost()); n != c.dead {
					t.Errorf("%d lost, want %d", n, c.dead)
				}
			})
		})
	}
}

// All of a master's workers, six of them, are lost two timeouts after the cut, and
// not before.
func TestAllAtOnceAreBelievedInTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := newCrowd(t, 6, Config{Interval: time.Second, Timeout: 5 * time.Second})
		pass(10 * time.Second)
		c.cut(0, 6, true)
		pass(8900 * time.Millisecond)
		c.master.wantLost()
		pass(1200 * time.Millisecond)
		if n := len(c.master.lost()); n != 6 {
			t.Errorf("%d lost, want 6", n)
		}
	})
}

// A silent target is reported after the timeout, and within a tenth of the interval
// of it.
func TestSilenceIsReportedOnTime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, cfg := range []Config{{}, {Interval: time.Second, Timeout: 5 * time.Second}, {Interval: 10 * time.Millisecond, Timeout: 15 * time.Millisecond}} {
			c := newCrowd(t, 4, cfg)
			cfg = c.services.Config()
			pass(10*cfg.Interval + cfg.Interval/3)
			at := time.Since(c.master.began)
			c.cut(0, 4, true)
			pass(2 * cfg.Timeout)
			for _, l := range c.master.lost() {
				late := l.Silent - cfg.Timeout
				if late < 0 || late > cfg.Interval/10 {
					t.Errorf("interval %s: reported %s after the timeout", cfg.Interval, late)
				}
				// At least timeout - interval after the cut, at most timeout + a tenth.
				if after := l.at - at; after < cfg.Timeout-cfg.Interval || after > cfg.Timeout+cfg.Interval/10 {
					t.Errorf("interval %s, timeout %s: lost %s after the cut", cfg.Interval, cfg.Timeout, after)
				}
			}
			if len(c.master.lost()) != 4 {
				t.Errorf("%d lost", len(c.master.lost()))
			}
		}
	})
}

// Time without stalls never goes back, and does not count them.
func TestAwakeDoesNotCountStalls(t *testing.T) {
	bubble(t, func(t *testing.T) {
		clock := newShifted()
		s := start(t, Config{Interval: time.Second, Timeout: 5 * time.Second, Clock: clock.now})
		pass(10 * time.Second)
		before := s.Awake()
		last := before
		for range 50 {
			clock.jump(time.Minute)
			for range 7 {
				now := s.Awake()
				if now < last {
					t.Fatalf("awake went back from %s to %s", last, now)
				}
				last = now
				pass(7 * time.Millisecond)
			}
		}
		synctest.Wait()
		if ran := s.Awake() - before; ran < 2*time.Second || ran > 3*time.Second {
			t.Errorf("awake for %s of 2.45 s and 50 stalls", ran)
		}
	})
}
