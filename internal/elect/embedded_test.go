package elect

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// run runs a command to its end, alone on a folder.
func (r *rig) run(name string, command []string, flags ...string) (*contender, testenv.Exit) {
	r.t.Helper()
	c := r.start(name, command, flags...)
	return c, c.Wait(r.t)
}

func TestExitCodeIsTheCommands(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "not-executable")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		command []string
		flags   []string
		code    int
		says    string
	}{
		{name: "done", command: []string{"true"}},
		{name: "own", command: []string{"sh", "-c", "exit 3"}, code: 3},
		{name: "killed", command: []string{"sh", "-c", "kill -9 $$"}, code: 137},
		{name: "flags are its own", command: []string{"sh", "-c", "exit $1", "--", "5"}, code: 5},
		{name: "missing", command: []string{"no-such-command"}, code: 127, says: `command not found: "no-such-command"`},
		{name: "missing file", command: []string{"/no/such/file"}, code: 127, says: "/no/such/file"},
		{name: "not executable", command: []string{script}, code: 126, says: "cannot run " + script},
		{name: "no program", command: []string{"./garbage"}, code: 126, says: "garbage"},
		// What it leaves behind is ended before the lock is free.
		{name: "daemon", command: []string{"sh", "-c", "setsid sleep 1000 & exit 4"}, code: 4},
		{name: "deaf daemon", command: []string{"sh", "-c", "trap '' TERM; sleep 1000 & exit 4"}, flags: []string{"--grace", "100ms"}, code: 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newEmbeddedRig(t)
			if c.command[0] == "./garbage" {
				dir := filepath.Join(r.dir, "shared")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "garbage"), []byte("\x00\x01"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			p, exit := r.run("a", c.command, c.flags...)
			if exit.Code != c.code || !strings.Contains(p.Stderr(), c.says) {
				t.Errorf("exit %+v, want %d and %q\n%s", exit, c.code, c.says, p.Stderr())
			}
		})
	}
}

func TestCommandKnowsLockAndEpoch(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	for _, epoch := range []string{"1", "2"} {
		p, exit := r.run("a", []string{"sh", "-c", "echo $LEAT_LOCK $LEAT_EPOCH; cat"})
		if exit.Code != 0 || p.Stdout() != "db "+epoch+"\n" {
			t.Errorf("exit %+v, it wrote %q, epoch %s\n%s", exit, p.Stdout(), epoch, p.Stderr())
		}
	}
	marks, err := filepath.Glob(filepath.Join(r.dir, "shared", ".leat", "blobs", "elect", "db", "epoch", "*"))
	if err != nil || len(marks) != 2 {
		t.Errorf("marks %v, %v", marks, err)
	}
}

// Processes that share a folder take turns, also when one is killed: the next one's
// command waits for the end of the last one's, whatever that has begun.
func TestKillLetsTheNextOfAFolderLead(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", stubborn())
	first := r.awaitStart("a", 0)
	b := r.start("b", obedient(9))
	b.WaitStderr(t, "another process leads")
	a.Kill(t)
	second := r.awaitStart("b", 0)
	if second.epoch <= first.epoch {
		t.Errorf("epoch %d after %d", second.epoch, first.epoch)
	}
	b.Signal(t, syscall.SIGTERM)
	if exit := b.Wait(t); exit.Code != 9 {
		t.Errorf("exit %+v\n%s", exit, b.Stderr())
	}
	r.check()
}

// A restarted command has a new epoch each time. The signal that ends leat elect ends
// it in the pause between two as well.
func TestRestartCompetesAgain(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", []string{"sh", "-c", `echo "start $LEAT_EPOCH $WHO" >>"$RIG/history"; exit 1`}, "--restart")
	await(t, "three starts", func() bool { return len(r.history()) >= 3 })
	a.Signal(t, syscall.SIGTERM)
	if exit := a.Wait(t); exit.Code != 128+int(syscall.SIGTERM) && exit.Code != 1 {
		t.Errorf("exit %+v\n%s", exit, a.Stderr())
	}
	r.check()
}

// A second signal kills a command that does not heed the first.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", stubborn())
	r.awaitStart("a", 0)
	a.Signal(t, syscall.SIGTERM)
	await(t, "the command has heard", func() bool { return len(r.history()) == 2 })
	a.Signal(t, syscall.SIGTERM)
	if exit := a.Wait(t); exit.Code != 128+int(syscall.SIGKILL) {
		t.Errorf("exit %+v\n%s", exit, a.Stderr())
	}
	r.awaitNothing()
}

// Signals that end nothing reach the command.
func TestOtherSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	a := r.start("a", []string{"sh", "-c", `trap 'echo usr1; exit 6' USR1; sleep 1000 & echo ready; wait $!`})
	a.WaitStdout(t, "ready")
	a.Signal(t, syscall.SIGUSR1)
	if exit := a.Wait(t); exit.Code != 6 || !strings.Contains(a.Stdout(), "usr1") {
		t.Errorf("exit %+v, %q\n%s", exit, a.Stdout(), a.Stderr())
	}
}

// Without a command a signal ends it as it ends a process.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	r := newEmbeddedRig(t)
	r.start("a", stubborn())
	r.awaitStart("a", 0)
	b := r.start("b", stubborn())
	b.WaitStderr(t, "another process leads")
	b.Signal(t, syscall.SIGTERM)
	if exit := b.Wait(t); exit.Code != 128+int(syscall.SIGTERM) {
		t.Errorf("exit %+v\n%s", exit, b.Stderr())
	}
	if len(r.history()) != 1 {
		t.Errorf("the history is %v", r.history())
	}
}
