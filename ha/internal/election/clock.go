package election

import "time"

// Clock tells the time since some fixed moment. Trust is reckoned by it, so it
// must neither be set nor stand still.
type Clock interface{ Now() time.Duration }

// Monotonic is Go's own clock: it stands still while the machine is suspended,
// and is what a synctest bubble moves.
func Monotonic() Clock { return monotonic{start: time.Now()} }

type monotonic struct{ start time.Time }

func (m monotonic) Now() time.Duration { return time.Since(m.start) }
