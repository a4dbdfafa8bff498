package heartbeat_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/embedded"
	"github.com/leatdata/leat/heartbeat"
)

// The counters of every coordination store, ha/zookeeper, ha/etcd and ha/embedded,
// are an ha.Counters: that fits both sides of the counter heartbeat as it is, and
// neither package knows the other.
var (
	_ heartbeat.CounterWriter[ha.WorkerID] = ha.Counters(nil)
	_ heartbeat.CounterReader[ha.WorkerID] = ha.Counters(nil)
)

// seen are a master's counter events, in the order in which they came.
type seen struct {
	mu     sync.Mutex
	events []string
}

func (s *seen) told(events []heartbeat.CounterEvent[ha.WorkerID]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		s.events = append(s.events, fmt.Sprintf("%s %s", e.Worker, e.Kind))
	}
}

func (s *seen) want(t *testing.T, want ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.events, want) {
		t.Errorf("the counters showed %q, want %q", s.events, want)
	}
}

// The counter heartbeat over a coordination store of ours, from process to process:
// two workers and a master, each with services of its own.
func TestCountersOverACoordinationStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		services, err := heartbeat.New(heartbeat.Config{})
		if err != nil {
			t.Fatal(err)
		}
		var server embedded.Server
		open := func(name string) ha.Counters {
			node, err := server.Factory(t.Context(), ha.Config{Name: name})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := node.Close(context.Background()); err != nil {
					t.Errorf("close %s: %v", name, err)
				}
			})
			return node.Counters()
		}
		loop := func() heartbeat.Executor {
			run, end := newLoop()
			t.Cleanup(end)
			return run
		}
		beat := func(w ha.WorkerID, store ha.Counters) *heartbeat.CounterBeat[ha.WorkerID] {
			b, err := heartbeat.NewCounterBeat(services, heartbeat.CounterWriter[ha.WorkerID](store), w, loop(),
				func(_ time.Duration, err error) {
					if err != nil {
						t.Errorf("write the counter of %s: %v", w, err)
					}
				})
			if err == nil {
				err = b.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(b.Stop)
			return b
		}
		var master seen
		counters := open("master")
		watch, err := heartbeat.NewCounterWatch(services, heartbeat.CounterReader[ha.WorkerID](counters), loop(), master.told)
		if err == nil {
			err = watch.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(watch.Stop)

		first := open("w1")
		a := beat("w1 #1", first)
		pass(7 * time.Second) // A read lies between the two.
		beat("w2 #1", open("w2"))
		pass(10 * time.Minute)
		master.want(t, "w1 #1 seen", "w2 #1 seen")
		a.Stop()
		pass(26 * time.Second)
		master.want(t, "w1 #1 seen", "w2 #1 seen", "w1 #1 lost")
		beat("w1 #1", first) // It counts from elsewhere, and moves.
		pass(6 * time.Second)
		master.want(t, "w1 #1 seen", "w2 #1 seen", "w1 #1 lost", "w1 #1 moved")
		if n := watch.Workers(); n != 2 {
			t.Errorf("%d workers", n)
		}
	})
}

// pass lets bubble time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }
