package heartbeat

import (
	"sync"
	"time"
)

// awake tells the time for which this process runs from the time that passes. Its
// owner means to wake once per tick: when it wakes later than that by more than
// slack, the process was stalled.
type awake struct {
	tick, slack int64

	mu sync.Mutex
	// planned is when the owner means to wake next; a multiple of tick after the
	// first.
	planned int64
	lost    int64
	// told is the latest time that was given out.
	told int64
}

func (a *awake) init(now, tick, slack int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tick, a.slack = tick, max(slack, tick)
	a.planned = now + tick
}

// observe is called when the owner has woken: for how long it was stalled, and how
// many ticks have passed.
func (a *awake) observe(now int64) (stall, ticks int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := now - a.planned
	if late < 0 {
		return 0, 0
	}
	ticks = late/a.tick + 1
	a.planned += ticks * a.tick
	if late > a.slack {
		a.lost += late
		return late, ticks
	}
	return 0, ticks
}

// wait is for how long to sleep.
func (a *awake) wait(now int64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Duration(max(0, a.planned-now))
}

// at is the time without the stalls, also without one that is just ending. It
// never goes back.
func (a *awake) at(now int64) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if late := now - a.planned; late > a.slack {
		now -= late
	}
	a.told = max(a.told, now-a.lost)
	return time.Duration(a.told)
}

func (a *awake) stalled() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Duration(a.lost)
}
