package elect

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of what its descendants leave behind.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopt orphans: %w", err)
	}
	return nil
}

// reapOrphans waits for orphans that have died.
func reapOrphans() {
	for _, pid := range descendants(os.Getpid(), 0) {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
}

// killOrphans kills all our descendants but one, and those of that; false: there are
// none.
func killOrphans(spare int) bool {
	all := descendants(os.Getpid(), spare)
	for _, pid := range all {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return len(all) > 0
}

// self is the binary that runs, also when its file has been replaced.
const self = "/proc/self/exe"

// separate gives a command a process group of its own.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// ownGroup has a command's whole group killed when it is cancelled, and the command
// when the thread that starts it ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
}

// Signals are those that Config.Signals has to bring.
func Signals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}
}

// ends says whether a signal ends the candidacy, and its number.
func ends(s os.Signal) (number int, end bool) {
	n, _ := s.(syscall.Signal)
	return int(n), n != syscall.SIGUSR1 && n != syscall.SIGUSR2
}
