// Package local runs a job in one process: the jobmaster, the subtasks and
// the state on disk. It is what `leat run` uses.
//
// # On disk
//
// A job has a folder of its own under the state folder:
//
//	lock         held by the process that runs the job; a second one gives up
//	state-N.json the run, its epoch, the stored types, the jobmaster's state
//	dirty/       dirty records, a file per split and attempt
//	dirty.jsonl  all of them, joined when the job ends (or where errors.dirty says)
//
// Each state is a new file, written whole and synced (exactness rule 11); the
// highest number counts. The epoch in it is raised and synced at each start,
// before any token is made of it. A state that says how the run ended well is
// the last thing that is written: the dirty records are joined before it.
// Where errors.dirty names a file, only one is replaced whose size and hash the
// state holds: what the job has written there itself. They are stored before
// the file is put in place. Any other file stands in the way, at the start
// and, when it has come since, at the end, from where the run is gone on with.
//
// # What a start does
//
//	no state, or a finished run   a new run
//	an unfinished run             it is gone on with, if the job still copies the same
//	… of a job that changed       refused; Restart gives the old run up
//	… that never prepared         of a job that changed: a new run; nothing was copied
//
// A new run is stored before the target is prepared, and marked as prepared
// after it; until then the run before it is kept, and comes back when the
// target refuses the new one.
//
// # Goroutines
//
// One loop owns the jobmaster. Each effect runs on a goroutine of its own
// and answers with an event; each slot is a goroutine that runs attempts.
// Run returns when all have ended.
package local
