package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/heartbeat/heartbeattest"
)

// wantError holds that an error names everything that is wrong.
func wantError(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one of %q", texts)
		return
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not say %q", err, text)
		}
	}
}

// What a manager or a sender cannot do without is asked for when it is made, all of
// it at once, and not missed on the owner's loop later.
func TestManagersAreNotMadeWithoutWhatTheyNeed(t *testing.T) {
	t.Parallel()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var nobody *owner // A nil pointer in the interface is nobody as well.
	run := func(func()) {}
	type args struct {
		s        *Services
		own      ID
		listener Listener[string, string]
		run      Executor
	}
	for name, c := range map[string]struct {
		args
		want []string
	}{
		"nothing":        {args{}, []string{"services", "own id is empty", "no listener", "no executor"}},
		"no services":    {args{nil, "a", quiet{}, run}, []string{"of a: ", "there are no services: make them with New"}},
		"no id":          {args{s, "", quiet{}, run}, []string{"own id is empty"}},
		"no listener":    {args{s, "a", nil, run}, []string{"of a: ", "no listener"}},
		"a nil listener": {args{s, "a", nobody, run}, []string{"of a: ", "no listener"}},
		"no executor":    {args{s, "a", quiet{}, nil}, []string{"of a: ", "no executor"}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := NewManager(c.s, c.own, c.listener, c.run)
			wantError(t, err, append(c.want, "make the heartbeat manager")...)
			if m != nil {
				t.Error("there is a manager as well")
			}
			sender, err := NewSender(c.s, c.own, c.listener, c.run)
			wantError(t, err, append(c.want, "make the heartbeat sender")...)
			if sender != nil {
				t.Error("there is a sender as well")
			}
		})
	}
	s.Stop()
	if _, err := NewManager(s, "a", Listener[string, string](quiet{}), run); !errors.Is(err, ErrStopped) {
		t.Errorf("after the stop: %v", err)
	}
}

// What cannot be monitored is refused, and nothing of it stays.
func TestWhatCannotBeMonitoredIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{})
		m, o := newActive(t, s, "master")
		var nobody *line
		for name, c := range map[string]struct {
			id     ID
			target Target[string]
			want   string
		}{
			"an empty id":    {"", nowhere(), "the id is empty"},
			"oneself":        {"master", nowhere(), "own id"},
			"no target":      {"a", nil, "no target"},
			"a nil target":   {"a", nobody, "no target"},
			"a nil function": {"a", TargetFunc[string](nil), "no target"},
		} {
			mon, err := m.Monitor(c.id, c.target)
			wantError(t, err, c.want, fmt.Sprintf("monitor %q for master", c.id))
			if mon != nil {
				t.Errorf("%s: there is a monitor as well", name)
			}
		}
		if n := m.Targets(); n != 0 {
			t.Errorf("%d targets", n)
		}
		o.do(func() {
			if m.Receive(Beat[string]{From: "master", Request: true}) || m.Receive(Beat[string]{}) {
				t.Error("a heartbeat from oneself, or from nobody, was taken")
			}
		})
		pass(5 * time.Minute) // Nothing of it fails later.
		o.wantLost()
		m.Stop()
		if _, err := m.Monitor("a", nowhere()); !errors.Is(err, ErrStopped) {
			t.Errorf("after the stop: %v", err)
		}
	})
}

// The same for both sides of the counter heartbeat.
func TestCountersAreNotMadeWithoutWhatTheyNeed(t *testing.T) {
	t.Parallel()
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	store := heartbeattest.NewCounters[workerID]()
	var nobody *counters
	run := func(func()) {}
	written, told := func(time.Duration, error) {}, func([]CounterEvent[workerID]) {}
	beat := func(s *Services, store CounterWriter[workerID], w workerID, run Executor, f func(time.Duration, error), want ...string) {
		t.Helper()
		b, err := NewCounterBeat(s, store, w, run, f)
		wantError(t, err, append(want, "make the heartbeat counter")...)
		if b != nil {
			t.Error("there is a counter as well")
		}
	}
	beat(nil, nil, "", nil, nil, "services", "no store", "name is empty", "no executor", "how a write ended")
	beat(nil, store, "w", run, written, "of w: ", "services")
	beat(s, nil, "w", run, written, "no store")
	beat(s, nobody, "w", run, written, "no store")
	beat(s, store, "", run, written, "name is empty")
	beat(s, store, "w", nil, written, "no executor")
	beat(s, store, "w", run, nil, "how a write ended")
	watch := func(s *Services, store CounterReader[workerID], run Executor, f func([]CounterEvent[workerID]), want ...string) {
		t.Helper()
		w, err := NewCounterWatch(s, store, run, f)
		wantError(t, err, append(want, "make the heartbeat counters' watch")...)
		if w != nil {
			t.Error("there is a watch as well")
		}
	}
	watch(nil, nil, nil, nil, "services", "no store", "no executor", "nobody is told")
	watch(nil, store, run, told, "services")
	watch(s, nil, run, told, "no store")
	watch(s, nobody, run, told, "no store")
	watch(s, store, nil, told, "no executor")
	watch(s, store, run, nil, "nobody is told")
}

// The state machines look at their configuration, too: with it wrong they would
// declare everybody dead, or nobody.
func TestStateMachinesAreNotMadeFromNonsense(t *testing.T) {
	t.Parallel()
	for _, kinds := range []Kinds{0, Both + 1} {
		_, err := NewWitnesses(Config{}, kinds)
		wantError(t, err, "make the heartbeat witnesses", "give RPC, Counter or Both")
		_, err = NewFence(Config{}, kinds, 0)
		wantError(t, err, "make the heartbeat fence", "give RPC, Counter or Both")
	}
	wrong := Config{SuspectLimit: -1, Counter: CounterConfig{MaxMisses: -1}}
	_, err := NewWitnesses(wrong, Both)
	wantError(t, err, "heartbeat.suspect-limit", "heartbeat.counter.max-misses")
	_, err = NewFence(wrong, Both, 0)
	wantError(t, err, "heartbeat.suspect-limit", "heartbeat.counter.max-misses")
	_, err = NewCounterTally[workerID](wrong.Counter)
	wantError(t, err, "heartbeat.counter.max-misses")
}

// Whoever means never and writes the longest time of all would, by overflow, lose
// everybody at once. It is refused, and so is all else that could overflow.
func TestTimesDoNotOverflow(t *testing.T) {
	t.Parallel()
	const forever = time.Duration(math.MaxInt64)
	_, err := New(Config{
		Timeout: forever, SuspectLimit: forever, OrphanGrace: forever,
		Counter: CounterConfig{Interval: forever, CheckPeriod: forever, MaxMisses: math.MaxInt},
	})
	wantError(t, err, "heartbeat.timeout is", "heartbeat.suspect-limit is", "heartbeat.orphan-grace is",
		"heartbeat.counter.interval is", "heartbeat.counter.check-period is", "heartbeat.counter.max-misses is", "at most 8760h0m0s")
	// The number of workers comes from another process.
	for _, workers := range []int{math.MinInt, -1, 0, 1} {
		if every := (CounterConfig{}).Every(workers); every != 5*time.Second {
			t.Errorf("%d workers: every %s", workers, every)
		}
	}
	if every := (CounterConfig{MaxWrites: 1}).Every(math.MaxInt); every < 1000*time.Hour {
		t.Errorf("very many workers: every %s", every)
	}
}

// The longest times that are allowed do not overflow: nobody is lost by them.
func TestTheLongestTimesLoseNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cfg := Config{Interval: time.Minute, Timeout: maxTime, SuspectLimit: maxTime, OrphanGrace: maxTime}
		c := newCrowd(t, 10, cfg)
		c.cut(0, 10, true)
		pass(time.Hour)
		c.clock.jump(maxTime)
		pass(time.Hour)
		c.master.wantLost()
	})
}

// The zero Handle is that of a connection over which nobody has registered yet.
func TestZeroHandleNotesNothing(t *testing.T) {
	t.Parallel()
	var h Handle
	h.Heard()
}

// An executor that runs what it is given within the call breaks its contract. It is
// told so, nothing panics, and who refuses is lost all the same.
func TestExecutorThatDoesNotQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		log := newLog()
		s := start(t, Config{Interval: time.Second, Timeout: time.Minute, FailureThreshold: 1, Logger: log.logger()})
		var lost []ID
		l := &component[string, string]{}
		m, err := NewSender(s, "master", Listener[string, string](l), func(f func()) { f() })
		if err != nil {
			t.Fatal(err)
		}
		refuses := TargetFunc[string](func(Beat[string]) error { return dialError() })
		for i := range 300 { // Three in each slot: the first refusal comes in the middle of a turn.
			monitor(t, m.Manager, name(i), refuses)
		}
		pass(10 * time.Second)
		s.Stop()
		if lost = l.lost; len(lost) != 300 {
			t.Errorf("%d lost, want 300", len(lost))
		}
		if !strings.Contains(log.text(), "it has to queue it") {
			t.Errorf("nothing was said about it:\n%s", log.text())
		}
	})
}

// A listener that panics, on a loop that bears it, costs its own call and no more.
func TestListenerThatPanics(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := start(t, Config{Interval: time.Second, Timeout: 5 * time.Second})
		o := newOwner(t)
		m, err := NewSender(s, "master", Listener[string, string](o), func(f func()) {
			o.run(func() {
				defer func() { _ = recover() }()
				f()
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		o.whenLost(func(id ID, _ Loss) { panic("lost " + string(id)) })
		good := answering(m, o, "good")
		monitor(t, m.Manager, "good", good)
		for _, id := range []ID{"a", "b", "c"} {
			monitor(t, m.Manager, id, nowhere())
		}
		pass(time.Minute)
		o.wantLost("a", "b", "c")
		for range 2 {
			mon := monitor(t, m.Manager, "d", nowhere())
			mon.Failed(dialError())
			mon.Failed(dialError())
			pass(time.Second)
		}
		o.wantLost("a", "b", "c", "d", "d")
		if n := good.beats.Load(); n < 55 {
			t.Errorf("%d requests in a minute", n)
		}
	})
}

// A context that has ended is no error: nothing runs, and nothing is left.
func TestStartWithAnEndedContext(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(ended); err != nil {
			t.Fatal(err)
		}
		m, o := newActive(t, s, "master")
		to := nowhere()
		monitor(t, m.Manager, "worker", to)
		pass(time.Hour)
		o.wantLost()
		if to.beats.Load() != 0 {
			t.Error("a request was sent after the end")
		}
		s.Stop()
	})
}
