package rpc

import (
	"sync/atomic"
	"time"
)

// call is an ask that waits for its answer. Calls are used again: a generation,
// which grows with each use, tells a late answer from the one that is waited for.
// Exactly one of reply, fail and abandon wins.
type call struct {
	// state is the generation and whether it is settled: generation<<1 | settled.
	state atomic.Uint64
	// done has room for one, so that whoever answers never waits.
	done chan struct{}
	// What the winner leaves, before it signals done.
	result parcel
	err    error

	timer *time.Timer
	// armed is the generation that the timer ends.
	armed uint64
	name  string
	// slot is its place in the outbox's table, for a remote ask.
	slot uint32
	env  *Env
}

func (env *Env) newCall(name string) *call {
	c := env.calls.Get().(*call)
	c.name = name
	return c
}

func makeCall(env *Env) *call {
	return &call{done: make(chan struct{}, 1), env: env}
}

// generation is what an answer has to name.
func (c *call) generation() uint64 { return c.state.Load() >> 1 }

// settle decides who answers; false: somebody has, or nobody waits.
func (c *call) settle(generation uint64) bool {
	return c.state.CompareAndSwap(generation<<1, generation<<1|1)
}

func (c *call) reply(generation uint64, p parcel) bool {
	if !c.settle(generation) {
		c.env.late("")
		return false
	}
	c.result = p
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

// arm starts the timeout of an ask whose context has none.
func (c *call) arm(d time.Duration) {
	c.armed = c.generation()
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.expire)
		return
	}
	c.timer.Reset(d)
}

func (c *call) expire() {
	c.fail(c.armed, &failedAsk{endpoint: c.name, kind: ErrTimeout})
}

// recycle ends a use after done was received: nobody holds this generation any
// more who could still win. A call whose timer is just firing is left to the
// garbage collector.
func (c *call) recycle(armed bool) {
	if armed && !c.timer.Stop() {
		return
	}
	c.result, c.err = parcel{}, nil
	c.state.Store((c.generation() + 1) << 1)
	c.env.calls.Put(c)
}
