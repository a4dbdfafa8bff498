// Package native calls SQLite's C interface as modernc.org/sqlite translates
// it to Go, without database/sql between: values are bound from memory that a
// whole batch was copied to, and read straight into a batch, so that a row
// costs no allocation. Inserting is about twice as fast as through the driver,
// as BenchmarkInsert of this package measures it.
//
// A Conn and its statements belong to one goroutine at a time; Interrupt and
// the end of a context given to Watch may come from any.
package native
