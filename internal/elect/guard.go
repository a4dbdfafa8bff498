package elect

import (
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// WatcherCommand is the argument that makes this binary a watcher.
const WatcherCommand = "elect-watcher"

// sendWithin bounds how long a watcher may leave orders lying.
const sendWithin = time.Second

// guard is a watcher as leat elect sees it.
type guard struct {
	watcher *exec.Cmd
	orders  *os.File
	// reports is closed once the watcher has ended.
	reports <-chan report
	// spare is a process of ours that is not of the command; 0: there is none.
	spare *atomic.Int64
}

// newGuard starts a watcher for the command.
func newGuard(cfg *setup, environ []string) (*guard, error) {
	orders, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	theirs, reports, err := os.Pipe()
	if err != nil {
		_, _ = orders.Close(), ours.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	w := exec.Command(self, append([]string{WatcherCommand, "--"}, cfg.Command...)...)
	w.Args[0] = "leat"
	w.Env = environ
	w.Stdin, w.Stdout, w.Stderr = cfg.Stdin, cfg.Stdout, cfg.Stderr
	w.ExtraFiles = []*os.File{orders, reports}
	separate(w)
	err = w.Start()
	_, _ = orders.Close(), reports.Close()
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, fmt.Errorf("start the watcher: %w", err)
	}
	heard := make(chan report, 8)
	go func() {
		defer close(heard)
		for r := range messages[report](theirs) {
			heard <- r
		}
		_ = theirs.Close()
		_ = w.Wait() // it says in a report how it went
	}()
	return &guard{watcher: w, orders: ours, reports: heard, spare: &cfg.checking}, nil
}

// tell passes an order on. One that is not taken is as good as a dead watcher.
func (g *guard) tell(o order) {
	_ = g.orders.SetWriteDeadline(time.Now().Add(sendWithin))
	if send(g.orders, o) != nil {
		g.destroy()
	}
}

// destroy kills the watcher, and so the command: the kernel sees to that. Others
// become our children, and are dead when close returns.
func (g *guard) destroy() { _ = g.watcher.Process.Kill() }

// close waits for the watcher's end, and when that came without a last report, for
// the end of all that it has left to us.
func (g *guard) close(ended bool) {
	_ = g.orders.Close()
	for range g.reports { // what it says now is of no use
	}
	if ended {
		return
	}
	tick := time.NewTicker(again)
	defer tick.Stop()
	for killOrphans(int(g.spare.Load())) {
		<-tick.C
	}
}
