// Package postgres reads and writes PostgreSQL. Rows travel by COPY both ways;
// the connection is driven at the level of its protocol, so that a record
// costs no allocation.
//
// # Sink
//
// The target's catalogue decides how each column is sent: COPY's binary form,
// or its text form when a column's type has no binary encoder here. What a
// column cannot hold exactly is refused before it is sent; what the server
// refuses is found by its line and left out (recover.go).
//
// Two tables of ours keep the books (ledger.go): a marker row per run, open
// until it is finished or given up, and a row per split with its token and
// state. A writer's way:
//
//	claimed ──Write──► in transaction, holding the split's row
//	                     │ COPY … under a savepoint each, Flush judges the last
//	                     ▼
//	                   Commit: deferred constraints, UPDATE … WHERE token = mine
//	                     │ one row            │ none
//	                     ▼                    ▼
//	                   COMMIT, claimed      fenced
//
// Any error but the refusal of a record ends the writer, and its session with
// it; the next attempt claims anew. Invariants:
//
//   - A split's row changes its state only in the transaction of its rows, and
//     only by the attempt whose token it bears.
//   - No claim inserts; split rows appear while the run is open, under the
//     marker's lock, and go when it ends.
//   - While a writer has a transaction it holds its split's row, so a newer
//     claim that waits sees whom to end (eviction.go).
//   - The marker names the files that hold the target's rows when the run
//     began; others at a start or at the end mean a reset (reset.go).
//
// # Source
//
// A table with a unique key is split by ranges of it, in the database's own
// order, and read on after any row. A table without one, or whose rows lie far
// from their key's order, is split by ranges of blocks, checked against the
// table's file; a view or a query is one split, or ranges of a named column.
// The end of a split is proved by COPY's own count.
package postgres
