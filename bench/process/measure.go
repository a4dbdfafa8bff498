package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
)

// Command is a program and its arguments. Env is added to our own environment.
type Command struct {
	Path string
	Args []string
	Env  []string
}

// Usage is what a run has taken.
type Usage struct {
	// Wall is the time from the start of the first program to the end of the last.
	Wall time.Duration
	// Client is the processor time of the programs, Server of the server's tree.
	Client, Server time.Duration
	// MaxRSS is the peak of resident memory in bytes, of the largest program. The
	// kernel counts our own into it, from before the program replaced us: less
	// than about 15 MB cannot be told apart.
	MaxRSS int64
}

// Measure runs programs side by side to their end and returns what they, and
// meanwhile the processes below server, have used. A program that fails fails
// the run, with what it wrote to its standard error.
func Measure(ctx context.Context, server int, commands ...Command) (Usage, error) {
	var u Usage
	before, err := TreeTime(server)
	if err != nil {
		return u, err
	}
	start := time.Now()
	children := make([]*child.Child, 0, len(commands))
	var errs []error
	outputs := make([]bytes.Buffer, len(commands))
	for i, c := range commands {
		cmd := exec.Command(c.Path, c.Args...)
		cmd.Env = append(os.Environ(), c.Env...)
		cmd.Stdout, cmd.Stderr = &outputs[i], &outputs[i]
		started, err := child.Start(cmd, syscall.SIGKILL)
		if err != nil {
			errs = append(errs, fmt.Errorf("start %s: %w", c.Path, err))
			break
		}
		children = append(children, started)
	}
	for i, started := range children {
		if err := wait(ctx, started); err != nil {
			errs = append(errs, fmt.Errorf("run %s: %w\n%s", commands[i].Path, err, strings.TrimSpace(outputs[i].String())))
			continue
		}
		r := started.Usage()
		u.Client += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		u.MaxRSS = max(u.MaxRSS, r.Maxrss*1024)
	}
	u.Wall = time.Since(start)
	after, err := TreeTime(server)
	u.Server = after - before
	return u, errors.Join(append(errs, err)...)
}

// wait waits for a program; it is killed when ctx ends first.
func wait(ctx context.Context, c *child.Child) error {
	select {
	case <-c.Done:
		return c.Err
	case <-ctx.Done():
		_ = c.Signal(syscall.SIGKILL)
		<-c.Done
		return ctx.Err()
	}
}
