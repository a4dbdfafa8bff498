package crash

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// TestKillAtRandom shows that a job killed at any moment, and gone on with,
// has each record once in the target (exactness rules 1-4, 9-11, 14).
func TestKillAtRandom(t *testing.T) {
	t.Parallel()
	kills := number(t, "LEAT_KILLS", 8)
	seed := number(t, "LEAT_SEED", time.Now().UnixNano())
	t.Logf("LEAT_SEED=%d", seed)
	for i, p := range pairs(newSources(t)) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			undisturbed := p.setUp(t)
			took := newRunner(t, undisturbed).run(t)
			check(t, undisturbed)
			for left := kills; left > 0; {
				s := p.setUp(t)
				r := newRunner(t, s)
				killed := true
				for range 1 + random.IntN(3) {
					moment := time.Duration(random.Int64N(int64(took)))
					left--
					if killed = killAfter(t, r, moment); !killed || r.finished(t) {
						break // another start would be another run
					}
				}
				if killed {
					r.conclude(t, s)
				} else {
					check(t, s)
				}
			}
		})
	}
}

// killAfter starts the job and kills it at the moment; false when it came to
// its end before, which has to be a good one.
func killAfter(t *testing.T, r runner, moment time.Duration) bool {
	t.Helper()
	p := testenv.StartProcess(t, r.command(""))
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		p.Signal(t, syscall.SIGKILL)
	}
	exit := p.Wait(t)
	if exit.Signal == syscall.SIGKILL {
		return true
	}
	if exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	return false
}

// TestKillAtPoints kills at each named point, the first and a later time that
// a run comes by.
func TestKillAtPoints(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(newSources(t)) {
		for _, point := range p.points {
			// A point that every commit comes by is passed often.
			for _, passes := range []int{0, 2} {
				if passes > 0 && !strings.Contains(point, "commit") {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s after %d", p.name, point, passes), func(t *testing.T) {
					t.Parallel()
					s := p.setUp(t)
					r := newRunner(t, s)
					q, exit := testenv.RunProcess(t, r.command(fmt.Sprintf("%s:%d:kill", point, passes)))
					switch {
					case exit.Signal == syscall.SIGKILL:
						r.conclude(t, s)
					case exit.Code != 0:
						t.Fatalf("exit code %d\n%s", exit.Code, q.Stderr())
					case passes == 0:
						t.Fatalf("the run never came by %s", point)
					default:
						check(t, s)
					}
				})
			}
		}
	}
}

// TestKillBehindTheEnd kills a run whose end is stored and who has not let go
// of its target yet: in files the mark that it is finished is left, and the
// next run takes that away (exactness rule 9).
func TestKillBehindTheEnd(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(newSources(t)) {
		points := []string{"before-close"}
		if p.marks() {
			points = append(points, "before-removal")
		}
		for _, point := range points {
			t.Run(p.name+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := p.setUp(t)
				r := newRunner(t, s)
				if _, exit := testenv.RunProcess(t, r.command(point+":0:kill")); exit.Signal != syscall.SIGKILL {
					t.Fatalf("it was not killed: %+v", exit)
				}
				if !r.finished(t) {
					t.Fatal("the run's end is not stored")
				}
				if left := s.left(); (len(left) == 1) != p.marks() {
					t.Errorf("left in the target: %q", left)
				}
				r.conclude(t, s)
			})
		}
	}
}
