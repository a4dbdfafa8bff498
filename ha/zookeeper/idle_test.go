package zookeeper

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

// requests are what a process has sent to the store so far, by type.
func (p *process) requests() map[testenv.ZooKeeperOp]int {
	all := map[testenv.ZooKeeperOp]int{}
	p.each(func(proxy *testenv.Proxy) {
		for op, n := range proxy.ZooKeeperRequests() {
			all[op] += n
		}
	})
	return all
}

func (p *process) connections() (n int) {
	p.each(func(proxy *testenv.Proxy) { n += proxy.Accepted() })
	return n
}

// A leader and a follower that idle send nothing but pings and syncs.
func TestIdleSendsNothingButPingsAndSyncs(t *testing.T) {
	t.Parallel()
	const timeout = 24 * time.Second
	c := newCluster(t, testenv.ZooKeeper(t), timeout)
	names := []string{"a", "b"}
	listener := &hatest.Listener{}
	for _, name := range names {
		services := c.open(t, name, ha.Config{Name: name})
		defer closeServices(t, services)
		contender := hatest.NewContender(services.Election(component))
		if err := services.Election(component).Start(contender); err != nil {
			t.Fatal(err)
		}
		retrieval := services.Retrieval(component)
		defer retrieval.Stop()
		if err := retrieval.Start(listener); err != nil {
			t.Fatal(err)
		}
		if name == "a" {
			services.Election(component).Confirm(contender.Leads(t).ID, "a:1")
		}
		listener.Hears(t, "the leader", func(l ha.Leader) bool { return l.Address == "a:1" })
		listener = &hatest.Listener{}
	}
	// The second has looked, listed itself and watches: then it is quiet.
	for {
		before, connections := map[string]map[testenv.ZooKeeperOp]int{}, map[string]int{}
		for _, name := range names {
			before[name], connections[name] = c.process(name).requests(), c.process(name).connections()
		}
		elapse(timeout / 3)
		quiet := true
		for _, name := range names {
			now := c.process(name).requests()
			if c.process(name).connections() != connections[name] {
				quiet = false // a busy machine has lost one, and all is watched anew
			}
			maps.DeleteFunc(now, func(op testenv.ZooKeeperOp, n int) bool {
				return op == testenv.ZooKeeperPing || op == testenv.ZooKeeperSync && n > before[name][op] || n == before[name][op]
			})
			if len(now) > 0 {
				t.Logf("%s has sent %v since %v", name, now, before[name])
				quiet = false
			}
		}
		if quiet {
			break
		}
	}
}

// 1,000 starts and stops of components, within 40 of processes, leave no session, watch
// or node in the store. (Goroutines are looked for when all tests of the package have
// ended.)
func TestThousandCyclesLeaveNothing(t *testing.T) {
	t.Parallel()
	const clusters, cycles = 8, 5
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1})
	all := make([]*cluster, clusters)
	for i := range all {
		all[i] = newCluster(t, e, steadyTimeout)
	}
	sessions, watches, connections := e.Sessions(t), e.Watches(t), e.Connections(t)
	after := make([][]string, clusters)
	var running sync.WaitGroup
	for n, c := range all {
		running.Go(func() {
			for i := range cycles {
				err := cycle(t, c)
				if err == nil && i == 0 {
					after[n], _, err = c.tree()
				}
				if err != nil {
					t.Errorf("cycle %d: %v", i, err)
					return
				}
			}
		})
	}
	running.Wait()
	awaitTrue(t, "the store has let go of all sessions, watches and connections", func() bool {
		return e.Sessions(t) == sessions && e.Watches(t) == watches && e.Connections(t) == connections
	})
	for n, c := range all {
		if paths, _, err := c.tree(); err != nil || !slices.Equal(paths, after[n]) {
			t.Errorf("there are %v, after the first cycle %v, %v", paths, after[n], err)
		}
	}
}

// cycle is a process's life, with 25 components that come and go one after the other.
func cycle(t *testing.T, c *cluster) error {
	cfg := ha.Config{Name: "a", StorageDir: c.storage, SessionTimeout: c.timeout}
	services, err := New(t.Context(), cfg, Options{Quorum: c.ensemble.Addrs(), Root: c.root})
	if err != nil {
		return err
	}
	// It stays, so that the process leads on.
	stays := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(stays); err != nil {
		return err
	}
	g := stays.Leads(t)
	for i := range 25 {
		name := fmt.Sprint(i)
		contender, listener := hatest.NewContender(services.Election(name)), &hatest.Listener{}
		retrieval := services.Retrieval(name)
		if err := errors.Join(services.Election(name).Start(contender), retrieval.Start(listener)); err != nil {
			return err
		}
		services.Election(name).Confirm(contender.Leads(t).ID, "a:1")
		listener.Hears(t, "the leader", func(l ha.Leader) bool { return l.Address == "a:1" })
		err := services.Election(name).Stop(t.Context())
		listener.Hears(t, "that it has left", ha.Leader.None)
		retrieval.Stop()
		if err != nil {
			return err
		}
	}
	return errors.Join(
		services.Jobs().SetRunning(t.Context(), g.Term, "j"),
		services.Jobs().Finish(t.Context(), g.Term, "j", nil),
		services.Jobs().SetClean(t.Context(), g.Term, "j"),
		services.Jobs().Forget(t.Context(), g.Term, "j"),
		services.Close(t.Context()))
}

// Watches are in proportion to components, not to jobs.
func TestWatchesDoNotGrowWithJobs(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1})
	c := newCluster(t, e, steadyTimeout)
	services := c.open(t, "a", ha.Config{Name: "a"})
	defer closeServices(t, services)
	contender := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(contender); err != nil {
		t.Fatal(err)
	}
	g := contender.Leads(t)
	services.Election(component).Confirm(g.ID, "a:1")
	jobs := func(from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			job := ha.JobID(fmt.Sprint(i))
			if err := errors.Join(
				services.JobGraphs().Put(t.Context(), g.Term, job, []byte("graph")),
				services.Checkpoints(job).Add(t.Context(), g.Term, ha.Checkpoint{ID: 1}),
				services.Jobs().SetRunning(t.Context(), g.Term, job),
			); err != nil {
				t.Fatal(err)
			}
		}
	}
	jobs(0, 1)
	// The lock, the epoch and the leader's record.
	awaitTrue(t, "three watches are set", func() bool { return e.Watches(t) == 3 })
	jobs(1, 100)
	if watches := e.Watches(t); watches != 3 {
		t.Errorf("%d watches with 100 jobs, with one 3", watches)
	}
}
