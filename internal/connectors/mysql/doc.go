// Package mysql reads and writes MariaDB and MySQL.
//
// # Source
//
// Rows come by the text protocol, straight into the batch; floats are asked for
// as doubles, whose text is exact. A table with a unique key without NULL is
// split by ranges of it, in the server's own order, and read on after any row;
// a table without one, a view or a query is one split, or ranges of a named
// column. Bounds and positions are the server's values: comparing, sorting and
// what is equal under a collation is left to it.
package mysql
