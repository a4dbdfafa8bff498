package zk

import "time"

// Clock says how much time has passed since some moment in the past. It never
// steps back, is not set by anybody, and goes on while the machine is suspended.
type Clock interface {
	Now() time.Duration
}
