package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/leatdata/leat/internal/testenv/child"
)

// program is a command that runs.
type program struct {
	path   string
	child  *child.Child
	output bytes.Buffer
}

// launch starts a command and those that it reads from, the last of the pipe
// first. What has been started is returned with an error too.
func launch(c Command) ([]*program, error) { return launchInto(c, nil) }

// launchInto closes out, which is the command's output unless nil.
func launchInto(c Command, out *os.File) ([]*program, error) {
	p := &program{path: c.Path}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if out != nil {
		cmd.Stdout = out
		defer func() { _ = out.Close() }()
	}
	if c.From == nil {
		return p.start(cmd)
	}
	in, into, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	defer func() { _ = in.Close() }()
	cmd.Stdin = in
	started, err := p.start(cmd)
	if err != nil {
		_ = into.Close()
		return started, err
	}
	more, err := launchInto(*c.From, into)
	return append(started, more...), err
}

func (p *program) start(cmd *exec.Cmd) ([]*program, error) {
	started, err := child.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.path, err)
	}
	p.child = started
	return []*program{p}, nil
}

// wait waits for the program; it is killed when ctx ends first.
func (p *program) wait(ctx context.Context) error {
	select {
	case <-p.child.Done:
	case <-ctx.Done():
		_ = p.child.Signal(syscall.SIGKILL)
		<-p.child.Done
		return fmt.Errorf("run %s: %w", p.path, ctx.Err())
	}
	if p.child.Err != nil {
		return fmt.Errorf("run %s: %w\n%s", p.path, p.child.Err, strings.TrimSpace(p.output.String()))
	}
	return nil
}
