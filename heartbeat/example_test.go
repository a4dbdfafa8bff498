package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/heartbeat/heartbeattest"
)

// newLoop starts a component's message loop: what it is given runs one after the
// other. What does not fit is dropped, as an Executor may.
func newLoop() (run heartbeat.Executor, end func()) {
	queue := make(chan func(), 64)
	go func() {
		for f := range queue {
			f()
		}
	}()
	return func(f func()) {
		select {
		case queue <- f:
		default:
		}
	}, func() { close(queue) }
}

// Slots and Orders are the payloads of the example, each one way.
type (
	Slots  struct{ Free int }
	Orders struct{ Text string }
)

// Master is told what the workers report, and who is lost.
type Master struct {
	reports chan string
	lost    chan string
}

func (m *Master) Timeout(id heartbeat.ID, loss heartbeat.Loss) {
	m.lost <- fmt.Sprintf("%s, by %s", id, loss.Reason)
}

func (m *Master) ReportPayload(id heartbeat.ID, s *Slots) {
	select {
	case m.reports <- fmt.Sprintf("%s has %d slots free", id, s.Free):
	default:
	}
}

func (m *Master) RetrievePayload(id heartbeat.ID) *Orders { return &Orders{"stay, " + string(id)} }

// Worker answers with its slots.
type Worker struct{ orders chan string }

func (w *Worker) Timeout(id heartbeat.ID, loss heartbeat.Loss) {}

func (w *Worker) ReportPayload(_ heartbeat.ID, o *Orders) {
	select {
	case w.orders <- o.Text:
	default:
	}
}

func (w *Worker) RetrievePayload(heartbeat.ID) *Slots { return &Slots{Free: 3} }

// A master and a worker in one process: each has services, a message loop, and the
// other as its target. What travels is a Beat, by whatever means.
func Example() {
	cfg := heartbeat.Config{Interval: 20 * time.Millisecond, Timeout: 400 * time.Millisecond}
	services, err := heartbeat.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := services.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	masterLoop, endMaster := newLoop()
	workerLoop, endWorker := newLoop()
	master := &Master{reports: make(chan string, 1), lost: make(chan string, 1)}
	worker := &Worker{orders: make(chan string, 1)}
	sender, err1 := heartbeat.NewSender(services, "master", heartbeat.Listener[Slots, Orders](master), masterLoop)
	manager, err2 := heartbeat.NewManager(services, "worker-1", heartbeat.Listener[Orders, Slots](worker), workerLoop)
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}

	// When the worker has registered, both start to watch.
	_, err1 = sender.Monitor("worker-1", heartbeat.TargetFunc[Orders](func(b heartbeat.Beat[Orders]) error {
		workerLoop(func() { manager.Receive(b) })
		return nil
	}))
	_, err2 = manager.Monitor("master", heartbeat.TargetFunc[Slots](func(b heartbeat.Beat[Slots]) error {
		masterLoop(func() { sender.Receive(b) })
		return nil
	}))
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-worker.orders)
	fmt.Println(<-master.reports)

	manager.Stop() // The worker answers no more.
	fmt.Println("lost:", <-master.lost)
	services.Stop()
	endMaster()
	endWorker()
	// Output:
	// stay, worker-1
	// worker-1 has 3 slots free
	// lost: worker-1, by silence
}

// Both kinds of heartbeat together: a worker that cannot be reached, but whose
// counter moves, keeps its work for a while.
func ExampleWitnesses() {
	w, err := heartbeat.NewWitnesses(heartbeat.Config{}, heartbeat.Both)
	if err != nil {
		fmt.Println(err)
		return
	}
	tell := func(now time.Duration, kind heartbeat.Testimony) {
		if c, changed := w.Step(now, heartbeat.Input{Worker: "worker-1", Kind: kind}); changed {
			fmt.Printf("%s: %s is %s\n", now, c.Worker, c.To)
		}
	}
	tell(0, heartbeat.Registered)
	tell(5*time.Second, heartbeat.CounterMoves)
	tell(80*time.Second, heartbeat.Unreachable)
	tell(95*time.Second, heartbeat.Reached)
	tell(160*time.Second, heartbeat.Unreachable)
	for _, c := range w.Tick(310 * time.Second) {
		fmt.Printf("5m10s: %s is %s\n", c.Worker, c.To)
	}
	tell(320*time.Second, heartbeat.Reached) // Not enough: it has to register.
	tell(330*time.Second, heartbeat.Registered)
	// Output:
	// 0s: worker-1 is alive
	// 1m20s: worker-1 is suspect
	// 1m35s: worker-1 is alive
	// 2m40s: worker-1 is suspect
	// 5m10s: worker-1 is dead
	// 5m30s: worker-1 is alive
}

// A worker without a master goes on while it can write its counter; without both it
// stops by itself.
func ExampleFence() {
	fence, err := heartbeat.NewFence(heartbeat.Config{}, heartbeat.Both, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fence.Heard(10*time.Second, "master-1")
	fence.Wrote(40 * time.Second)
	fmt.Println(fence.Tick(99*time.Second), fence.Next())
	fmt.Println(fence.Tick(100 * time.Second))
	fence.Registered(120 * time.Second)
	fmt.Println(fence.Tick(121 * time.Second))
	// Output:
	// not fenced 1m40s
	// orphaned
	// not fenced
}

// What four reads without a change mean. The values say nothing by themselves.
func ExampleCounterTally() {
	tally, err := heartbeat.NewCounterTally[string](heartbeat.CounterConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range []uint64{7, 8, 3, 3, 3, 3, 3, 4} {
		fmt.Println(a, tally.Read(map[string]uint64{"a": a}))
	}
	// Output:
	// 7 [{a seen}]
	// 8 []
	// 3 []
	// 3 []
	// 3 []
	// 3 []
	// 3 [{a lost}]
	// 4 [{a moved}]
}

// A worker's counter and the master that watches it, over a store of any kind.
func ExampleCounterWatch() {
	services, err := heartbeat.New(heartbeat.Config{Counter: heartbeat.CounterConfig{
		Interval: 20 * time.Millisecond, CheckPeriod: 20 * time.Millisecond, MaxMisses: 20,
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	store := heartbeattest.NewCounters[string]()
	workerLoop, endWorker := newLoop()
	masterLoop, endMaster := newLoop()
	events := make(chan heartbeat.CounterEvent[string], 8)
	beat, err1 := heartbeat.NewCounterBeat(services, heartbeat.CounterWriter[string](store), "worker-1", workerLoop,
		func(time.Duration, error) {})
	watch, err2 := heartbeat.NewCounterWatch(services, heartbeat.CounterReader[string](store), masterLoop,
		func(list []heartbeat.CounterEvent[string]) {
			for _, e := range list {
				events <- e
			}
		})
	if err := errors.Join(err1, err2); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := errors.Join(beat.Start(ctx), watch.Start(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-events)
	beat.Stop()
	fmt.Println(<-events)
	watch.Stop()
	endWorker()
	endMaster()
	// Output:
	// {worker-1 seen}
	// {worker-1 lost}
}
