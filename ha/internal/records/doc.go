// Package records is everything that high availability keeps in a coordination
// store and in the storage beside it: completed checkpoints and their counter, job
// graphs, the registry of jobs and their results, workers' counters, the marks of
// used epochs. It is written once, over coord.Session and ha.Blobs.
//
// # Pointers
//
// The coordination store holds pointers, the storage the blobs: key, size and sum.
//
//	write   blob, durably ─► pointer, in one fenced transaction ─► stored
//	remove  pointer ─► blob, on another goroutine
//
// So a pointer never points to nothing, and what a crash leaves over is a blob
// that nothing points to. A write whose reply was lost is asked again: each is
// conditional on the record's version, so that at most one of them is carried out.
// If its outcome stays unknown, or it was fenced, the blob stays. It is removed by a sweep: of
// its list after the next write under the same term has succeeded (the version has
// moved, so the old write cannot be carried out any more), or of the whole storage
// by the next leader (whose term fences it).
//
// # A deleted or restored store
//
// Reconcile runs before each grant. Marks and the cluster's uuid in the storage
// tell that the store is not what it was; then results, graphs and checkpoints are
// brought back from their blobs. What was removed stays removed, except that a
// result counts as not clean again.
package records
