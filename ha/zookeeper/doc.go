// Package zookeeper is high availability on a ZooKeeper ensemble. It implements
// the seam below package ha on sessions of package zk; election, retrieval and the
// record stores are the same on every store.
//
// # In the store
//
// Below path.root and the cluster's id, by default:
//
//	epoch                       the last take-over: number, grant, name, time
//	leaderlatch/lock            who leads: its grant's uuid (ephemeral)
//	leaderlatch/g-GRANT         that grant, while it lasts (ephemeral)
//	leaderlatch/s-ID            a session that has come to compete (ephemeral)
//	leader/COMPONENT_lock       address, session id and epoch (ephemeral)
//	contenders/NAME             who takes part (ephemeral)
//	checkpoints/, checkpoint-counter/, jobgraphs/, running_job_registry/,
//	results/, counters/, cluster/
//
// # Fencing
//
// Taking over is one transaction: the epoch's node is set, if its version is the one
// that was read, and the two nodes of the latch are created; before it goes a check
// that the session's own node, made before that reading, still exists: else the
// namespace is another by now, whose versions say nothing. Each later write of the
// term is one transaction with two checks before it: the epoch's node has the version
// that the take-over gave it, and the grant's node exists. Versions start anew in a
// folder that was removed; names of grants do not come back.
//
// # What is relied on
//
// A session's trust is reckoned from syncs that the store's leader has answered, or
// from its writes; see package zk. A leader of the store without its quorum answers
// syncs for syncLimit × tickTime more; with Config.FencedRenewals a renewal is a
// fenced write, which it cannot answer.
package zookeeper
