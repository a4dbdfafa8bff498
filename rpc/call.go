package rpc

import "sync/atomic"

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

	// seen is the state that the clock's last ticks saw, and how often.
	seen  uint64
	times int
}

const (
	callSettled = 1
	callLimited = 2
	callShift   = 2
)

func makeCall(env *Env) *call {
	c := &call{done: make(chan struct{}, 1), env: env}
	c.state.Store(callSettled)
	env.clock.add(c)
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
	if limited {
		env.clock.want()
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

// waits says whether a state is that of an ask that only the clock ends.
func waits(state uint64) bool { return state&callSettled == 0 && state&callLimited != 0 }

// tick ends an ask that it has seen often enough; false: there is none that has
// to be seen again.
func (c *call) tick() bool {
	state := c.state.Load()
	if c.seen != state {
		c.seen, c.times = state, 0
	}
	if !waits(state) {
		return false
	}
	if c.times++; c.times > timeoutTicks {
		c.fail(state>>callShift, &failedAsk{endpoint: c.name, kind: ErrTimeout})
	}
	return true
}
