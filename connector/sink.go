package connector

import (
	"context"

	"github.com/leatdata/leat/batch"
)

// Guarantee says how a sink commits.
type Guarantee uint8

// The guarantees.
const (
	// AtLeastOnce: after a crash some records may be there twice.
	AtLeastOnce Guarantee = iota
	// WithPosition: the split's state commits with its rows, in the target.
	WithPosition
	// Staged: each attempt writes its own files; Finish makes them visible.
	Staged
)

// String returns the guarantee in words for people.
func (g Guarantee) String() string {
	return [...]string{
		"at least once: after a crash some records may be there twice",
		"exactly once: the position commits in the transaction of the rows",
		"exactly once: files of its own per attempt, made visible at the end",
	}[g]
}

// Run names one execution of a job, over any number of crashes.
type Run struct {
	// ID is a uuid.
	ID string
	// Job is the job's name.
	Job string
	// JobHash identifies source, sink, columns and where; runs of one hash
	// write the same records to the same place.
	JobHash string
	// Fresh says that the state on disk knew no earlier run of this job: an
	// open run of the same hash that the target knows is then refused.
	Fresh bool
	// Restart says that the user asked to give up an earlier run; Abandoned
	// names it when the state knew it. KeepRows says that rows of it stay.
	Restart   bool
	KeepRows  bool
	Abandoned string
}

// Plan is what a sink will do with the columns it is given.
type Plan struct {
	// Schema is the target's columns for the input's fields: same order and
	// number, the target's names and types. Cells of an Untyped input field
	// reach the writer as they are, and the writer parses them by this type.
	Schema *batch.Schema
	// Guarantee is how rows will commit, given what the target is.
	Guarantee Guarantee
	// Creates says that the target does not exist and will be made from the
	// input's types, so that these should be known.
	Creates bool
	// MaxWriters bounds parallel writers; 0 is no bound.
	MaxWriters int
	// Ordered says that all records end in one place in the source's order.
	Ordered bool
	// Stream says that records pass on and stand nowhere, as on standard output:
	// that a new start writes them again surprises nobody.
	Stream bool
	// Empties says that Prepare removes what the target holds.
	Empties bool
	// AllowRefused says that records which the target drops by itself (a
	// trigger that skips rows) do not fail the job.
	AllowRefused bool
	// Statements are the statements that Prepare and Finish will run, for people.
	Statements []string
	// Doubts are what may surprise the user, each a sentence.
	Doubts []string
}

// Attempt is one try at a split by one subtask.
type Attempt struct {
	Run   Run
	Split Split
	Token Token
	// Slot numbers the subtask, from 0; one subtask has one attempt at a time.
	Slot int
	// State is what the engine has stored of the split. A Staged sink goes
	// on from it; a WithPosition sink answers with what the target holds.
	State SplitState
	// Reject takes a record that the writer found dirty: row i of b, the column
	// at fault or "", of which kind that is, and why. A writer that cannot tell
	// the kind says CauseUntold: a NULL in the column counts as CauseNull then,
	// all else as CauseOther. It copies what it keeps.
	Reject func(b *batch.Batch, row int, column string, cause batch.Cause, reason string)
}

// Sink writes records. It is made for one job. Its methods may be called
// concurrently; after Resolve.
type Sink interface {
	// Resolve matches the fields to the target's columns by name. It may
	// connect, and changes nothing. A field that the existing target lacks,
	// a mode that cannot be had: a Usage error that names it and what works.
	Resolve(ctx context.Context, in *batch.Schema) (*Plan, error)

	// Prepare makes the target ready, once per run: calling it again for the
	// same run changes nothing. It returns ErrFinished when the target knows
	// the run as finished.
	Prepare(ctx context.Context, run Run) error

	// Register makes the splits known to the target, before any is claimed.
	// Known ones are left as they are. Fenced when the run is not open.
	Register(ctx context.Context, run Run, splits []Split) error

	// Claim makes the attempt the split's only owner: commits of lower
	// tokens fail from now on. It returns the writer and the split's durable
	// state, from which the reader has to go on; a state that is Done has a
	// nil writer. The caller closes the writer in any case.
	Claim(ctx context.Context, attempt Attempt) (Writer, SplitState, error)

	// States returns the durable states of all registered splits of a
	// WithPosition sink; nil for others. "Positions are gone" is Fatal.
	States(ctx context.Context, run Run) ([]SplitState, error)

	// Finish makes the result visible and closes the run in the target. It
	// is idempotent. states are all splits' final states in order.
	Finish(ctx context.Context, run Run, states []SplitState) error

	// Close ends what the sink holds open. It may be called twice.
	Close() error
}

// Writer writes the records of one attempt. Any error but a Dirty record
// (which goes to Attempt.Reject) ends the attempt.
type Writer interface {
	// Write takes the batch, and releases it when it is done with it.
	Write(ctx context.Context, b *batch.Batch) error

	// Flush returns when the target has judged all records written so far:
	// those that it refuses have been given to Reject. Nothing is durable
	// yet. More may be written after it.
	Flush(ctx context.Context) error

	// Commit makes all records since the last Commit durable together with
	// the state, which holds the position after them and the engine's
	// counts. The writer adds to what it claimed: the token, the commit
	// number, Written, Merged, Refused, BytesWritten, segments; and returns
	// what is now durable. Flush comes before it. Records that are refused
	// only now go to Reject, and Commit then returns ErrAgain without having
	// committed: the engine flushes its dirty records and commits again.
	Commit(ctx context.Context, state SplitState) (SplitState, error)

	// Close abandons what is not committed. It may be called twice.
	Close() error
}
