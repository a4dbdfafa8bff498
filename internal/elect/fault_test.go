package elect

import (
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// The first signal is the command's, the lock goes at once, and so does its place in
// the election: nobody waits for the session's end.
func TestHandoverIsGraceful(t *testing.T) {
	t.Parallel()
	for _, rig := range []func(*testing.T, time.Duration) *rig{newRig, newEtcdRig} {
		r := rig(t, longTimeout)
		t.Run(r.store, func(t *testing.T) {
			t.Parallel()
			handover(t, r)
		})
	}
}

func handover(t *testing.T, r *rig) {
	a := r.start("a", obedient(7))
	first := r.awaitStart("a", 0)
	b := r.start("b", obedient(0))
	b.WaitStderr(t, "another process leads")
	asked := time.Now()
	a.Signal(t, syscall.SIGTERM)
	if exit := a.Wait(t); exit.Code != 7 {
		t.Errorf("exit %+v, and the command's is 7\n%s", exit, a.Stderr())
	}
	second := r.awaitStart("b", 0)
	r.soon("handing over", asked)
	if second.epoch <= first.epoch {
		t.Errorf("epoch %d after %d", second.epoch, first.epoch)
	}
	b.Signal(t, syscall.SIGINT)
	if exit := b.Wait(t); exit.Code != 128+int(syscall.SIGINT) && exit.Code != 0 {
		t.Errorf("exit %+v after SIGINT", exit)
	}
	r.check()
}

// A killed leat elect takes its command with it, and all that the command has begun,
// in whatever process group, long before anybody else leads.
func TestKillEndsTheCommandAndItsChildren(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	a := r.start("a", stubborn())
	r.awaitStart("a", 0)
	killed := time.Now()
	a.Kill(t)
	r.awaitNothing()
	r.soon("the command's end", killed)
	r.check()
}

// The watcher of a leat elect that is stopped keeps the deadlines.
func TestFreezeEndsTheCommand(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"obedient": obedient(0), "stubborn": stubborn()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, shortTimeout)
			a := r.start("a", command)
			r.awaitStart("a", 0)
			b := r.start("b", command)
			b.WaitStderr(t, "competing")
			before := len(r.history())
			a.Freeze(t)
			taken := r.awaitStart("b", before)
			a.Thaw(t)
			// It competes again.
			b.Kill(t)
			r.awaitStart("a", r.after(taken))
			r.check()
		})
	}
}

// A leat elect that hears nothing from the store ends its command in time.
func TestCutOffFromTheStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rig     func(*testing.T, time.Duration) *rig
		command []string
	}{
		"obedient": {newRig, obedient(0)}, "stubborn": {newRig, stubborn()},
		"etcd, obedient": {newEtcdRig, obedient(0)}, "etcd, stubborn": {newEtcdRig, stubborn()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.rig(t, shortTimeout)
			a := r.start("a", c.command)
			r.awaitStart("a", 0)
			b := r.start("b", c.command)
			b.WaitStderr(t, "competing")
			before := len(r.history())
			a.cut(true)
			taken := r.awaitStart("b", before)
			a.cut(false)
			b.Kill(t)
			r.awaitStart("a", r.after(taken))
			r.check()
		})
	}
}

// A loss that is short beside T, and renewals whose answers are lost, change nothing.
func TestCutShorterThanAThirdChangesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40*time.Second)
	a := r.start("a", stubborn())
	r.awaitStart("a", 0)
	a.loseRenewal()
	a.cut(true)
	elapse(time.Second)
	a.cut(false)
	a.loseRenewal() // there has been one
	if all := r.history(); len(all) != 1 {
		t.Errorf("the history is %v", all)
	}
}

// loseRenewal waits until a renewal has been carried out whose answer was lost. It is
// the transaction that sets the guard's node.
func (c *contender) loseRenewal() {
	c.rig.t.Helper()
	again := time.NewTicker(10 * time.Second)
	defer again.Stop()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		lost := testenv.DropZooKeeperReply(c.proxies, testenv.ZooKeeperMulti, "leaderlatch/g-")
		select {
		case <-lost:
			return
		case <-again.C: // the connection ended before the answer came
		case <-timeout.C:
			c.rig.t.Fatalf("no renewal within %s\n%s", patience, c.Stderr())
		}
	}
}

// The watcher's death is the command's, at once, and leadership is given up.
func TestKillOfTheWatcher(t *testing.T) {
	t.Parallel()
	r := newRig(t, longTimeout)
	a := r.start("a", stubborn())
	first := r.awaitStart("a", 0)
	killed := time.Now()
	a.signalWatcher(syscall.SIGKILL)
	again := r.awaitStart("a", 1)
	r.soon("stepping down", killed)
	if again.epoch <= first.epoch {
		t.Errorf("epoch %d after %d", again.epoch, first.epoch)
	}
	a.WaitStderr(t, "the command's watcher has ended")
	r.check()
}

// A watcher that does nothing is replaced by leat elect, at the deadline.
func TestFreezeOfTheWatcher(t *testing.T) {
	t.Parallel()
	r := newRig(t, shortTimeout)
	a := r.start("a", stubborn())
	r.awaitStart("a", 0)
	b := r.start("b", stubborn())
	b.WaitStderr(t, "competing")
	before := len(r.history())
	a.signalWatcher(syscall.SIGSTOP)
	a.cut(true)
	r.awaitStart("b", before)
	r.check()
}
