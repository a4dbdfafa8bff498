// Package child runs programs that do not outlive us: the kernel ends them
// when we are killed. It needs Linux.
package child

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Child is a running program. Done is closed when it has been waited for; Err
// is set before.
type Child struct {
	Cmd  *exec.Cmd
	Done <-chan struct{}
	Err  error
}

// Start starts cmd so that the kernel sends it onDeath when we end.
func Start(cmd *exec.Cmd, onDeath syscall.Signal) (*Child, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = onDeath
	done := make(chan struct{})
	c := &Child{Cmd: cmd, Done: done}
	started := make(chan error)
	go c.own(started, done)
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// own starts the program and waits for it on one thread: the death signal is
// sent when the thread that started it ends, not only when the process does.
func (c *Child) own(started chan<- error, done chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := c.Cmd.Start()
	started <- err
	if err != nil {
		return
	}
	c.Err = c.Cmd.Wait()
	close(done)
}

// Signal sends s; os.ErrProcessDone says that the program has ended.
func (c *Child) Signal(s os.Signal) error { return c.Cmd.Process.Signal(s) }

// Pid is the program's process id.
func (c *Child) Pid() int { return c.Cmd.Process.Pid }

// Ended says whether the program has been waited for.
func (c *Child) Ended() bool {
	select {
	case <-c.Done:
		return true
	default:
		return false
	}
}

// Usage is what an ended program has used.
func (c *Child) Usage() *syscall.Rusage {
	return c.Cmd.ProcessState.SysUsage().(*syscall.Rusage)
}
