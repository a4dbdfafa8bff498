package heartbeat

import (
	"time"

	"golang.org/x/sys/unix"
)

// BootClock is a clock for [Config] that goes on while the machine is suspended,
// which the process's own does not: a worker that wakes from an hour's sleep then
// knows that it has been given up. Reading it is a system call.
func BootClock() time.Duration {
	var now unix.Timespec
	// It cannot fail: the clock exists, and so does the memory.
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &now)
	return time.Duration(now.Nano())
}
