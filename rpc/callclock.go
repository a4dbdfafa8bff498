package rpc

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// timeoutTicks is how many ticks of the clock an ask may live to see.
const timeoutTicks = 4

// callClock ends the asks whose context has no deadline. One timer serves all
// calls of an Env, a quarter of Config.AskTimeout apart and only while there are
// such asks: to set and to stop a timer costs as much as the rest of an ask, and
// each processor looks at its own timers whenever it changes the goroutine.
type callClock struct {
	ticking atomic.Bool
	every   time.Duration

	mu    sync.Mutex
	timer *time.Timer
	// calls are all that were made; those that the pool has let go vanish.
	calls []weak.Pointer[call]
	// pruneAt is at how many those are looked for next.
	pruneAt int
}

// add makes a new call known.
func (k *callClock) add(c *call) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.calls) >= k.pruneAt {
		k.prune()
	}
	k.calls = append(k.calls, weak.Make(c))
}

func (k *callClock) prune() {
	kept := k.calls[:0]
	for _, w := range k.calls {
		if w.Value() != nil {
			kept = append(kept, w)
		}
	}
	clear(k.calls[len(kept):])
	k.calls, k.pruneAt = kept, max(64, 2*len(kept))
}

// want is told of an ask after it has begun: the clock has to tick as long as it
// waits.
func (k *callClock) want() {
	if !k.ticking.Load() && k.ticking.CompareAndSwap(false, true) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.again()
	}
}

// again sets the timer. It needs the lock.
func (k *callClock) again() {
	if k.timer == nil {
		k.timer = time.AfterFunc(k.every, k.tick)
		return
	}
	k.timer.Reset(k.every)
}

// tick looks at all calls, and is the last when none waits.
func (k *callClock) tick() {
	k.mu.Lock()
	defer k.mu.Unlock()
	found := false
	for _, w := range k.calls {
		if c := w.Value(); c != nil && c.tick() {
			found = true
		}
	}
	if !found {
		k.ticking.Store(false)
		// An ask that began just now has seen it ticking.
		if !k.anyWaits() || !k.ticking.CompareAndSwap(false, true) {
			return
		}
	}
	k.again()
}

func (k *callClock) anyWaits() bool {
	for _, w := range k.calls {
		if c := w.Value(); c != nil && waits(c.state.Load()) {
			return true
		}
	}
	return false
}
