package elect

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// schedules is how many random ones run: few, or by make soak many.
func schedules(few int) int {
	for _, variable := range []string{"LEAT_RUNS", "LEAT_KILLS"} {
		if n, err := strconv.Atoi(os.Getenv(variable)); err == nil && n > 0 {
			return n
		}
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

// Three contenders, and whatever can happen to them: never two commands at once,
// epochs that only grow, and in the end one that leads.
func TestKillFreezeCutAtRandom(t *testing.T) {
	t.Parallel()
	seed := seed(t)
	for i := range schedules(4) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := schedule{rig: newRig(t, shortTimeout), rng: rand.New(rand.NewPCG(seed, uint64(i)))}
			for _, name := range []string{"a", "b", "c"} {
				s.all = append(s.all, s.start(name, s.command()))
			}
			s.awaitStart("", 0)
			for range 6 {
				s.fault(s.all[s.rng.IntN(len(s.all))])
			}
			for _, c := range s.all {
				c.cut(false)
			}
			// Whoever leads by now is killed: so somebody has to take over.
			before := len(s.history())
			s.killLeader()
			s.awaitStart("", before)
			s.check()
		})
	}
}

// schedule is a random one.
type schedule struct {
	*rig
	rng *rand.Rand
	all []*contender
}

func (s *schedule) command() []string {
	if s.rng.IntN(2) == 0 {
		return stubborn()
	}
	return obedient(0)
}

// portion is some time, in parts of T.
func (s *schedule) portion(most float64) time.Duration {
	return time.Duration(s.rng.Float64() * most * float64(s.timeout))
}

// fault is one that has passed when it returns, but for its effects.
func (s *schedule) fault(c *contender) {
	switch s.rng.IntN(6) {
	case 0:
		c.Kill(s.t)
		c.begin(s.command())
	case 1:
		c.Freeze(s.t)
		elapse(s.portion(1.5))
		c.Thaw(s.t)
	case 2:
		c.cut(true)
		elapse(s.portion(1.5))
		c.cut(false)
	case 3: // and stays cut off during the next fault
		c.cut(true)
		elapse(s.portion(0.5))
	case 4:
		c.signalWatcher(syscall.SIGKILL)
	case 5:
		c.signalWatcher(syscall.SIGSTOP)
		c.cut(true)
		elapse(s.portion(1.5))
		c.cut(false)
		c.signalWatcher(syscall.SIGCONT) // stopped for good, and leat elect killed, are two faults
	}
	s.revive(c)
}

// revive starts a contender again whose command has ended it.
func (s *schedule) revive(c *contender) {
	select {
	case <-c.Done():
		c.begin(s.command())
	default:
	}
}

// killLeader ends those whose commands run.
func (s *schedule) killLeader() {
	for _, c := range s.all {
		if c.watcher() != 0 {
			c.Kill(s.t)
			c.begin(s.command())
		}
	}
}
