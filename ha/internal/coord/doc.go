// Package coord is the seam between high availability and the store that keeps
// it: ZooKeeper, etcd, or the embedded one. A store implements [Store] and
// [Session]; election, retrieval and all record stores are written once, on top.
//
// # A session
//
// A [Session] is one generation of being known to the store: a ZooKeeper session,
// an etcd lease. While it lives, it reconnects by itself and as often as it has
// to, with jittered back-off, under the same identity. Once it is over, it is
// over: every call fails with [ErrSessionOver], and whoever uses it closes it
// and opens another. Who decides that it is over is the store, by telling so, or
// the election, whose clock is stricter; a session never renews itself.
//
// # What the store keeps
//
// All keys are logical: a folder of [Folders] and one name below it, or one of
// the single keys. Names are escaped already: letters, digits, '.', '_', '%', '-'.
// The store maps them to where it keeps them, below root and cluster id.
//
//	epoch            the number, uuid, holder and time of the last take-over
//	leaderlatch/lock owned by the session of who leads
//	leader/NAME_lock a component's address, session id and epoch; owned likewise
//	contenders/NAME  who takes part; owned by each one's session
//	the other folders: records without owner
//
// # Outcomes
//
// Each call has one of three outcomes: done; refused, which means that nothing has
// changed and nothing will ([ha.ErrFenced], [ha.ErrExists], [ha.ErrConflict],
// [ha.ErrNotFound], [ErrHeld], [ha.ErrUnavailable], [ha.ErrForbidden],
// [ErrSessionOver] from a read); or ambiguous, [ha.ErrAmbiguous]: the request may
// have been, or may yet be, carried out. A write whose reply is lost is ambiguous
// whatever it was that lost it: the end of ctx, of the connection, or of the
// session. An implementation never repeats a write by itself.
//
// Reads are linearizable: never older than their call's start (ZooKeeper: a sync
// first).
package coord
