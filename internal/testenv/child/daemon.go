package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// daemonTimeout bounds each start and stop of a daemon, on a busy machine too.
const daemonTimeout = 90 * time.Second

// Daemon is a server program: it is started, asked until it answers, and ended
// at once. Its fields are set before the first Start.
type Daemon struct {
	// Name is the program's, for errors.
	Name string
	// Command makes the command of each start.
	Command func() *exec.Cmd
	// Log is the file to which the program's standard error is added.
	Log string
	// Quit ends the program and its children at once.
	Quit syscall.Signal
	// Ping asks the server, and returns nil when it answers.
	Ping func(ctx context.Context) error

	mu      sync.Mutex
	running *Child
}

// Start runs the server, again after a Stop, and returns once it answers.
func (d *Daemon) Start(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running != nil {
		return errors.New("the server runs already")
	}
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	log, err := os.OpenFile(d.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := d.Command()
	cmd.Stderr = log
	running, err := Start(cmd, d.Quit)
	if err != nil {
		return fmt.Errorf("run %s: %w", d.Name, err)
	}
	if err := d.await(ctx, running); err != nil {
		_ = running.Signal(d.Quit)
		<-running.Done
		text, _ := os.ReadFile(d.Log)
		return fmt.Errorf("await %s: %w\n%s", d.Name, err, text)
	}
	d.running = running
	return nil
}

// await returns once the server answers, or with the reason why it will not.
func (d *Daemon) await(ctx context.Context, running *Child) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.Ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-running.Done:
			return fmt.Errorf("it ended: %w", running.Err)
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// Stop ends the server at once, with no goodbye to its clients; it may be
// called again.
func (d *Daemon) Stop() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		return nil
	}
	running := d.running
	d.running = nil
	if err := running.Signal(d.Quit); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", d.Name, err)
	}
	late := time.NewTimer(daemonTimeout)
	defer late.Stop()
	select {
	case <-running.Done:
		return nil
	case <-late.C:
		_ = running.Signal(syscall.SIGKILL)
		<-running.Done
		return fmt.Errorf("%s did not end within %s", d.Name, daemonTimeout)
	}
}

// Runs says whether the server runs: it was not stopped, and has not ended.
func (d *Daemon) Runs() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.running != nil && !d.running.Ended()
}

// Pid is the process id of the running server, the parent of all its
// processes; 0 when it is stopped.
func (d *Daemon) Pid() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		return 0
	}
	return d.running.Pid()
}

// FreePort returns a loopback port that nobody listened on a moment ago.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
