package crash

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// TestFreezeAtPoints stops a process at a named point, lets a second one with
// a copy of its state, and so with newer tokens, do the job, and then lets the
// first go on: its rows never count (exactness rules 2 and 3).
func TestFreezeAtPoints(t *testing.T) {
	t.Parallel()
	for _, p := range pairs(newSources(t)) {
		if !p.fences() {
			continue
		}
		for _, point := range []string{"after-claim:0", "before-commit:0", "after-commit:0", "before-finish:0"} {
			t.Run(p.name+"/"+point, func(t *testing.T) {
				t.Parallel()
				s := p.setUp(t)
				old := newRunner(t, s)
				frozen := testenv.StartProcess(t, old.command(point+":stop"))
				awaitStopped(t, frozen)
				overtake(t, s, old, frozen)
			})
		}
	}
}

// TestFreezeAtRandom does so at moments drawn over an undisturbed run: in the
// middle of COPY, of a claim, of anything.
func TestFreezeAtRandom(t *testing.T) {
	t.Parallel()
	kills := number(t, "LEAT_KILLS", 4)
	seed := number(t, "LEAT_SEED", time.Now().UnixNano())
	t.Logf("LEAT_SEED=%d", seed)
	for i, p := range pairs(newSources(t)) {
		if !p.fences() {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), uint64(i)))
			took := newRunner(t, p.setUp(t)).run(t)
			for range kills {
				s := p.setUp(t)
				old := newRunner(t, s)
				frozen := testenv.StartProcess(t, old.command(""))
				timer := time.NewTimer(time.Duration(random.Int64N(int64(took))))
				select {
				case <-timer.C:
				case <-frozen.Done():
					timer.Stop()
				}
				if !frozen.Freeze(t) || !old.prepared(t) {
					continue // it had ended, or had nothing to be overtaken in
				}
				if old.finished(t) {
					check(t, s)
					continue
				}
				overtake(t, s, old, frozen)
			}
		})
	}
}

// overtake has a second process finish the job, then thaws the first.
func overtake(t *testing.T, s scene, old runner, frozen *testenv.Process) {
	t.Helper()
	newer := old.copied(t)
	newer.run(t)
	check(t, s)
	frozen.Thaw(t)
	exit := frozen.Wait(t)
	if exit.Code == 0 && !strings.Contains(frozen.Stdout(), `"state":"done"`) {
		t.Errorf("the older process ended with code 0 and without a summary")
	}
	check(t, s)
}

// TestFreezeSQLite shows rule 2's last sentence: nobody can be ended, so the
// newer process fails, says who holds the file, and the older one goes on.
func TestFreezeSQLite(t *testing.T) {
	t.Parallel()
	s := csvToSQLite(t, newSources(t))
	// One attempt and no patience, so that the newer one fails soon.
	s.job = strings.Replace(s.job, "attempts: 20", "attempts: 0", 1)
	old := newRunner(t, s)
	frozen := testenv.StartProcess(t, old.command("before-commit:1:stop"))
	awaitStopped(t, frozen)
	newer := old.copied(t)
	p, exit := testenv.RunProcess(t, newer.command(""))
	if exit.Code != 1 || !strings.Contains(p.Stderr(), "locked") {
		t.Errorf("the newer process ended with code %d\n%s", exit.Code, p.Stderr())
	}
	frozen.Thaw(t)
	if exit := frozen.Wait(t); exit.Code != 0 {
		t.Fatalf("the older process ended with code %d\n%s", exit.Code, frozen.Stderr())
	}
	check(t, s)
}

// awaitStopped waits until the process has stopped itself at its failpoint.
func awaitStopped(t *testing.T, p *testenv.Process) {
	t.Helper()
	if !p.AwaitStopped(t) {
		t.Fatalf("it ended before its failpoint: %+v\n%s", p.Wait(t), p.Stderr())
	}
}
