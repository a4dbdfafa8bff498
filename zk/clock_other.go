//go:build !linux

package zk

import "time"

// monotonicClock counts since it was made. Whether it counts a suspended machine
// is the system's choice.
type monotonicClock struct{ start time.Time }

// Now is the time since the clock was made.
func (c monotonicClock) Now() time.Duration { return time.Since(c.start) }

func systemClock() Clock { return monotonicClock{time.Now()} }
