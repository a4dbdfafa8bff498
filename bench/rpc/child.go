package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// reported is what a client's process tells of its run.
type reported struct {
	Result result
	N      int64
}

// serveChild is the child process of a contender's server.
func serveChild(name string, stdin io.Reader, stdout io.Writer) error {
	c, err := contenderNamed(name)
	if err != nil {
		return err
	}
	addr, err := c.serve()
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, addr)
	_, err = io.Copy(io.Discard, stdin)
	return err
}

// clientOf is the child process that sends.
func clientOf(name, work, addr string, d time.Duration, stdout io.Writer) error {
	c, err := contenderNamed(name)
	if err != nil {
		return err
	}
	for _, w := range workloads() {
		if w.name != work {
			continue
		}
		conn, err := c.dial(addr)
		if err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, n, err := w.run(conn, d)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", name, work, err)
		}
		runtime.ReadMemStats(&after)
		r.Allocs = float64(after.Mallocs-before.Mallocs) / float64(max(1, n))
		return json.NewEncoder(stdout).Encode(reported{r, n})
	}
	return fmt.Errorf("no workload %q", work)
}

// measure runs a workload of a contender in two processes of its own.
func measure(self, name string, w workload, d time.Duration) (r result, err error) {
	dir, err := os.MkdirTemp("", "rpcbench")
	if err != nil {
		return r, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if w.inFlight == 1 && !w.tell {
		sleepless, err := keepAwake(self)
		if err != nil {
			return r, err
		}
		defer sleepless()
	}
	serving, stdin, addr, err := startServer(self, name, dir)
	if err != nil {
		return r, err
	}
	sending := exec.Command(self, "-role", "client", "-contender", name, "-workload", w.name, "-addr", addr, "-time", d.String())
	sending.Env, sending.Stderr = append(os.Environ(), certFile+"="+dir), os.Stderr
	out, err := sending.Output()
	err = errors.Join(err, stdin.Close(), serving.Wait())
	if err != nil {
		return r, fmt.Errorf("%s, %s: %w", name, w.name, err)
	}
	var got reported
	if err := json.Unmarshal(out, &got); err != nil {
		return r, err
	}
	r = got.Result
	r.CPU = (used(sending) + used(serving)) / time.Duration(max(1, got.N))
	return r, nil
}

func startServer(self, name, dir string) (cmd *exec.Cmd, stdin io.WriteCloser, addr string, err error) {
	cmd = exec.Command(self, "-role", "server", "-contender", name)
	cmd.Env, cmd.Stderr = append(os.Environ(), certFile+"="+dir), os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		return nil, nil, "", err
	}
	addr, err = bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, nil, "", errors.Join(fmt.Errorf("%s: no address: %w", name, err), stdin.Close(), cmd.Wait())
	}
	return cmd, stdin, strings.TrimSpace(addr), nil
}

func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// keepAwake starts a process that keeps the processors awake, and returns what
// ends it.
func keepAwake(self string) (end func(), err error) {
	cmd := exec.Command(self, "-role", "awake")
	cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", runtime.NumCPU()+1))
	stdin, err := cmd.StdinPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		return nil, err
	}
	return func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}, nil
}

// localChild is the process of a workload within one.
func localChild(name, work string, d time.Duration, stdout io.Writer) error {
	for _, l := range locals() {
		if l.name != work {
			continue
		}
		f := l.leat
		switch name {
		case "channel":
			f = l.channel
		case "hollywood":
			f = l.hollywood
		}
		began := time.Now()
		rate, err := f(d)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", name, work, err)
		}
		n := rate * time.Since(began).Seconds()
		return json.NewEncoder(stdout).Encode(reported{result{Rate: rate}, int64(n)})
	}
	return fmt.Errorf("no workload %q", work)
}

func measureLocal(self, name string, l local, d time.Duration) (r result, err error) {
	cmd := exec.Command(self, "-role", "local", "-contender", name, "-workload", l.name, "-time", d.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("%s, %s: %w", name, l.name, err)
	}
	var got reported
	err = json.Unmarshal(out, &got)
	got.Result.CPU = used(cmd) / time.Duration(max(1, got.N))
	return got.Result, err
}
