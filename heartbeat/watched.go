package heartbeat

import "sync/atomic"

// watched is a monitor as the sweep sees it, which goes through all of them in the
// order of memory. It is under the group's mutex.
type watched struct {
	last *atomic.Int64
	// allowed is for how long the target may be silent.
	allowed int64
	m       *Monitor
}

// settle takes back what was allowed beyond the timeout before the last heartbeat.
func (w *watched) settle(timeout int64) {
	if last := w.last.Load(); last != w.m.seen {
		w.m.seen, w.m.doubted, w.allowed = last, false, timeout
	}
}

// deadline is when the silence has lasted for as long as is allowed.
func (w *watched) deadline(timeout int64) int64 {
	if w.allowed != timeout {
		w.settle(timeout)
	}
	return Handle{last: w.last}.silentSince() + w.allowed
}

// excuse adds a stall of our own to what is allowed: as much of it as came after
// the last heartbeat; and leaves at least as long as the stall lasted, up to an
// interval, for what has queued up to be handled.
func (w *watched) excuse(now, stall, timeout, interval int64) {
	w.settle(timeout)
	silent := max(0, now-Handle{last: w.last}.silentSince())
	w.allowed += min(stall, silent)
	w.allowed = max(w.allowed, silent+min(stall, interval))
}
