package zk

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock counts since the machine's start.
type bootClock struct{}

// Now is the time since the machine's start, suspended or not.
func (bootClock) Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("zk: the machine has no CLOCK_BOOTTIME: " + err.Error())
	}
	return time.Duration(t.Nano())
}

func systemClock() Clock { return bootClock{} }
