package connector

import (
	"context"

	"github.com/leatdata/leat/batch"
)

// Source reads records. It is made for one job, from its options and a
// SourceEnv. Its methods may be called concurrently.
type Source interface {
	// Schema returns the columns that the reader's batches will have, after
	// the options' choice of columns where the source makes it. It may
	// connect. A type of Untyped means "whatever the target says".
	Schema(ctx context.Context) (*batch.Schema, error)

	// Enumerate returns the splits after a cursor that an earlier step
	// returned, or from the start for "". first is the id for the first of
	// them. The same cursor after a crash may give other splits than before
	// the crash, so the engine stores a step's splits with its Next before
	// it uses any.
	Enumerate(ctx context.Context, cursor Cursor, first SplitID, want Want) (Enumeration, error)

	// Open starts to read a split after a position; "" is its start. What
	// the split was made from is checked here (a file's size and hashes, a
	// table's filenode): another file of that name is a Permanent error.
	Open(ctx context.Context, split Split, pos Position) (Reader, error)

	// Close ends what the source holds open. It may be called twice.
	Close() error
}

// Want is what the engine asks of an enumeration.
type Want struct {
	// Parallelism is the number of subtasks that will read.
	Parallelism int
	// Ordered asks for splits whose order, and the order within them, is the
	// source's own, as few as it can: one target file will hold them all.
	Ordered bool
}

// Inferrer is a Source that can find the types of its Untyped columns by
// reading all records. It is asked when the sink makes the target itself.
type Inferrer interface {
	// Infer returns the schema with no Untyped column left. A type is given
	// only when every value prints back unchanged from it; else it is Text.
	Infer(ctx context.Context) (*batch.Schema, error)
}

// Recaller is an Inferrer that reads differently once it knows what it has
// found.
type Recaller interface {
	// Recall takes the schema that Infer returned in an earlier start of the
	// run, in whose place it is called.
	Recall(schema *batch.Schema)
}

// Typer is a Source that reads differently once it knows what the target
// makes of its columns: a CSV field for a bytes column, say.
type Typer interface {
	// SetTypes gives the final types by field name, before any Open.
	SetTypes(types map[string]batch.Type)
}

// Describer is a Source or Sink that has more to say in `leat validate`.
type Describer interface {
	// Describe returns lines such as "splits: by key id, 1 to 90000".
	Describe(ctx context.Context) ([]string, error)
}

// Filterer is a Source that takes the job's where as its own SQL. A source
// that is not one has it evaluated by the engine.
type Filterer interface {
	// PushesFilter reports that SourceEnv.Where was taken.
	PushesFilter() bool
}

// Reader reads one split. It belongs to one goroutine.
type Reader interface {
	// Next fills b, which is empty and of the source's schema, with at least
	// one record or reject, at most batch.RowsOf its columns and about
	// batch.MaxBytes; with at most b.Most.Rows where that is given, and no more
	// than a few KiB beyond b.Most.Bytes and a record. At the end, once the end is proved (the file's size, the server's
	// count), it returns io.EOF and leaves b empty. An end that cannot be
	// proved is an error, Retryable when reading again may help.
	Next(ctx context.Context, b *batch.Batch) error

	// Position is where to go on after the last batch of Next; ok is false
	// when the source cannot go on there (the split then commits once, at
	// its end).
	Position() (pos Position, ok bool)

	// Close ends the reading at any point. It may be called twice, and from
	// another goroutine while Next runs, which then returns an error.
	Close() error
}
