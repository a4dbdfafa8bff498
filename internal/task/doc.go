// Package task runs attempts: one try at one split by one subtask. It claims
// the split, reads from where the claim says, maps, writes, and commits.
//
// Two goroutines share an attempt. The feed reads, filters and converts; the
// writer's, which is Run's own, writes, keeps dirty records and commits.
// Batches go from the one to the other through a short channel and back
// through a pool.
//
//	Claim ─► Open ─► feed: Next, Map ──channel──► Write … Flush, dirty sync, Commit ─► report
//
// # What is durable when
//
// A commit has three steps in this order: the sink judges what was written
// (Flush), the dirty records beside those rows are synced (exactness rule
// 13), the rows and the split's state commit together (rule 3). A report goes
// out after that. It happens at 64 MiB, or one checkpoint interval after the
// one before, where the reader has a position; and at the split's end.
//
// # Failure
//
// Any error ends the attempt (rule 4): what is not committed is abandoned,
// and whoever assigned the attempt decides about another. A cancelled context
// is no failure.
package task
