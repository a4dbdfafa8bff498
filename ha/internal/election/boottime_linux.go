package election

import (
	"time"

	"golang.org/x/sys/unix"
)

// BootTime is CLOCK_BOOTTIME: it goes on while the machine is suspended, and
// nobody sets it.
func BootTime() Clock { return bootTime{} }

type bootTime struct{}

func (bootTime) Now() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("clock_gettime(CLOCK_BOOTTIME): " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}
