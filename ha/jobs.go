package ha

import (
	"context"
	"fmt"
)

// JobGraphs keeps what was submitted, until the job is finished and cleaned.
type JobGraphs interface {
	// Put stores a graph, replacing the job's older one. Only nil means that it is
	// stored: accept a job only then. Idempotent: after an ErrAmbiguous or
	// ErrUnavailable the caller may call again with the same graph.
	Put(ctx context.Context, term Term, job JobID, graph []byte) error
	// Recover returns a graph. One that cannot be read is an error of this job
	// alone, and stays.
	Recover(ctx context.Context, job JobID) ([]byte, error)
	// Remove forgets a graph; that there is none is no error. Only its job's end
	// is a reason: never the loss of leadership.
	Remove(ctx context.Context, term Term, job JobID) error
	// List returns the jobs that have a graph, by name.
	List(ctx context.Context) ([]JobID, error)
}

// JobState is what the registry knows of a job.
type JobState uint8

// The states, in the order of a job's life.
const (
	// JobPending: nobody has begun to run it.
	JobPending JobState = iota
	// JobRunning: a leader has begun to run it, and it has no result.
	JobRunning
	// JobDone: it has a result, and is never run again.
	JobDone
)

// String returns PENDING, RUNNING or DONE.
func (s JobState) String() string {
	names := [...]string{"PENDING", "RUNNING", "DONE"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("JobState(%d)", uint8(s))
}

// Result is how a job ended.
type Result struct {
	Job JobID
	// Data is the caller's own.
	Data []byte
	// Clean says that nothing of the job is left but this result; until then
	// whoever leads has to clean up.
	Clean bool
}

// Jobs is the registry of running jobs and the store of their results.
type Jobs interface {
	// State tells; a job never heard of is JobPending.
	State(ctx context.Context, job JobID) (JobState, error)
	// SetRunning notes that the job runs. Idempotent; ErrConflict: it is done.
	SetRunning(ctx context.Context, term Term, job JobID) error
	// Finish stores the result, not yet clean, and thereby makes the job done.
	// Idempotent with the same data; ErrExists: it has another result.
	Finish(ctx context.Context, term Term, job JobID, data []byte) error
	// SetClean notes that the job has been cleaned up. Idempotent; ErrNotFound: it
	// has no result.
	SetClean(ctx context.Context, term Term, job JobID) error
	// Result returns a job's result; ErrNotFound: it has none.
	Result(ctx context.Context, job JobID) (Result, error)
	// Results lists all, by name. Those that cannot be read are in the error,
	// beside the others.
	Results(ctx context.Context) ([]Result, error)
	// Forget removes a clean result, and with it all that was known of the job. A
	// result that is not clean is an ErrConflict; none at all is no error.
	Forget(ctx context.Context, term Term, job JobID) error
}
