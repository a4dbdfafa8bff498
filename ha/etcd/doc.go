// Package etcd is high availability on an etcd cluster of version 3.4 or later. It
// implements the seam below package ha on leases of etcd; election, retrieval and the
// record stores are the same on every store.
//
// # In the store
//
// Below etcd.path.root and the cluster's id:
//
//	epoch                       the last take-over: number, grant, name, time
//	leaderlatch/lock            who leads: its grant's uuid (goes with a lease)
//	leader/COMPONENT_lock       address, session id and epoch (goes with a lease)
//	contenders/NAME             who takes part (goes with a lease)
//	checkpoints/, checkpoint-counter/, jobgraphs/, running_job_registry/,
//	results/, counters/, cluster/
//
// # A session
//
// A session is a lease. Its calls begin on one line, a connection to one member; the
// line is left for one to another member when a renewal takes longer than T/8 (the
// first one, T/4), when the member cannot be reached or has no leader, or when its stream of watches breaks.
// Calls that are under way on a line that was left may still be answered for T/4. A
// new line makes all watches anew and signals each, so that no change is missed,
// whatever was lost or compacted in between.
//
//	open ──► line ──┬─ renewal late, member away or leaderless ──► next member's line
//	                ├─ the store says that the lease has ended ──► over
//	                └─ Close ──► lease revoked if it can be ──► over
//
// Members are asked through etcd's API itself, not through its client: that repeats
// requests by itself, and here a write whose reply is lost is told so, once. A write
// counts as not done only when the member has refused it, or its request was never
// handed to a connection.
//
// # Fencing
//
// Taking over is one transaction: if there is no lock, and the epoch's revision and
// value are those that were read, both are put. Each later write of the term is one
// transaction that compares the lock first: its value is the grant's uuid, written
// once, and it goes with this session's lease. Revisions and leases come back with a
// store that is restored from a copy; the uuid of a later grant does not.
//
// # What is relied on
//
// A renewal is an answered keep-alive, and after it a linearizable read of the same
// term of raft: a member that was the leader until lately, stopped or cut off, answers
// keep-alives which its successor does not know of. With Config.FencedRenewals the
// read has to find the lock as well. The margin is T/10, at least 100 ms. T is whole
// seconds, and at least one and a half election timeouts of the servers: they raise
// what is less.
//
// A new leader of the store renews every lease in full. So after a leader of ours has
// died while the store has changed its own, another leads within 2 × T + the store's
// election; else within T, and the half second at which the store looks for leases
// that have ended.
package etcd
