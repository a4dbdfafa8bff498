//go:build !linux

package election

// BootTime is Go's monotonic clock where the system has no CLOCK_BOOTTIME.
func BootTime() Clock { return Monotonic() }
