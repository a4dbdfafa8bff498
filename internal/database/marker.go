package database

import (
	"fmt"

	"github.com/leatdata/leat/connector"
)

// The outcomes of a run; an open one has none, or one of the last two.
const (
	Finished = "finished"
	GivenUp  = "given up"
	// Renaming: all rows are counted, and the staging table is about to become
	// the table that the run makes.
	Renaming = "renaming"
	// Posting: the result is visible, and statements of post are under way.
	Posting = "posting"
)

// IsOpen is the condition of Marker.Open in SQL.
const IsOpen = "(outcome IS NULL OR outcome IN ('" + Posting + "', '" + Renaming + "'))"

// Marker is a run's row in the table of runs.
type Marker struct {
	Run     string
	Outcome string
	Target  string
	Staging string
	// Splits is how many rows of splits were inserted.
	Splits int64
}

// Open reports whether the run takes rows.
func (m *Marker) Open() bool {
	return m.Outcome == "" || m.Outcome == Posting || m.Outcome == Renaming
}

// Filled is the table that the run's rows go into, as SQL.
func (m *Marker) Filled() string {
	if m.Staging != "" {
		return m.Staging
	}
	return m.Target
}

// Unfinished is the error of a user who begins a run of which the target knows
// an unfinished one: of another job that copies the same, or of the same with
// another state. started is when that was begun, in UTC.
func Unfinished(run connector.Run, old, oldJob, started string) error {
	whose := fmt.Sprintf("job %q, which copies the same", oldJob)
	if oldJob == run.Job {
		whose = "this job with another state folder"
	}
	return connector.Errorf(connector.Usage,
		"the target holds an unfinished run of %s, begun at %.19s UTC (run %s): go on with that one by its own command and state folder (--state), or give it up and begin anew with --restart", whose, started, old)
}

// AppendsAgain is the error of a user who gives a run up that had finished:
// mode append would have its rows twice.
func AppendsAgain(run, table string) error {
	return connector.Errorf(connector.Usage,
		"run %s, which --restart gives up, had finished: all its rows are in table %s, and mode append would add them again; start without --restart to end it as done, or say --keep-rows to copy once more", run, table)
}
