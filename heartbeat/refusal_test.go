package heartbeat

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// broken is a line whose sends fail.
type broken struct {
	err   atomic.Pointer[error]
	to    Target[string]
	tries atomic.Int64
}

func (b *broken) Send(beat Beat[string]) error {
	b.tries.Add(1)
	if err := b.err.Load(); err != nil {
		return *err
	}
	return b.to.Send(beat)
}

func (b *broken) fail(err error) { b.err.Store(&err) }

// dialError is how net tells that nobody listens.
func dialError() error {
	return fmt.Errorf("could not connect: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)})
}

// A killed process's address refuses connections: it is found after two refused
// requests, two intervals at most, long before the timeout.
func TestRefusedConnectionsAreCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for threshold := 1; threshold <= 4; threshold++ {
			s := start(t, Config{Interval: time.Second, Timeout: time.Minute, FailureThreshold: threshold})
			m, o := newActive(t, s, "master")
			b := &broken{to: answering(m, o, "worker")}
			mon := monitor(t, m.Manager, "worker", b)
			pass(10*time.Second + 300*time.Millisecond)
			at, before := time.Since(o.began), b.tries.Load()
			b.fail(dialError())
			pass(time.Duration(threshold)*time.Second + time.Millisecond)
			o.wantLost("worker")
			l := o.lost()[0]
			if l.Reason != Refusals || l.at-at > time.Duration(threshold)*time.Second || mon.State() != TimedOut {
				t.Errorf("threshold %d: lost by %s after %s, state %s", threshold, l.Reason, l.at-at, mon.State())
			}
			if n := b.tries.Load() - before; n != int64(threshold) {
				t.Errorf("threshold %d: %d requests", threshold, n)
			}
			pass(70 * time.Second)
			o.wantLost("worker")
			s.Stop()
		}
	})
}

// answering is a target that answers every request.
func answering(m *active, o *owner, id ID) *line {
	return &line{to: func(Beat[string]) { o.run(func() { m.Receive(Beat[string]{From: id}) }) }}
}

// Other errors count for nothing but silence; a heartbeat between two refusals
// starts the count anew; and a threshold of -1 counts none.
func TestOnlyRefusalsInARowCount(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{Interval: time.Second, Timeout: 20 * time.Second})
		m, o := newActive(t, s, "master")
		b := &broken{to: answering(m, o, "worker")}
		mon := monitor(t, m.Manager, "worker", b)
		b.fail(errors.New("queue is full"))
		pass(19 * time.Second)
		o.wantLost()
		for range 20 {
			mon.Failed(nil)
			mon.Failed(dialError())
			pass(time.Second)
			mon.Heard()
			pass(time.Second)
		}
		o.wantLost()
		mon.Failed(dialError())
		pass(time.Millisecond)
		mon.Failed(fmt.Errorf("send: %w", ErrRefused))
		pass(time.Millisecond)
		o.wantLost("worker")

		off := start(t, Config{FailureThreshold: -1})
		m, o = newActive(t, off, "master")
		mon = monitor(t, m.Manager, "worker", answering(m, o, "worker"))
		for range 100 {
			mon.Failed(dialError())
		}
		pass(time.Minute)
		o.wantLost()
	})
}

// Who was heard while its refusals waited to be judged is not lost.
func TestAHeartbeatSavesFromRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newActive(t, start(t, Config{}), "master")
		mon := monitor(t, m.Manager, "worker", answering(m, o, "worker"))
		pass(25 * time.Second)
		o.busy(time.Second)
		pass(100 * time.Millisecond)
		mon.Failed(dialError())
		mon.Failed(dialError())
		pass(100 * time.Millisecond)
		mon.Heard()
		pass(time.Minute)
		o.wantLost()
	})
}

// Generations: what still holds the monitor of a replaced connection can neither
// keep its successor alive, nor fail it, nor cancel it.
func TestAReplacedConnectionChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		m, o := newPassive(t, start(t, Config{}), "worker")
		old := monitor(t, m, "master", nowhere())
		pass(45 * time.Second)
		m.Unmonitor("master")
		mon := monitor(t, m, "master", nowhere())
		if mon.Generation() <= old.Generation() {
			t.Errorf("generations %d, %d", old.Generation(), mon.Generation())
		}
		pass(10 * time.Second) // The old one's deadline passes.
		o.wantLost()
		old.Failed(dialError())
		old.Failed(dialError())
		if old.Cancel() || old.State() != Canceled {
			t.Error("the old monitor could be decided twice")
		}
		pass(35 * time.Second)
		old.Heard()
		o.wantLost()
		if _, ok := m.LastHeartbeatFrom("master"); !ok {
			t.Error("the successor is gone")
		}
		pass(6 * time.Second)
		o.wantLost("master")
		if l := o.lost()[0]; l.Generation != mon.Generation() {
			t.Errorf("generation %d was lost", l.Generation)
		}
	})
}

// The passive side asks nobody, so that a killed peer's address has nothing of its to
// refuse: it finds the loss by the timeout; or as soon as its owner tells how other
// messages to that address have failed.
func TestPassiveSideOfAKilledPeer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		for _, told := range []bool{false, true} {
			m, o := newPassive(t, start(t, Config{}), "worker")
			mon := monitor(t, m, "master", &broken{})
			for range 3 {
				o.do(func() { m.Receive(Beat[string]{From: "master"}) })
				pass(10 * time.Second)
			}
			killed := time.Since(o.began) - 10*time.Second
			if told {
				mon.Failed(dialError())
				mon.Failed(dialError())
			}
			pass(time.Minute)
			o.wantLost("master")
			l := o.lost()[0]
			if after := l.at - killed; told && (l.Reason != Refusals || after > 11*time.Second) ||
				!told && (l.Reason != Silence || after < 50*time.Second || after > 51*time.Second) {
				t.Errorf("told of refusals: %t; lost by %s after %s", told, l.Reason, after)
			}
		}
	})
}
