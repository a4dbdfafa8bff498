// Package stream makes records out of nothing, and lets records vanish or
// prints them: for trying a job out, for measuring, and for tests.
//
// # Source
//
// A record is a function of the seed, its row number and its column's name:
// reading a split again, from any position, gives the same cells, and leaving
// a column out changes no other. Splits are ranges of row numbers and a
// position is the number of the next row. An endless source (rows: 0) goes on
// to hand out splits.
//
// # Sink
//
// Without print it counts records and lets them go. It keeps nothing, so the
// state that the engine stores is all there is to know of a split, and its
// counters are exact: it says that it is Staged and never has a segment. With
// print each record is a line on standard output; what was printed cannot be
// taken back, so that it is at least once.
package stream
