package heartbeat

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leatdata/leat/heartbeat/heartbeattest"
)

// plant is a master and one worker with both kinds of heartbeat, wired as an owner
// wires them: what the master thinks, and when the worker stops by itself, with the
// seconds at which it happened.
type plant struct {
	t     testing.TB
	began time.Time
	clock *shifted // the master's
	store *heartbeattest.Counters[ID]

	master, worker     *loop
	toWorker, toMaster *line

	services  *Services
	sender    *Sender[nothing, nothing]
	watch     *CounterWatch[ID]
	witnesses *Witnesses
	thought   []string

	theirs  *Services
	manager *Manager[nothing, nothing]
	fence   *Fence
	stopped []string
}

// masterSide and workerSide are the listeners of a plant.
type (
	masterSide struct{ *plant }
	workerSide struct{ *plant }
)

func newPlant(t *testing.T) *plant {
	t.Helper()
	p := &plant{
		t: t, began: time.Now(), clock: newShifted(), store: heartbeattest.NewCounters[ID](),
		master: newLoop(t), worker: newLoop(t),
		toWorker: &line{}, toMaster: &line{},
	}
	p.services = start(t, Config{Clock: p.clock.now})
	p.theirs = start(t, Config{})
	p.witnesses = newWitnesses(t, p.services.Config(), Both)
	p.fence = newFence(t, p.theirs.Config(), Both, p.theirs.Now())
	var err error
	if p.sender, err = NewSender(p.services, "master", Listener[nothing, nothing](masterSide{p}), p.master.run); err != nil {
		t.Fatal(err)
	}
	if p.manager, err = NewManager(p.theirs, "w", Listener[nothing, nothing](workerSide{p}), p.worker.run); err != nil {
		t.Fatal(err)
	}
	p.watch, err = NewCounterWatch(p.services, CounterReader[ID](p.store), p.master.run, func(events []CounterEvent[ID]) {
		for _, e := range events {
			p.step(Input{e.Worker, e.Kind.Testimony()})
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	beat, err := NewCounterBeat(p.theirs, CounterWriter[ID](p.store), "w", p.worker.run, func(began time.Duration, err error) {
		if err == nil {
			p.fence.Wrote(began)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.watch.Start(t.Context()), beat.Start(t.Context())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.watch.Stop)
	t.Cleanup(beat.Stop)
	p.master.do(p.register)
	p.worker.do(func() {
		p.fence.Leader(p.theirs.Now(), "master")
		p.askedBy()
	})
	p.tick(t)
	return p
}

// tick lets time pass for the two state machines, once per second.
func (p *plant) tick(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
			case <-end:
				return
			}
			p.master.run(func() {
				for _, c := range p.witnesses.Tick(p.services.Awake()) {
					p.note(c)
				}
			})
			p.worker.run(func() {
				if r := p.fence.Tick(p.theirs.Now()); r != 0 && len(p.stopped) == 0 {
					p.stopped = append(p.stopped, fmt.Sprintf("%.0f %s", time.Since(p.began).Seconds(), r))
				}
			})
		}
	}()
	t.Cleanup(func() {
		close(end)
		<-ended
	})
}

func (p *plant) register() {
	p.watch.Expect("w")
	p.step(Input{"w", Registered})
	p.ask()
}

// ask monitors the worker, a suspect one, too: it is asked on.
func (p *plant) ask() {
	_, err := p.sender.Monitor("w", TargetFunc[nothing](func(b Beat[nothing]) error {
		if !p.toWorker.cut.Load() {
			p.worker.run(func() { p.manager.Receive(b) })
		}
		return nil
	}))
	if err != nil {
		p.t.Error(err)
	}
}

func (p *plant) askedBy() {
	_, err := p.manager.Monitor("master", TargetFunc[nothing](func(b Beat[nothing]) error {
		if !p.toMaster.cut.Load() {
			p.master.run(func() { p.sender.Receive(b) })
		}
		return nil
	}))
	if err != nil {
		p.t.Error(err)
	}
}

func (p *plant) step(in Input) {
	if c, changed := p.witnesses.Step(p.services.Awake(), in); changed {
		p.note(c)
	}
}

func (p *plant) note(c Change) {
	p.thought = append(p.thought, fmt.Sprintf("%.0f %s", time.Since(p.began).Seconds(), c.To))
}

func (m masterSide) Timeout(ID, Loss) {
	m.step(Input{"w", Unreachable})
	m.ask()
}

func (m masterSide) ReportPayload(ID, *nothing) { m.step(Input{"w", Reached}) }

func (m masterSide) RetrievePayload(ID) *nothing { return &nothing{} }

func (w workerSide) Timeout(ID, Loss) { w.askedBy() }

func (w workerSide) ReportPayload(from ID, _ *nothing) { w.fence.Heard(w.theirs.Now(), from) }

func (w workerSide) RetrievePayload(ID) *nothing { return &nothing{} }

func (p *plant) cut(on bool) {
	p.toWorker.cut.Store(on)
	p.toMaster.cut.Store(on)
}

// want compares what happened. Seconds are those of the bubble.
func (p *plant) want(thought, stopped []string) {
	p.t.Helper()
	var gotThought, gotStopped []string
	p.master.do(func() { gotThought = slices.Clone(p.thought) })
	p.worker.do(func() { gotStopped = slices.Clone(p.stopped) })
	if !slices.Equal(gotThought, thought) || !slices.Equal(gotStopped, stopped) {
		p.t.Errorf("the master thought %q, the worker stopped %q; want %q and %q", gotThought, gotStopped, thought, stopped)
	}
}

// The table of two witnesses with everything that it is made from, fault by fault.
// The worker answers at 0.1, 10.1, 20.1 s and so on.
func TestBothHeartbeatsTogether(t *testing.T) {
	for name, c := range map[string]struct {
		faults           func(p *plant)
		thought, stopped []string
	}{
		"nothing fails": {
			faults:  func(*plant) { pass(10 * time.Minute) },
			thought: []string{"0 alive"},
		},
		"only rpc fails: suspect, then dead; the worker has stopped before": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.cut(true)
				pass(10 * time.Minute)
			},
			// 100.1 + 50, and 150 more; the worker 150 after it heard its leader.
			thought: []string{"0 alive", "150 suspect", "300 dead"},
			stopped: []string{"251 given up"},
		},
		"rpc comes back in time: nothing is lost": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.cut(true)
				pass(130 * time.Second)
				p.cut(false)
				pass(10 * time.Minute)
			},
			thought: []string{"0 alive", "150 suspect", "240 alive"},
		},
		"the store is away for ten minutes: work goes on": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.store.Hang(true)
				pass(10 * time.Minute)
				p.store.Hang(false)
				pass(time.Minute)
			},
			thought: []string{"0 alive"},
		},
		"the worker cannot write: its counter is flagged, and it works on": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.store.FailWrites(errors.New("no access"))
				pass(10 * time.Minute)
			},
			thought: []string{"0 alive", "~ alive (stale counter)"},
		},
		"both fail: dead after the timeout, and the worker stops after the grace": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.cut(true)
				p.store.FailWrites(errors.New("no access"))
				pass(10 * time.Minute)
			},
			thought: []string{"0 alive", "~ alive (stale counter)", "150 dead"},
			stopped: []string{"~ orphaned"},
		},
		"the master stands still for three timeouts: it thinks nothing of it": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.clock.jump(150 * time.Second)
				pass(10 * time.Minute)
			},
			thought: []string{"0 alive"},
		},
		"a suspect's time does not pass while the master stands still": {
			faults: func(p *plant) {
				pass(105 * time.Second)
				p.cut(true)
				pass(100 * time.Second)
				p.clock.jump(time.Hour)
				pass(30 * time.Second)
				p.cut(false)
				pass(10 * time.Minute)
			},
			thought: []string{"0 alive", "150 suspect", "240 alive"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := newPlant(t)
				c.faults(p)
				// When a write was due is chance: those moments are left out.
				for _, got := range []struct {
					l    *loop
					list *[]string
					want []string
				}{{p.master, &p.thought, c.thought}, {p.worker, &p.stopped, c.stopped}} {
					got.l.do(func() {
						for i := range min(len(*got.list), len(got.want)) {
							if w := got.want[i]; w[0] == '~' {
								(*got.list)[i] = "~" + (*got.list)[i][len(fmt.Sprint(numberOf((*got.list)[i]))):]
							}
						}
					})
				}
				p.want(c.thought, c.stopped)
			})
		})
	}
}

// numberOf is the number that a text begins with.
func numberOf(text string) (n int) {
	_, _ = fmt.Sscan(text, &n)
	return n
}
