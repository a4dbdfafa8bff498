package elect

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The watcher's ends of the pipes.
const (
	ordersFile  = 3
	reportsFile = 4
)

// watcher runs one command, and sees to its end. All of it is one goroutine.
type watcher struct {
	command []string
	reports *os.File
	orders  <-chan order // closed when leat elect is gone
	clock   *alarm
	turn    chan error // answers for begin.Turn

	until    deadlines
	grace    time.Duration
	graceEnd time.Duration

	pid      int // of the command; 0: not started
	gone     bool
	code     int  // of the command, as a shell has it
	termed   bool // TERM was sent
	stopping bool // it has the grace to end, or what is left of trust
	swept    bool // what the command has left behind was asked to end
	killing  bool
	orphaned bool // leat elect is gone
}

// Watch is a watcher's whole life. It is what the command WatcherCommand does.
func Watch(command []string) error {
	for _, fd := range []int{ordersFile, reportsFile} {
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFIFO {
			return errors.New("this command is started by leat elect, and by nobody else")
		}
		syscall.CloseOnExec(fd)
	}
	// Orphans of the command become our children. The command is killed by the kernel
	// when this thread ends.
	if err := adoptOrphans(); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock, err := newAlarm()
	if err != nil {
		return err
	}
	defer clock.close()
	orders := make(chan order)
	go func() {
		defer close(orders)
		for o := range messages[order](os.NewFile(ordersFile, "orders")) {
			orders <- o
		}
	}()
	w := &watcher{
		command: command, orders: orders, reports: os.NewFile(reportsFile, "reports"), clock: clock,
		turn: make(chan error, 1), graceEnd: never, code: 128 + int(syscall.SIGKILL),
	}
	w.run()
	return nil
}

// run goes on until nothing of the command is left.
func (w *watcher) run() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	// A signal for leat elect and all that belongs to it is not for us.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	orders := w.orders
	for {
		if w.done() {
			return
		}
		select {
		case o, ok := <-orders:
			if !ok {
				orders, w.orphaned, w.killing = nil, true, true
			}
			w.obey(o)
		case err := <-w.turn:
			w.start(err)
		case <-died:
		case <-w.clock.ring:
		}
		w.keepTime()
	}
}

// done reaps what has died, and says whether there is nothing more to do.
func (w *watcher) done() bool {
	none := w.reap()
	switch {
	case w.pid == 0 && w.killing: // it was never started
		w.report(report{Ended: true, Code: w.code})
		return true
	case w.pid == 0:
		return false
	case none:
		w.report(report{Ended: true, Code: w.code})
		return true
	case w.gone && !w.swept:
		w.sweep()
	}
	return false
}

// reap waits for all that have died; true: there are no others.
func (w *watcher) reap() (none bool) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return true
		case pid == 0:
			return false
		case pid == w.pid:
			w.gone, w.code = true, exitCode(status)
		}
	}
}

func (w *watcher) obey(o order) {
	if o.Until != nil {
		w.until = *o.Until
	}
	switch {
	case o.Begin != nil:
		w.grace = o.Begin.Grace
		w.takeTurn(o.Begin.Turn)
	case o.Kill:
		w.killing = true
	case o.Stop:
		w.stop()
	case o.Signal != 0:
		w.pass(syscall.Signal(o.Signal))
	}
}

// pass passes a signal on. One that ends a process ends a command that has not been
// started too.
func (w *watcher) pass(s syscall.Signal) {
	if n, end := ends(s); end && w.pid == 0 {
		w.killing, w.code = true, 128+n
	}
	w.signal(s)
}

// takeTurn waits for the file's lock, which goes with this process.
func (w *watcher) takeTurn(name string) {
	if name == "" {
		w.start(nil)
		return
	}
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if err != nil {
		w.start(&os.PathError{Op: "open", Path: name, Err: err})
		return
	}
	go func() {
		for {
			err := unix.Flock(fd, unix.LOCK_EX)
			if !errors.Is(err, unix.EINTR) {
				w.turn <- err
				return
			}
		}
	}()
}

// start starts the command, in a group of its own, unless it is too late.
func (w *watcher) start(err error) {
	if w.killing || w.stopping || bootTime() >= w.until.Term {
		w.killing = true
		return
	}
	if err != nil {
		w.fail(err, codeCannotRun)
		return
	}
	path, err := exec.LookPath(w.command[0])
	if err != nil {
		w.fail(err, notFoundCode(err))
		return
	}
	w.pid, err = syscall.ForkExec(path, w.command, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		w.pid = 0
		w.fail(&os.PathError{Op: "run", Path: path, Err: err}, notFoundCode(err))
		return
	}
	w.report(report{Started: w.pid})
}

// fail says why the command cannot be started.
func (w *watcher) fail(err error, code int) {
	w.report(report{Failed: err.Error(), Code: code})
	w.killing = true
}

func (w *watcher) report(r report) {
	if !w.orphaned && send(w.reports, r) != nil {
		w.orphaned, w.killing = true, true
	}
}

// keepTime does what is due, and sets the clock for what will be.
func (w *watcher) keepTime() {
	now := bootTime()
	if w.until != (deadlines{}) {
		if now >= w.until.Kill || now >= w.graceEnd {
			w.killing = true
		}
		if now >= w.until.Term && !w.stopping && !w.killing {
			w.report(report{Doubted: true})
			w.stop()
		}
	}
	next := never
	switch {
	case w.killing:
		w.kill()
		next = now + again
	case w.until == deadlines{}:
	case w.stopping:
		next = min(w.until.Kill, w.graceEnd)
	default:
		next = w.until.Term
	}
	if err := w.clock.set(next); err != nil {
		w.killing = true // without a clock nothing is safe
		w.kill()
	}
}

// stop asks all to end, and gives them the grace. A command that has not been
// started is not started.
func (w *watcher) stop() {
	if w.stopping {
		return
	}
	w.stopping = true
	if w.pid == 0 {
		w.killing = true
		return
	}
	w.graceEnd = bootTime() + w.grace
	if !w.termed {
		w.signal(syscall.SIGTERM)
		w.signal(syscall.SIGCONT) // one that is stopped hears nothing
	}
}

// sweep asks all to end that the command has left behind, but for those in its group
// that have been asked.
func (w *watcher) sweep() {
	w.swept = true
	if !w.stopping {
		w.stopping, w.graceEnd = true, bootTime()+w.grace
	}
	for _, pid := range descendants(os.Getpid(), 0) {
		if group, err := unix.Getpgid(pid); err == nil && (!w.termed || group != w.pid) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// signal reaches the group, as long as its number is the command's for sure.
func (w *watcher) signal(s syscall.Signal) {
	w.termed = w.termed || s == syscall.SIGTERM
	if w.pid != 0 && !w.gone {
		_ = syscall.Kill(-w.pid, s)
	}
}

// kill ends the group, and all else that descends from us. Orphans of what dies
// become our children, and are found the next time.
func (w *watcher) kill() {
	if w.pid == 0 {
		return
	}
	if !w.gone {
		_ = syscall.Kill(-w.pid, syscall.SIGKILL)
	}
	for _, pid := range descendants(os.Getpid(), 0) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
