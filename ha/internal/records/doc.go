// Package records is everything that high availability keeps in a coordination
// store and in the storage beside it: completed checkpoints and their counter, job
// graphs, the registry of jobs and their results, workers' counters, the marks of
// used epochs. It is written once, over coord.Session and ha.Blobs.
//
// # Pointers
//
// The coordination store holds pointers, the storage the blobs: key, size and sum.
//
//	write   blob, durably ─► pointer, in one fenced transaction ─► mirror ─► stored
//	remove  pointer ─► mirror ─► blob
//
// So a pointer never points to nothing, and what a crash leaves over is a blob
// that nothing points to. A write whose reply was lost is asked again: each is
// conditional on the record's version, so that at most one of them is carried out.
// If its outcome stays unknown, or it was fenced, the blob stays. It is removed by a sweep: of
// its list after the next write under the same term has succeeded (the version has
// moved, so the old write cannot be carried out any more), or of the whole storage
// by the next leader (whose term fences it). Versions begin anew when a record is
// removed: so one that such a write may yet change is not, but becomes a tombstone,
// until the next leader.
//
// # A deleted or restored store
//
// Mirrors are what the storage knows of records: written when the store has
// acknowledged a record, before the caller hears of it. A result's mirror is its copy.
//
// Reconcile runs before each grant. A mirror whose record is missing is brought back;
// where marks and the cluster's uuid in the storage tell that the store may be an old
// copy, what is older than its mirror is too. What was refused does not come back, nor
// what was removed, except that a result counts as not clean again. (A removal that a
// crash has cut short before its mirror went may be undone: nobody was told of it.)
package records
