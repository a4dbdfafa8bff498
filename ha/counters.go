package ha

import "context"

// WorkerID names a worker's counter: its name and incarnation.
type WorkerID string

// Counters is the second witness that a worker lives: a number in the store
// that it moves, and that masters watch without any message between them.
type Counters interface {
	// Write sets a worker's own counter. Nobody else writes it, no term fences it.
	// An error means that it may not have been set: the next beat writes anew.
	Write(ctx context.Context, worker WorkerID, value uint64) error
	// Remove forgets a worker's counter. Idempotent.
	Remove(ctx context.Context, worker WorkerID) error
	// ReadAll returns every worker's counter, none older than the call. A read
	// that failed, or could be stale, is an error: it says nothing about anybody.
	ReadAll(ctx context.Context) (map[WorkerID]uint64, error)
}
