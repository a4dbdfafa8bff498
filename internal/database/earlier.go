package database

import (
	"context"
	"log/slog"

	"github.com/leatdata/leat/connector"
)

// Earlier is how a sink deals with earlier runs of the job that are still
// open, before it begins a new one.
type Earlier struct {
	Log  *slog.Logger
	Mode string
	// Look reads the marker of a run that another process may be finishing,
	// under the run's lock; nil when there is none.
	Look func(run string) (*Marker, error)
	// Open lists the open runs of the job.
	Open func() ([]OpenRun, error)
	// GiveUp closes an earlier run: claims and commits of its attempts fail
	// from then on.
	GiveUp func(old string) error
}

// Settle refuses to begin beside an open run, or gives it up where the user
// says so.
func (e *Earlier) Settle(run connector.Run) error {
	if !run.Fresh && !run.Restart {
		return nil
	}
	if err := e.checkFinished(run); err != nil {
		return err
	}
	open, err := e.Open()
	if err != nil {
		return err
	}
	for _, old := range open {
		if !run.Restart {
			return Unfinished(run, old.Run, old.Job, old.Started)
		}
		if err := e.GiveUp(old.Run); err != nil {
			return err
		}
	}
	return nil
}

// checkFinished looks whether the run that the user gives up has ended here,
// before our side could note it: mode append would have its rows twice.
func (e *Earlier) checkFinished(run connector.Run) error {
	if run.Abandoned == "" {
		return nil
	}
	m, err := e.Look(run.Abandoned)
	if err != nil || m == nil || m.Outcome != Finished {
		return err
	}
	if e.Mode == Append && !run.KeepRows {
		return AppendsAgain(run.Abandoned, m.Target)
	}
	e.Log.Warn("the run that is given up had finished in the target", "run", run.Abandoned, "table", m.Target)
	return nil
}

// OpenRun is an open run: by which job, and when it was begun.
type OpenRun struct{ Run, Job, Started string }

// OpenRuns lists the open runs of a job, and the abandoned one, but not run
// itself. With lock their markers are locked until the transaction ends.
func (l *Ledger) OpenRuns(ctx context.Context, s Session, run connector.Run, lock bool) ([]OpenRun, error) {
	sql := "SELECT run, job, started FROM " + l.Runs + " WHERE " + IsOpen + " AND run <> " + l.Text(run.ID) + " AND (job_hash = " + l.Text(run.JobHash)
	if run.Abandoned != "" {
		sql += " OR run = " + l.Text(run.Abandoned)
	}
	sql += ") ORDER BY started"
	if lock {
		sql += " FOR UPDATE"
	}
	rows, err := s.Rows(ctx, sql)
	runs := make([]OpenRun, len(rows))
	for i, row := range rows {
		runs[i] = OpenRun{Run: string(row[0]), Job: string(row[1]), Started: string(row[2])}
	}
	return runs, l.Wrap("look for open runs of the job", err)
}

// GiveUp marks an earlier run as given up, in a transaction.
func (l *Ledger) GiveUp(ctx context.Context, s Session, run connector.Run, m *Marker, mode string) error {
	if err := l.LockSplits(ctx, s, m.Run); err != nil {
		return err
	}
	states, err := l.States(ctx, s, m)
	if err != nil && connector.ClassOf(err) != connector.Fatal {
		return err
	}
	if written := total(states).Written; mode == Append && written > 0 && !run.KeepRows {
		return connector.Errorf(connector.Usage,
			"the run to give up has put %d rows into the table, and mode append would add all of them again: remove them first and say --keep-rows, or say --keep-rows to keep them", written)
	}
	return l.End(ctx, s, m.Run, GivenUp, "")
}
