// Package verify compares what a job's source holds with what its target
// holds, without copying. It reads both sides whole through the connectors'
// sources, makes the same of the source's records as a run would (where,
// columns, casts, the target's types), brings each cell into the canonical
// text of the target's type, and adds up a 128-bit hash per record: a sum does
// not depend on the order, and counts doubled records.
//
// # Passes
//
//	first    both sides whole, and a sample of the keys
//	second   only when they differ and there is a key: counts and sums per
//	         range of keys, whose bounds are from the sample
//
// Memory is bounded by the sample and the ranges, whatever the tables hold.
// Equal sums of different records would need a collision of SHA-256 cut to
// 128 bits, added up; nobody who wants one can choose the records' order.
package verify
