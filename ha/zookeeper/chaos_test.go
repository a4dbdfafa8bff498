package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/zk"
)

// contextFor is a context of its own with an end.
func contextFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), d, errors.New("the test's patience is at its end"))
}

func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}

// heal ends all faults of the process and its ways.
func (p *process) heal() {
	if p.child != nil {
		p.child.thaw()
	}
	if p.host != nil {
		p.host.Unfilter(p.t)
	}
	p.each(func(proxy *testenv.Proxy) {
		proxy.BlackHole(false)
		proxy.RefuseNew(false)
		proxy.Delay(0)
	})
}

// The store is away longer than the timeout, there for a moment, and away again
// for longer than any number of retries: in the model all nodes stay standby for
// good. Many locks at once, each with three contenders, behind proxies of their own or
// on hosts whose packet filters drop what comes from the store's ports.
//
// It measures, and so runs while no other test does.
func TestCutTwiceLeavesNobodyStandbyForGood(t *testing.T) {
	seed := seed(t)
	for i := range runs(t, 10, 100, 1000) {
		t.Run(fmt.Sprintf("proxies %d", i), func(t *testing.T) {
			t.Parallel()
			cutTwice(t, newCluster(t, testenv.ZooKeeper(t), shortTimeout), rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
	network, e := ensembleOnNetwork(t)
	for i := range runs(t, 2, 20, 1000) {
		t.Run(fmt.Sprintf("filters %d", i), func(t *testing.T) {
			t.Parallel()
			cutTwice(t, newClusterOn(t, network, e, shortTimeout), rand.New(rand.NewPCG(seed, uint64(1<<32+i))))
		})
	}
}

func cutTwice(t *testing.T, c *cluster, rng *rand.Rand) {
	cs := newContenders(t, c, 3, 0)
	cs.awaitLeader(t)
	portion := func(low, high float64) time.Duration {
		return time.Duration((low + rng.Float64()*(high-low)) * float64(shortTimeout))
	}
	for _, step := range []struct {
		cut   bool
		lasts time.Duration
	}{{true, portion(1.1, 2)}, {false, portion(0, 0.2)}, {true, portion(1.5, 3)}} {
		for _, name := range cs.names {
			c.process(name).cut(step.cut)
		}
		elapse(step.lasts)
	}
	healed := time.Now()
	for _, name := range cs.names {
		c.process(name).heal()
	}
	slowest := c.pulse(t, func() { cs.awaitLeader(t) })
	// The back-off's cap, and what a busy machine takes for a few requests.
	bound := shortTimeout + time.Second + slack + 10*slowest
	if took := time.Since(healed); took > bound {
		t.Errorf("somebody leads %s after the healing, bound %s", took, bound)
	}
	cs.end(t)
}

// ensembleOnNetwork is an ensemble on hosts of its own.
func ensembleOnNetwork(t *testing.T) (*testenv.Network, *testenv.ZooKeeperEnsemble) {
	t.Helper()
	network := testenv.NewNetwork(t)
	var hosts []*testenv.Host
	for range 3 {
		hosts = append(hosts, network.Host(t))
	}
	return network, testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Hosts: hosts})
}

// pulse is how long the store has taken at most to give a session and a write,
// while f ran.
func (c *cluster) pulse(t *testing.T, f func()) (slowest time.Duration) {
	t.Helper()
	done := make(chan struct{})
	var taking sync.WaitGroup
	taking.Go(func() {
		for {
			start := time.Now()
			s, err := zk.Open(context.Background(), zk.Config{
				Servers: c.ensemble.Addrs(), ConnectTimeout: 10 * time.Second, Dial: c.direct,
			})
			if err == nil {
				_, err = s.Create(s.Context(), "/pulse-", nil, zk.EphemeralSequential)
				slowest = max(slowest, time.Since(start))
				s.Close()
			}
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	f()
	close(done)
	taking.Wait()
	return slowest
}

// Cut, Freeze, Kill: whatever happens to contenders, to their connections and to the
// store's servers, what is written is written by one leader after the other.
func TestCutFreezeAndKillNeverMakeTwoLeaders(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{})
	n := runs(t, 20, 1000, 1000)
	const atOnce = 20
	for start := 0; start < n; start += atOnce {
		t.Run(fmt.Sprint(start), func(t *testing.T) {
			done := make(chan struct{})
			// The servers' faults are one schedule for all, the connections' each its own.
			t.Run("schedules", func(t *testing.T) {
				left := make(chan struct{}, atOnce)
				count := min(atOnce, n-start)
				for i := range count {
					t.Run(fmt.Sprint(start+i), func(t *testing.T) {
						t.Parallel()
						defer func() { left <- struct{}{} }()
						randomFaults(t, e, rand.New(rand.NewPCG(seed, uint64(start+i))))
					})
				}
				t.Run("servers", func(t *testing.T) {
					t.Parallel()
					go func() {
						for range count {
							<-left
						}
						close(done)
					}()
					serverFaults(t, e, rand.New(rand.NewPCG(seed, uint64(1<<32+start))), done)
				})
			})
		})
	}
}

// randomFaults is one schedule over three contenders, of which one is a process of its
// own that can be stopped.
func randomFaults(t *testing.T, e *testenv.ZooKeeperEnsemble, rng *rand.Rand) {
	c := newCluster(t, e, shortTimeout)
	cs := newContenders(t, c, 2, 1)
	cs.awaitLeader(t)
	for range 8 {
		p := c.process(cs.names[rng.IntN(len(cs.names))])
		if rng.IntN(2) == 0 {
			p = c.process(cs.awaitLeader(t).name)
		}
		way := testenv.Direction(rng.IntN(2))
		fault := rng.IntN(9)
		if p.child != nil {
			fault = rng.IntN(16)
		}
		switch fault {
		case 0:
			p.cut(true)
		case 1:
			p.each(func(proxy *testenv.Proxy) { proxy.BlackHoleWay(way, true) })
		case 2:
			p.each((*testenv.Proxy).CutAll)
		case 3:
			testenv.DropZooKeeperReply(p.proxies, testenv.ZooKeeperWrite, "")
		case 4:
			p.each((*testenv.Proxy).HalfOpen)
		case 5:
			p.each(func(proxy *testenv.Proxy) { proxy.RefuseNew(true); proxy.CutAll() })
		case 6:
			delay := time.Duration(rng.Int64N(int64(shortTimeout / 8)))
			p.each(func(proxy *testenv.Proxy) { proxy.Delay(delay) })
		case 7:
			p.each(func(proxy *testenv.Proxy) { proxy.CutAfter(way, rng.Int64N(500)) })
		case 8:
			// Several at once, or nothing.
		default:
			p.child.freeze()
		}
		elapse(time.Duration(rng.Int64N(int64(shortTimeout))))
		if rng.IntN(2) == 0 {
			p.heal()
		}
		if rng.IntN(3) == 0 {
			for _, name := range cs.names {
				c.process(name).heal()
			}
		}
	}
	cs.end(t)
}

// serverFaults freezes and kills servers, one at a time, until done.
func serverFaults(t *testing.T, e *testenv.ZooKeeperEnsemble, rng *rand.Rand, done <-chan struct{}) {
	wait := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-done:
			return false
		}
	}
	for wait(time.Duration(rng.Int64N(int64(2 * shortTimeout)))) {
		m := e.Member(rng.IntN(3))
		if rng.IntN(2) == 0 {
			m.Freeze(t)
			wait(time.Duration(rng.Int64N(int64(shortTimeout))))
			m.Thaw(t)
		} else {
			m.Kill(t)
			wait(time.Duration(rng.Int64N(int64(shortTimeout))))
			m.Start(t)
		}
		e.AwaitServing(t)
	}
}
