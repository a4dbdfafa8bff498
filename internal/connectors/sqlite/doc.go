// Package sqlite reads and writes tables of SQLite files.
//
// # Source
//
// A table is split by ranges of its rowid, or of its key when it has none; a
// position is the rowid or key of the last row. A query or a view is one
// split without positions. Each reader reads in the snapshot of one SELECT,
// through a connection for queries only.
//
// # Sink
//
// The target's file holds two tables of ours, leat_runs and leat_positions
// (exactness rules 1 to 4, 7, 8, 14). A writer's transaction takes the file's
// write lock (BEGIN IMMEDIATE) at its first record after a commit, and ends
// with the update of the split's row where the token is still the attempt's.
//
//	run:    none -> open (Prepare) -> finished (Finish) | abandoned (a later run's Prepare)
//	writer: claimed -> writing (lock held) -> committed -> writing … -> closed
//
// The run's row notes the table as it was (see mark): a table that a resumed or
// ending run finds without the rows that it has committed was reset, Fatal.
//
// SQLite has one writer at a time and nobody can be ended: a claim or a commit
// that finds the file locked for five seconds fails, retryable, and says who
// holds it. Within the process writers queue at the sink's gate. The journal
// mode of the file is left as it is; commits are synced (synchronous=FULL).
//
// # Types
//
// SQLite's types are loose: a column's declared type gives it an affinity,
// which turns values of other classes where it can. Values are bound as what
// is then stored, and a value that would not read back the same is dirty.
// A value of another class than its column's is read where its text says the
// same, else it is dirty; a blob never becomes a text. A column without a type
// has texts of its numbers, so that their class is lost; where the target is
// made, the type that all its values have is found first (Infer). Tables that
// we make declare TEXT for all that has no exact type in SQLite.
package sqlite
