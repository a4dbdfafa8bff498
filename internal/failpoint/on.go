//go:build leat_failpoints && linux

package failpoint

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Hook returns what connectors and the engine call at named points. It does
// what LEAT_FAILPOINT says, and panics when that cannot be read.
func Hook() func(name string) {
	text := os.Getenv("LEAT_FAILPOINT")
	if text == "" {
		return func(string) {}
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		panic(fmt.Sprintf("LEAT_FAILPOINT is %q, not name:passes:kill or name:passes:stop", text))
	}
	passes, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		panic(fmt.Sprintf("LEAT_FAILPOINT: %v", err))
	}
	var seen atomic.Int64
	return func(name string) {
		if name != parts[0] || seen.Add(1) != passes+1 {
			return
		}
		if parts[2] == "stop" {
			stop(name)
			return
		}
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			panic(fmt.Sprintf("failpoint %s: %v", name, err))
		}
		select {} // the signal is on its way
	}
}

// stop stops the process. The signal goes to the thread that is at the point:
// by way of another it would come there too late, and the thread would go on.
func stop(name string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), syscall.SIGSTOP); err != nil {
		panic(fmt.Sprintf("failpoint %s: %v", name, err))
	}
}

// Broken reports whether LEAT_BREAK names the rule.
func Broken(rule string) bool {
	return slices.Contains(strings.Split(os.Getenv("LEAT_BREAK"), ","), rule)
}
