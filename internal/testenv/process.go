package testenv

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/internal/testenv/child"
)

// waitTimeout bounds every wait for a child process; past it the test fails.
const waitTimeout = 3 * time.Minute

// Command says what to run. Env is added to our own environment.
type Command struct {
	Path  string
	Args  []string
	Env   []string
	Dir   string
	Stdin io.Reader
	// Memory has the peak of the process's memory followed while it runs, which
	// Exit.MaxRSS is then; else that is at least ours when it was started.
	Memory bool
}

// Process is a running child. It is killed when the test ends, and by the kernel
// when the test binary is.
type Process struct {
	child  *child.Child
	stdout *capture
	stderr *capture
	memory peak
}

// Exit is how a process ended: by a code, or by a signal (the code is then -1).
type Exit struct {
	Code   int
	Signal syscall.Signal
	// User and System are the processor time spent, MaxRSS the peak of resident
	// memory in bytes.
	User, System time.Duration
	MaxRSS       int64
}

// StartProcess starts a command and returns while it runs.
func StartProcess(t testing.TB, c Command) *Process {
	t.Helper()
	p := &Process{stdout: newCapture(), stderr: newCapture()}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.Stdin = c.Stdin
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	cmd.WaitDelay = 10 * time.Second
	running, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatalf("start %s: %v", c.Path, err)
	}
	p.child = running
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		if c.Memory {
			p.memory.follow(cmd.Process.Pid, running.Done)
		}
	}()
	t.Cleanup(func() {
		_ = running.Signal(syscall.SIGKILL)
		<-running.Done
		<-followed
	})
	return p
}

// RunProcess runs a command to its end.
func RunProcess(t testing.TB, c Command) (*Process, Exit) {
	t.Helper()
	p := StartProcess(t, c)
	return p, p.Wait(t)
}

// Pid is the process's id.
func (p *Process) Pid() int { return p.child.Pid() }

// Done is closed once the process has ended and its output is complete.
func (p *Process) Done() <-chan struct{} { return p.child.Done }

// Stdout is what the process has written to its standard output so far.
func (p *Process) Stdout() string { return p.stdout.String() }

// Stderr is what the process has written to its standard error so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// Wait waits for the process to end.
func (p *Process) Wait(t testing.TB) Exit {
	t.Helper()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	select {
	case <-p.child.Done:
	case <-timeout.C:
		// A Go program says on SIGQUIT what each goroutine waits for.
		p.Signal(t, syscall.SIGQUIT)
		timeout.Reset(10 * time.Second)
		select {
		case <-p.child.Done:
		case <-timeout.C:
		}
		t.Fatalf("%s did not end within %s; its standard error:\n%s",
			p.child.Cmd, waitTimeout, p.Stderr())
	}
	state := p.child.Cmd.ProcessState
	exit := Exit{Code: state.ExitCode(), User: state.UserTime(), System: state.SystemTime()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = status.Signal()
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		exit.MaxRSS = usage.Maxrss * 1024
	}
	if seen := p.memory.bytes.Load(); seen > 0 {
		exit.MaxRSS = seen
	}
	return exit
}

// WaitStdout waits until the standard output holds text.
func (p *Process) WaitStdout(t testing.TB, text string) {
	t.Helper()
	p.waitFor(t, p.stdout, text)
}

// WaitStderr waits until the standard error holds text.
func (p *Process) WaitStderr(t testing.TB, text string) {
	t.Helper()
	p.waitFor(t, p.stderr, text)
}

func (p *Process) waitFor(t testing.TB, c *capture, text string) {
	t.Helper()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		// Whether it has ended is asked first: the output is complete by then.
		ended := p.child.Ended()
		so, changed := c.state()
		if strings.Contains(so, text) {
			return
		}
		if ended {
			t.Fatalf("%s ended without writing %q; it wrote:\n%s", p.child.Cmd, text, so)
		}
		select {
		case <-changed:
		case <-p.child.Done:
		case <-timeout.C:
			t.Fatalf("%s did not write %q within %s; it wrote:\n%s", p.child.Cmd, text, waitTimeout, so)
		}
	}
}

// Signal sends s. A process that has ended already is no error.
func (p *Process) Signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := p.child.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("send %s to %s: %v", s, p.child.Cmd, err)
	}
}

// Kill ends the process as kill -9 does and waits until it is gone.
func (p *Process) Kill(t testing.TB) Exit {
	t.Helper()
	p.Signal(t, syscall.SIGKILL)
	return p.Wait(t)
}

// Freeze stops the process in the middle of whatever it does, and returns once
// none of its threads run. It says whether the process was still there.
func (p *Process) Freeze(t testing.TB) bool {
	t.Helper()
	p.Signal(t, syscall.SIGSTOP)
	return p.AwaitStopped(t)
}

// AwaitStopped waits until the process is stopped, by itself or by Freeze. It
// says whether it is: false when it ended.
func (p *Process) AwaitStopped(t testing.TB) bool {
	t.Helper()
	for {
		// WNOWAIT leaves the process for its owner to wait for.
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.Pid(), &info, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return false
		case err != nil:
			t.Fatalf("wait for %s to stop: %v", p.child.Cmd, err)
		}
		const cldStopped = 5
		return info.Code == cldStopped
	}
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw(t testing.TB) {
	t.Helper()
	p.Signal(t, syscall.SIGCONT)
}
