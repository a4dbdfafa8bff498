package etcd

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

// schedules is how many random schedules run: LEAT_RUNS, or by make soak many, or few.
func schedules(few, many int) int {
	if n, err := strconv.Atoi(os.Getenv("LEAT_RUNS")); err == nil && n > 0 {
		return n
	}
	if n, err := strconv.Atoi(os.Getenv("LEAT_KILLS")); err == nil && n > 0 {
		return many
	}
	return few
}

// seed is printed, and given by LEAT_SEED again.
func seed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("LEAT_SEED"), 10, 64)
	if err != nil {
		n = rand.Uint64()
	}
	t.Logf("LEAT_SEED=%d", n)
	return n
}

// heal ends all faults of the process's ways.
func (p *process) heal() {
	p.each(func(proxy *testenv.Proxy) {
		proxy.BlackHole(false)
		proxy.RefuseNew(false)
		proxy.Delay(0)
	})
}

func (c *cluster) healAll(rivals *hatest.Rivals) {
	for _, name := range rivals.Names() {
		c.process(name).heal()
	}
}

// The store is away longer than the timeout, there for a moment, and away again for
// longer than any number of retries: in the model all nodes stay standby for good.
// Many locks at once, each with three contenders and proxies of its own.
//
// It measures, and so runs while no other test does.
func TestCutTwiceLeavesNobodyStandbyForGood(t *testing.T) {
	seed := seed(t)
	for i := range schedules(6, 100) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			c := newCluster(t, testenv.Etcd(t), shortTimeout)
			rivals := hatest.NewRivals(t, c.world(), 3)
			rivals.AwaitLeader(t)
			portion := func(low, high float64) time.Duration {
				return time.Duration((low + rng.Float64()*(high-low)) * float64(shortTimeout))
			}
			for _, step := range []struct {
				cut   bool
				lasts time.Duration
			}{{true, portion(1.1, 1.5)}, {false, portion(0, 0.2)}, {true, portion(1.5, 2.5)}} {
				for _, name := range rivals.Names() {
					c.process(name).cut(step.cut)
				}
				elapse(step.lasts)
			}
			healed := time.Now()
			c.healAll(rivals)
			slowest := c.pulse(t, func() { rivals.AwaitLeader(t) })
			// The store's election may have been on the way, and what a busy machine takes
			// for a few requests.
			bound := 2*shortTimeout + slack + 10*slowest
			if took := time.Since(healed); took > bound {
				t.Errorf("somebody leads %s after the healing, bound %s", took, bound)
			}
			rivals.End(t, c.applied)
		})
	}
}

// pulse is how long the store has taken at most to grant a lease and write, while f
// ran.
func (c *cluster) pulse(t *testing.T, f func()) (slowest time.Duration) {
	t.Helper()
	done := make(chan struct{})
	var taking sync.WaitGroup
	taking.Go(func() {
		for {
			start := time.Now()
			lease, err := c.admin.Grant(t.Context(), 10)
			if err == nil {
				_, err = c.admin.Put(t.Context(), c.root+"-pulse", "", clientv3.WithLease(lease.ID))
			}
			if err != nil {
				t.Error(err)
				return
			}
			slowest = max(slowest, time.Since(start))
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

// Cut, Freeze, Kill: whatever happens to contenders' connections and to the store's
// servers, what is written is written by one leader after the other.
func TestCutFreezeAndKillNeverMakeTwoLeaders(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	servers := testenv.EtcdWith(t, testenv.EtcdConfig{})
	n := schedules(10, 1000)
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
						randomFaults(t, servers, rand.New(rand.NewPCG(seed, uint64(start+i))))
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
					serverFaults(t, servers, rand.New(rand.NewPCG(seed, uint64(1<<32+start))), done)
				})
			})
		})
	}
}

// randomFaults is one schedule over three contenders.
func randomFaults(t *testing.T, servers *testenv.EtcdCluster, rng *rand.Rand) {
	c := newCluster(t, servers, shortTimeout)
	rivals := hatest.NewRivals(t, c.world(), 3)
	names := rivals.Names()
	rivals.AwaitLeader(t)
	for range 6 {
		p := c.process(names[rng.IntN(len(names))])
		if rng.IntN(2) == 0 {
			p = c.process(rivals.AwaitLeader(t))
		}
		way := testenv.Direction(rng.IntN(2))
		switch rng.IntN(9) {
		case 0:
			p.cut(true)
		case 1:
			p.each(func(proxy *testenv.Proxy) { proxy.BlackHoleWay(way, true) })
		case 2:
			p.each((*testenv.Proxy).CutAll)
		case 3:
			testenv.DropEtcdReply(p.proxies, "")
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
			// Two of the three members are out of reach: perhaps the third has lost them too.
			for _, i := range rng.Perm(3)[:2] {
				p.proxies[i].BlackHole(true)
			}
		}
		elapse(time.Duration(rng.Int64N(int64(shortTimeout))))
		if rng.IntN(2) == 0 {
			p.heal()
		}
		if rng.IntN(3) == 0 {
			c.healAll(rivals)
		}
	}
	c.healAll(rivals)
	rivals.End(t, c.applied)
}

// serverFaults freezes and kills servers, one at a time, until done.
func serverFaults(t *testing.T, servers *testenv.EtcdCluster, rng *rand.Rand, done <-chan struct{}) {
	wait := func(d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-done:
		}
	}
	ended := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	for wait(time.Duration(rng.Int64N(int64(2 * shortTimeout)))); !ended(); wait(time.Duration(rng.Int64N(int64(2 * shortTimeout)))) {
		m := servers.Member(rng.IntN(3))
		if rng.IntN(2) == 0 {
			m = servers.Leader(t)
		}
		if rng.IntN(2) == 0 {
			m.Freeze(t)
			wait(time.Duration(rng.Int64N(int64(shortTimeout))))
			m.Thaw(t)
		} else {
			m.Kill(t)
			wait(time.Duration(rng.Int64N(int64(shortTimeout))))
			m.Start(t)
		}
		servers.AwaitServing(t)
	}
}
