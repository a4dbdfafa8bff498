// Package election decides when a process leads. There is one [Elector] per
// process; its components ([Component], which is ha.Election) lead together or not
// at all, and each [Retrieval] of the process lives on the same session.
//
// The brain is a pure state machine, [Core]: events and the time go in, effects
// come out as values. It has no clock, goroutine, lock, chance or I/O of its own,
// so that every scenario is a transcript in testdata. The Elector is one goroutine
// that runs it, and one more for each call and each callback under way.
//
// # States
//
//	           opened                lock free, claim succeeds
//	joining ───────────► following ─────────────────────────────► leading ◄─┐
//	   ▲                  ▲     ▲                                  │  │     │ renewal
//	   │                  │     └── lock gone, callbacks ended ── hold-off  │ succeeds
//	   │                  │                                        ▲  │     │
//	   │                  └────────────────────────────────────────┼──┼─► leading-
//	   │                                                           │  │   suspended
//	   │       resigned, fenced, lock lost, higher epoch, unhealthy┘  │     │
//	   └───────────── lease over, in any state ◄─────────────────────┴─────┘
//	                  any state ── Stop, callbacks ended ──► stopped
//
//	joining            no session. An open is under way, with a deadline, or due.
//	following          a session that is renewed, and a watch on the lock.
//	hold-off           following, but not to compete: until callbacks of the last
//	                   grant have returned, its lock is given back, and, after a
//	                   resignation, others have had the chance.
//	leading            a grant, and a watch on the lock.
//	leading-suspended  a renewal has failed or is late. Nobody is told.
//	stopped            the end; only Stop leads to it.
//
// In each state something is due at a known time (Core.Next): each call has a
// deadline after which it counts as failed, the lock is read again every minute
// though nothing was heard, and what to do next follows from the state and the
// time alone, never from a certain event. So no lost event can wedge it.
//
// # Trust
//
// A grant can be trusted until the start of the last renewal that succeeded + T -
// margin, by a clock that nobody sets and that counts a suspended machine. A
// renewal is sent every T/6; while renewals fail, a new one every T/48 to T/24,
// each counting from its own start. A loss shorter than T/2 changes nothing. When
// trust ends, contexts are cancelled, the session is dropped, and the process
// joins anew: whether callbacks have returned or not.
//
// # A grant
//
//	claim:   number = max(store, marks, met) + 1 ─► mark ─► one transaction
//	begin:   Config.BeforeGrant ─► each component's Grant, on its own goroutine
//	end:     contexts cancelled ─► each Revoke ─► all returned, or trust would have
//	         ended ─► lock released in one transaction with what was published
//
// A claim whose reply is lost is resolved by reading: the lock is ours only if it
// holds a uuid of a claim of ours and belongs to our present session; what comes before
// the grant is done then. A lock of
// our own that is not wanted is released. One of an older session of ours is
// somebody else's.
//
// # Back-off
//
// Full jitter, capped at min(1 s, T/3). After a store is healed, one leads within T
// + the store's tick + that cap.
package election
