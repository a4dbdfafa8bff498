package zk

import "time"

// lease is what a session may be trusted for, by our own clock: until the start
// of the last renewal that was answered, plus the session timeout, less a margin
// of a quarter of it. The store's followers pass sessions on to its leader only
// every half tick, and a timeout is at least two ticks. It has no clock itself.
type lease struct {
	start   time.Duration
	timeout time.Duration
}

// renewed takes over a renewal that was started at start and answered.
func (l *lease) renewed(start time.Duration) { l.start = max(l.start, start) }

// end is when trust ends.
func (l lease) end() time.Duration { return l.start + l.timeout - l.timeout/4 }

// left is what is left of the trust at now, never below zero.
func (l lease) left(now time.Duration) time.Duration { return max(0, l.end()-now) }

// pace is how often a lease is renewed, and how long a renewal may take before
// its connection is given up. A cut right after a renewal is noticed at 5/12 of
// the timeout; one shorter than half the timeout leaves a twelfth to be back.
type pace struct {
	every, within time.Duration
}

func (l lease) pace() pace { return pace{every: l.timeout / 6, within: l.timeout / 4} }
