package ha

import (
	"context"
	"time"
)

// Services hands each component what it needs to be highly available, and hides
// where that is kept. A process makes one, by a [Factory], and closes it. The
// same call returns views of the same thing: two Checkpoints of one job share
// their state.
type Services interface {
	// Election is a component's part in the process's election. Any name will do;
	// each call for one name returns the same.
	Election(component string) Election
	// Retrieval makes a new one for a component.
	Retrieval(component string) Retrieval
	// Checkpoints keeps a job's completed checkpoints.
	Checkpoints(job JobID) Checkpoints
	// JobGraphs keeps what was submitted.
	JobGraphs() JobGraphs
	// Jobs is the registry of jobs and their results.
	Jobs() Jobs
	// Blobs is the shared storage.
	Blobs() Blobs
	// Counters are the workers' counter nodes.
	Counters() Counters

	// Status asks the store who leads; it takes no part in the election.
	Status(ctx context.Context) (Status, error)
	// Observe tells of an epoch that was met in a refusal or a message: the
	// process's next grant, if it gets one, has a higher one. A higher epoch
	// than the present grant's ends that grant.
	Observe(epoch Epoch)

	// Close ends all elections and retrievals, waits until what runs has ended or
	// ctx does, and leaves everything in the store. A second call returns what the
	// first did.
	Close(ctx context.Context) error
	// CloseAndCleanUp closes, and removes everything of this cluster from the
	// store and the shared storage, but the marks of used epochs.
	CloseAndCleanUp(ctx context.Context) error
}

// Status is what the store says of the election.
type Status struct {
	// Held says that some process leads; the rest is of the last one that did.
	Held  bool
	Epoch Epoch
	Grant GrantID
	// Holder is the name that the leader's process gave itself.
	Holder string
	// Since is when it took over, by its own wall clock: for people only.
	Since time.Time
	// Contenders are the names of all processes that take part, the leader's
	// too, in their order.
	Contenders []string
}
