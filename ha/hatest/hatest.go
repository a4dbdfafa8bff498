// Package hatest is the contract of ha.Services: every implementation passes it.
// It uses nothing of an implementation but what a [World] offers: processes that
// are opened by name, and faults that happen to them.
//
// It waits for signals and conditions only. In a synctest bubble, whose clock
// jumps, it takes no time; against real servers it takes what they take.
package hatest

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
)

// Suite is an implementation under test.
type Suite struct {
	// World makes a new, empty cluster for one test. What it starts it ends by
	// t.Cleanup, or, in a bubble, before Run's function returns: see World.Close.
	World func(t *testing.T) *World
	// Bubble runs a test: synctest.Test, or nil to run it as it is.
	Bubble func(t *testing.T, test func(t *testing.T))
	// Parallel runs the tests beside each other: each has a world of its own.
	Parallel bool
	// Own are further subtests that run as those of the suite do.
	Own map[string]func(t *testing.T, w *World)
}

// World is a cluster's store, and the ways to it. Faults that a world has not
// are nil: their tests are then not part of the suite.
type World struct {
	// Open makes the services of a new process.
	Open func(t *testing.T, name string, cfg ha.Config) ha.Services
	// Timeout is the session timeout in use.
	Timeout time.Duration
	// Slack is what may come on top of a bound: the store's tick, the network.
	Slack time.Duration
	// Pulse calls f, and returns how long the store has taken at most to serve somebody
	// else meanwhile: ten times that may come on top of a bound, on a busy machine. nil:
	// the store takes no time.
	Pulse func(t *testing.T, f func()) time.Duration
	// Rounds is how often a schedule of cuts is repeated; 0: several times.
	Rounds int
	// Close ends the world, when all its services are closed; may be nil.
	Close func()

	// Cut loses what goes between a process and the store, both ways, without a
	// word; Heal ends it.
	Cut, Heal func(name string)
	// Expire has the store end the process's session.
	Expire func(name string)
	// DropReply loses the reply of the process's next write.
	DropReply func(name string)
	// Wipe removes all of the cluster from the store, sessions apart.
	Wipe func()
	// Backup copies the store; what it returns restores that copy.
	Backup func() (restore func())
	// Tamper sets the leader record of a component, or removes it (nil).
	Tamper func(component string, value []byte)
	// Corrupt changes the content of all blobs in a folder.
	Corrupt func(t *testing.T, folder string)
}

// measure calls f, and returns what it has taken, and what a busy machine excuses.
func (w *World) measure(t *testing.T, f func()) (took, excused time.Duration) {
	t.Helper()
	start := time.Now()
	timed := func() {
		f()
		took = time.Since(start)
	}
	if w.Pulse == nil {
		timed()
		return took, 0
	}
	excused = 10 * w.Pulse(t, timed)
	return took, excused
}

// patience bounds every wait: long, since a machine may be slow.
const patience = 2 * time.Minute

// Run runs the whole contract.
func Run(t *testing.T, s Suite) {
	probe := s.World(t)
	if probe.Close != nil {
		probe.Close()
	}
	tests := map[string]func(*testing.T, *World){}
	for _, group := range []map[string]func(*testing.T, *World){
		elections(), retrievals(), stores(), blobs(), faults(probe), cases(probe), s.Own,
	} {
		maps.Copy(tests, group)
	}
	run(t, s, tests)
}

// RunStores runs the contract of the stores and the election alone: for
// implementations whose retrieval knows fixed addresses.
func RunStores(t *testing.T, s Suite) {
	tests := map[string]func(*testing.T, *World){}
	for _, group := range []map[string]func(*testing.T, *World){stores(), blobs(), s.Own} {
		maps.Copy(tests, group)
	}
	run(t, s, tests)
}

func run(t *testing.T, s Suite, tests map[string]func(*testing.T, *World)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if s.Parallel {
				t.Parallel()
			}
			body := func(t *testing.T) {
				w := s.World(t)
				if w.Close != nil {
					defer w.Close()
				}
				test(t, w)
			}
			if s.Bubble != nil {
				s.Bubble(t, body)
			} else {
				body(t)
			}
		})
	}
}

// node is a process of a test.
type node struct {
	ha.Services
	t     *testing.T
	name  string
	world *World
}

// open opens a process; close it.
func (w *World) open(t *testing.T, name string) *node {
	t.Helper()
	return w.openWith(t, name, ha.Config{})
}

func (w *World) openWith(t *testing.T, name string, cfg ha.Config) *node {
	t.Helper()
	cfg.Name = name
	return &node{Services: w.Open(t, name, cfg), t: t, name: name, world: w}
}

// close ends the process in an orderly way.
func (n *node) close() {
	n.t.Helper()
	if err := n.Close(within(n.t)); err != nil {
		n.t.Errorf("close %s: %v", n.name, err)
	}
}

// compete lets a component of the process take part.
func (n *node) compete(component string) *Contender {
	n.t.Helper()
	c := NewContender(n.Election(component))
	if err := n.Election(component).Start(c); err != nil {
		n.t.Fatal(err)
	}
	return c
}

// lead opens a process that leads, with one component.
func (w *World) lead(t *testing.T, name string) (*node, *Contender, ha.Term) {
	t.Helper()
	n := w.open(t, name)
	c := n.compete("dispatcher")
	return n, c, c.Leads(t).Term
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}
