package ha

import "context"

// CheckpointID numbers a job's checkpoints; it only grows.
type CheckpointID uint64

// Checkpoint is one that was completed.
type Checkpoint struct {
	ID CheckpointID
	// Data is the caller's own, before and after.
	Data []byte
}

// Checkpoints keeps one job's completed checkpoints: the newest few, as
// configured. Several goroutines may use it; one leader at a time writes.
type Checkpoints interface {
	// NextID returns a number that no process has been given for this job, now or
	// later, also if the store is deleted or restored meanwhile. There may be
	// gaps: an ambiguous reply skips a number.
	NextID(ctx context.Context, term Term) (CheckpointID, error)
	// Add stores a completed checkpoint: its blob first, durably, then the
	// pointer. Nil: it is stored. An ErrAmbiguous: it may be, and Latest will tell;
	// calling Add again with the same checkpoint is right. Any other error: it is
	// not, and will not be. Older checkpoints beyond those kept are removed later,
	// on another goroutine. An id not above the newest is an ErrConflict.
	Add(ctx context.Context, term Term, c Checkpoint) error
	// Latest returns the newest; ErrNotFound: the job has none. If the newest
	// cannot be read, that is the error: an older one is never given instead.
	Latest(ctx context.Context) (Checkpoint, error)
	// IDs lists what is kept, oldest first.
	IDs(ctx context.Context) ([]CheckpointID, error)
	// Get returns one of those.
	Get(ctx context.Context, id CheckpointID) (Checkpoint, error)
	// Discard removes all of the job's checkpoints and its counter, when the job
	// has ended. Idempotent.
	Discard(ctx context.Context, term Term) error
}
