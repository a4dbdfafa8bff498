package rpc

import (
	"cmp"
	"slices"
	"sync/atomic"
	"time"
)

// Hooks are called when something happens that a metric counts. Each may be nil.
// They are called on the goroutine where it happens: they must not wait, nor call
// into the Env.
type Hooks struct {
	// AskDone tells of each [Ask] how long it took and how it ended.
	AskDone func(ref Ref, took time.Duration, err error)
	// LateReply tells of a reply that nobody waited for any more; addr is empty for
	// a local one.
	LateReply func(addr Addr)
	// Dropped tells of one-way messages that were accepted and then given up: to is
	// an endpoint of ours or a peer's address.
	Dropped func(to string, messages int, err error)
	// Reconnected tells that a connection is up after at least one failure.
	Reconnected func(addr Addr)
}

// counters are what [Stats] counts up.
type counters struct {
	late, dropped, expired, refused, reconnects atomic.Uint64
}

// Stats is a moment's view of an Env.
type Stats struct {
	Inboxes  []QueueStats
	Outboxes []OutboxStats
	// What happened since the Env was made.
	LateReplies, Dropped, Reconnects uint64
	// ExpiredAsks were not begun, because their askers had given up; Refused is
	// connections that did not pass the handshake.
	ExpiredAsks, Refused uint64
}

// QueueStats is one endpoint's queue, what is in work included.
type QueueStats struct {
	Endpoint string
	Messages int
	Bytes    int64
}

// OutboxStats is what waits for one process.
type OutboxStats struct {
	Addr      Addr
	Connected bool
	// Bytes are not yet with the kernel; Asks wait for their replies.
	Bytes, Asks int
}

// Stats reads the queues and counters.
func (env *Env) Stats() Stats {
	s := Stats{
		LateReplies: env.count.late.Load(), Dropped: env.count.dropped.Load(), Reconnects: env.count.reconnects.Load(),
		ExpiredAsks: env.count.expired.Load(), Refused: env.count.refused.Load(),
	}
	env.mu.RLock()
	listed := env.listed
	env.mu.RUnlock()
	for _, in := range listed {
		messages, bytes := in.size()
		s.Inboxes = append(s.Inboxes, QueueStats{in.name, messages, bytes})
	}
	for _, o := range env.liveOutboxes() {
		o.mu.Lock()
		s.Outboxes = append(s.Outboxes, OutboxStats{o.addr, o.state == outConnected, len(o.buf) + o.writing, o.calls.n})
		o.mu.Unlock()
	}
	slices.SortFunc(s.Inboxes, func(a, b QueueStats) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	slices.SortFunc(s.Outboxes, func(a, b OutboxStats) int { return cmp.Compare(a.Addr, b.Addr) })
	return s
}

func (env *Env) late(addr Addr) {
	env.count.late.Add(1)
	if f := env.cfg.Hooks.LateReply; f != nil {
		f(addr)
	}
}

func (env *Env) dropped(to string, messages int, err error) {
	if messages == 0 {
		return
	}
	env.count.dropped.Add(uint64(messages))
	if f := env.cfg.Hooks.Dropped; f != nil {
		f(to, messages, err)
	}
}

func (env *Env) reconnected(addr Addr) {
	env.count.reconnects.Add(1)
	if f := env.cfg.Hooks.Reconnected; f != nil {
		f(addr)
	}
}
