package job

import (
	"time"

	"github.com/leatdata/leat/connector"
)

// Job is a job file, read and checked as far as it can be without connecting.
type Job struct {
	// Name names the job's state; it is fit for a file's name.
	Name   string
	Source Endpoint
	Sink   Endpoint
	// Columns chooses, renames, casts and adds; empty is all, by name.
	Columns []Column
	// Where keeps the records for which it is true; "" keeps all.
	Where string
	// Parallelism is the number of subtasks, 0 when the engine decides.
	Parallelism int
	Speed       Speed
	Errors      Errors
	Checkpoint  Checkpoint
	Restart     Restart
	// Warnings are for the user before a run: secrets that stand in the file.
	Warnings []string

	redactor *redactor
}

// Endpoint is one side of a job: a connector and its options.
type Endpoint struct {
	// Connector is the connector's name.
	Connector string
	// Definition is what the registry has under that name.
	Definition *connector.Definition
	// Values are the options as given.
	Values map[string]any
	// Options is the parsed struct that the connector declares.
	Options any

	// hidden names the options that hold a value of the environment or a file.
	hidden map[string]bool
}

// Speed bounds what the whole job passes on per second; 0 is no bound.
type Speed struct {
	Bytes   int64
	Records int64
}

// Errors bounds the dirty records of a run; a bound is passed when it is
// exceeded.
type Errors struct {
	// Records is the largest number; negative is no bound.
	Records int64
	// Percentage is the largest share of the records read, 0 to 100; negative
	// is no bound.
	Percentage float64
	// Dirty is the file that gets the dirty records, "" for one in the state.
	Dirty string
}

// Checkpoint says how often the state is made durable.
type Checkpoint struct {
	Interval time.Duration
	// Keep is the number of older states kept besides the last.
	Keep int
}

// Restart says how often a failed attempt is tried again.
type Restart struct {
	// Attempts is the number of attempts after the first that may fail one
	// after the other without any progress.
	Attempts int
	// Backoff is the first pause; it doubles.
	Backoff time.Duration
}

// Redact returns a text without the job's secrets.
func (j *Job) Redact(text string) string {
	if j == nil || j.redactor == nil {
		return newRedactor(nil).text(text)
	}
	return j.redactor.text(text)
}
