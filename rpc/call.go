package rpc

import (
	"math"
	"sync/atomic"
	"time"
)

// call is an ask that waits for its answer. Calls are used again: a generation,
// which grows with each use, tells a late answer from the one that is waited for.
// Exactly one of reply, fail and the asker's own settle wins.
type call struct {
	// state is generation<<2, limited and settled. A call that is not in use is
	// settled.
	state atomic.Uint64
	// done has room for one, so that whoever answers never waits.
	done chan struct{}
	// What the winner leaves, before it signals done.
	result parcel
	err    error

	name string
	// slot is its place in the outbox's table, for a remote ask.
	slot uint32
	env  *Env

	// The timeout of asks whose context has none. The timer is not stopped and
	// started for each ask, which would cost as much as the rest: it looks every
	// quarter of the time whether it still sees the same ask.
	timer   *time.Timer
	ticking atomic.Bool
	// seen is the state that the last ticks saw, and how often; the timer's.
	seen  uint64
	times int
}

const (
	callSettled = 1
	callLimited = 2
	callShift   = 2
)

// timeoutTicks is how many ticks of its timer an ask may live to see.
const timeoutTicks = 4

func makeCall(env *Env) *call {
	c := &call{done: make(chan struct{}, 1), env: env}
	c.state.Store(callSettled)
	// It is set when a use needs it.
	c.timer = time.AfterFunc(math.MaxInt64, c.tick)
	c.timer.Stop()
	return c
}

// newCall takes a call into use; limited: Config.AskTimeout is its bound.
func (env *Env) newCall(name string, limited bool) *call {
	c := env.calls.Get().(*call)
	c.name = name
	state := (c.generation() + 1) << callShift
	if limited {
		state |= callLimited
	}
	c.state.Store(state)
	if limited && !c.ticking.Load() && c.ticking.CompareAndSwap(false, true) {
		c.tickAgain()
	}
	return c
}

// generation is what an answer has to name.
func (c *call) generation() uint64 { return c.state.Load() >> callShift }

// settle decides who answers; false: somebody has, or nobody waits.
func (c *call) settle(generation uint64) bool {
	state := c.state.Load()
	return state>>callShift == generation && state&callSettled == 0 && c.state.CompareAndSwap(state, state|callSettled)
}

func (c *call) reply(generation uint64, p *parcel) bool {
	if !c.settle(generation) {
		c.env.late("")
		return false
	}
	c.result = *p
	c.done <- struct{}{}
	return true
}

func (c *call) fail(generation uint64, err error) bool {
	if !c.settle(generation) {
		return false
	}
	c.err = err
	c.done <- struct{}{}
	return true
}

// recycle ends a use after done was received: nobody holds this generation any
// more who could still win.
func (c *call) recycle() {
	c.result, c.err = parcel{}, nil
	c.env.calls.Put(c)
}

func (c *call) tickAgain() {
	c.timer.Reset(c.env.cfg.AskTimeout / timeoutTicks)
}

// tick ends an ask that it has seen often enough, and goes on as long as it finds
// the call in use.
func (c *call) tick() {
	state := c.state.Load()
	if state&callSettled != 0 {
		c.ticking.Store(false)
		// Whoever took the call into use just now has seen it ticking.
		if c.state.Load()&callSettled != 0 || !c.ticking.CompareAndSwap(false, true) {
			return
		}
	}
	if c.seen != state {
		c.seen, c.times = state, 0
	}
	if c.times++; c.times > timeoutTicks && state&callLimited != 0 && state&callSettled == 0 {
		c.fail(state>>callShift, &failedAsk{endpoint: c.name, kind: ErrTimeout})
	}
	c.tickAgain()
}
