package heartbeat

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// Requests are spread evenly over the interval, also when targets come and go, and
// each target gets one per interval, a whole interval apart.
func TestRequestsAreSpreadOverTheInterval(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const n = 1050
		m, _ := newActive(t, start(t, Config{}), "master")
		began := time.Now()
		var sent [n][]time.Duration
		target := func(i int) Target[string] {
			return TargetFunc[string](func(Beat[string]) error {
				sent[i] = append(sent[i], time.Since(began))
				return nil
			})
		}
		for i := range n {
			monitor(t, m.Manager, name(i), target(i))
			if i == n/2 {
				pass(7 * time.Second)
			}
		}
		for i := range n / 2 { // The first half is replaced.
			m.Unmonitor(name(i))
			monitor(t, m.Manager, name(i), target(i))
		}
		pass(3 * time.Second)
		from := time.Since(began) + 50*time.Millisecond
		pass(30*time.Second + 50*time.Millisecond)
		synctest.Wait()
		tenths := [10]int{}
		for i := range n {
			var during []time.Duration
			for _, at := range sent[i] {
				if at >= from && at < from+30*time.Second {
					during = append(during, at)
				}
			}
			if len(during) != 3 || during[1]-during[0] != 10*time.Second || during[2]-during[1] != 10*time.Second {
				t.Fatalf("target %d got requests at %v", i, during)
			}
			tenths[(during[0]-from)/time.Second]++
		}
		for i, got := range tenths {
			if got < n/10-20 || got > n/10+20 {
				t.Errorf("tenth %d of the interval has %d of %d requests: %v", i, got, n, tenths)
			}
		}
		t.Logf("requests per tenth of the interval: %v", tenths)
	})
}

// What could not be sent while the loop was busy is sent once, not for each interval
// that was missed.
func TestMissedRequestsAreNotMadeUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newActive(t, start(t, Config{}), "master")
		to := answering(m, o, "worker")
		monitor(t, m.Manager, "worker", to)
		pass(25 * time.Second)
		before := to.beats.Load()
		o.busy(35*time.Second + 50*time.Millisecond)
		pass(35*time.Second + 60*time.Millisecond)
		if n := to.beats.Load() - before; n != 1 {
			t.Errorf("%d requests when the loop went on", n)
		}
	})
}

// A single target gets its first request at once, not an interval later.
func TestFirstRequestComesSoon(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, _ := newActive(t, start(t, Config{}), "master")
		pass(3333 * time.Millisecond)
		to := nowhere()
		monitor(t, m.Manager, "worker", to)
		pass(200 * time.Millisecond)
		if to.beats.Load() != 1 {
			t.Errorf("%d requests within a fiftieth of the interval", to.beats.Load())
		}
	})
}

// However many targets there are, the services have one goroutine. It does not run
// beside other tests, whose goroutines would count.
func TestOneGoroutineForAllTargets(t *testing.T) {
	before := runtime.NumGoroutine()
	s := start(t, Config{})
	for range 10 {
		m, err := NewSender(s, "master", Listener[string, string](quiet{}), func(func()) {})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 {
			monitor(t, m.Manager, name(i), nowhere())
		}
	}
	if n := runtime.NumGoroutine() - before; n != 1 {
		t.Errorf("%d goroutines for 10,000 targets", n)
	}
}

// A loop without room drops turns: they are asked for again. Requests go on, nobody
// who answers is lost, and who does not answer is.
func TestDroppedTurnsAreAskedForAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{Interval: time.Second, Timeout: 10 * time.Second})
		o := newOwner(t)
		random := rand.New(rand.NewPCG(1, 2))
		// It is the sweeper that calls, and nobody else.
		m, err := NewSender(s, "master", Listener[string, string](o), func(f func()) {
			if random.IntN(2) == 0 {
				o.run(f)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		a, b := answering(m, o, "a"), answering(m, o, "b")
		monitor(t, m.Manager, "a", a)
		monitor(t, m.Manager, "b", b)
		pass(2 * time.Minute)
		o.wantLost()
		b.cut.Store(true)
		pass(time.Minute)
		o.wantLost("b")
		if n := a.beats.Load(); n < 80 {
			t.Errorf("%d requests in 180 intervals", n)
		}
	})
}

// What a listener does while a request is reported counts for its answer.
func TestUnmonitoredWhileReportingIsNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var m *Manager[string, string]
		o := &leaver{newOwner(t), func() { m.Unmonitor("master") }}
		var err error
		if m, err = NewManager(start(t, Config{}), "worker", Listener[string, string](o), o.run); err != nil {
			t.Fatal(err)
		}
		to := nowhere()
		monitor(t, m, "master", to)
		text := "bye"
		o.do(func() { m.Receive(Beat[string]{From: "master", Request: true, Payload: &text}) })
		if to.beats.Load() != 0 {
			t.Error("a target that is not monitored any more was answered")
		}
	})
}

// leaver does something when a payload is reported.
type leaver struct {
	*owner
	then func()
}

// ReportPayload implements Listener.
func (l *leaver) ReportPayload(ID, *string) { l.then() }
