package heartbeat

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// monitors puts n targets under monitoring, and returns them in a random order, as
// heartbeats come.
func monitors(b testing.TB, n int) (*group, []*Monitor) {
	b.Helper()
	s, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	m, err := NewSender(s, "master", Listener[string, string](quiet{}), func(f func()) { f() })
	if err != nil {
		b.Fatal(err)
	}
	to := TargetFunc[string](func(Beat[string]) error { return nil })
	list := make([]*Monitor, n)
	for i := range n {
		if list[i], err = m.Monitor(name(i), to); err != nil {
			b.Fatal(err)
		}
	}
	rand.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return m.group, list
}

// quiet is a listener that does nothing.
type quiet struct{}

func (quiet) Timeout(ID, Loss)           {}
func (quiet) ReportPayload(ID, *string)  {}
func (quiet) RetrievePayload(ID) *string { return nil }

// What a heartbeat received costs: our store through a handle; a monitor that
// cancels its target's timer and makes a new one, as Flink's does; and one that
// resets it. One run has all of them, so that their ratios, in the last row, hold on
// any machine; cpu-ns/op is processor time, which others on the machine do not
// stretch as much.
func BenchmarkHeartbeatReceived(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		var store, reschedule, reset float64
		b.Run(fmt.Sprintf("targets=%d/store", n), func(b *testing.B) {
			_, monitors := monitors(b, n)
			list := make([]Handle, n)
			for i := range monitors {
				list[i] = monitors[i].Handle()
			}
			store = measure(b, func(i int) { list[i%n].Heard() })
		})
		b.Run(fmt.Sprintf("targets=%d/cancel-and-reschedule", n), func(b *testing.B) {
			list := timers(b, n)
			reschedule = measure(b, func(i int) { list[i%n].reschedule() })
		})
		b.Run(fmt.Sprintf("targets=%d/timer-reset", n), func(b *testing.B) {
			list := timers(b, n)
			reset = measure(b, func(i int) { list[i%n].reset() })
		})
		b.Run(fmt.Sprintf("targets=%d/cheaper", n), func(b *testing.B) {
			for b.Loop() { // Nothing: the rows above are compared.
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(reschedule/store, "×cancel-and-reschedule")
			b.ReportMetric(reset/store, "×timer-reset")
		})
	}
}

// measure returns, and reports, the processor time of a call in nanoseconds.
func measure(b *testing.B, f func(i int)) float64 {
	b.ReportAllocs()
	began := processorTime(b)
	for i := 0; b.Loop(); i++ {
		f(i)
	}
	each := float64(processorTime(b)-began) / float64(b.N)
	b.ReportMetric(each, "cpu-ns/op")
	return each
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// timerMonitor is a monitor with a timer per target, which does for a heartbeat what
// Flink's HeartbeatMonitorImpl does: it notes the time, cancels what is scheduled,
// schedules anew, and looks whether it was canceled meanwhile.
type timerMonitor struct {
	last  atomic.Int64
	state atomic.Uint32
	clock func() time.Duration
	timer *time.Timer
}

const timerTimeout = 50 * time.Second

func (m *timerMonitor) expire() { m.state.CompareAndSwap(uint32(Running), uint32(TimedOut)) }

func (m *timerMonitor) reschedule() {
	m.last.Store(int64(m.clock()))
	if m.state.Load() != uint32(Running) {
		return
	}
	m.timer.Stop()
	m.timer = time.AfterFunc(timerTimeout, m.expire)
	if m.state.Load() != uint32(Running) {
		m.timer.Stop()
	}
}

// reset is what a timer that can be set anew makes of it.
func (m *timerMonitor) reset() {
	m.last.Store(int64(m.clock()))
	if m.state.Load() == uint32(Running) {
		m.timer.Reset(timerTimeout)
	}
}

// timers are n such monitors in a random order.
func timers(b *testing.B, n int) []*timerMonitor {
	base := time.Now()
	clock := func() time.Duration { return time.Since(base) }
	list := make([]*timerMonitor, n)
	for i := range n {
		list[i] = &timerMonitor{clock: clock}
		list[i].timer = time.AfterFunc(timerTimeout, list[i].expire)
	}
	rand.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	b.Cleanup(func() {
		for _, m := range list {
			m.timer.Stop()
		}
	})
	return list
}

// A sweep over all targets. It is needed about once per timeout only: between, the
// sweeper looks at one number.
func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			g, list := monitors(b, n)
			for _, m := range list {
				m.Heard()
			}
			measure(b, func(int) {
				g.mu.Lock()
				late := g.sweepLocked(g.services.now())
				g.mu.Unlock()
				if late {
					b.Fatal("somebody is late")
				}
			})
		})
	}
}

// A tick of the sweeper, as it happens a hundred times per interval: nobody late,
// a hundredth of the requests due.
func BenchmarkTick(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			g, _ := monitors(b, n)
			each := measure(b, func(int) { g.tick(g.services.now(), 0, 1) })
			b.ReportMetric(each/float64(n/100), "cpu-ns/request")
		})
	}
}

// A heartbeat that is received by its id, with its payload and the listener's call.
func BenchmarkReceive(b *testing.B) {
	for _, n := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("targets=%d", n), func(b *testing.B) {
			g, list := monitors(b, n)
			m := &Manager[string, string]{group: g, own: "master", listener: quiet{}, log: g.log}
			payload := "report"
			measure(b, func(i int) { m.Receive(Beat[string]{From: list[i%n].id, Payload: &payload}) })
		})
	}
}
