package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
	"github.com/leatdata/leat/internal/database"
)

// Prepare makes the table ready, in one transaction with the run's marker
// (exactness rule 7).
func (s *Sink) Prepare(ctx context.Context, run connector.Run) error {
	tg, err := s.resolved()
	if err != nil {
		return err
	}
	err = s.change(ctx, func(c *native.Conn) error {
		if err := s.ledger.create(c); err != nil {
			return err
		}
		m, err := s.ledger.run(c, run.ID)
		if err != nil {
			return err
		}
		if m != nil {
			return s.prepared(c, m, tg)
		}
		if err := s.endEarlier(c, run); err != nil {
			return err
		}
		return s.begin(c, run, tg)
	})
	if err == nil {
		s.failpoint("after-prepare")
	}
	return err
}

// prepared checks that a run that was prepared before is still as it was left.
func (s *Sink) prepared(c *native.Conn, m *marker, tg *target) error {
	if _, err := s.ledger.open(c, m.id); err != nil {
		return err
	}
	return s.checkTarget(c, m, m.into(tg))
}

// into is the table that the run fills.
func (m *marker) into(tg *target) string {
	if m.staging != "" {
		return m.staging
	}
	return tg.name
}

// endEarlier gives up the runs that this one replaces, when the user asked
// for it, and refuses to start beside one that is still open.
func (s *Sink) endEarlier(c *native.Conn, run connector.Run) error {
	if err := s.checkFinished(c, run); err != nil {
		return err
	}
	open, err := s.ledger.markers(c, "state = 'open' AND (job_hash = ? OR run = ?)", run.JobHash, run.Abandoned)
	if err != nil {
		return err
	}
	for _, m := range open {
		if !run.Restart {
			return database.Unfinished(run, m.id, m.job, m.started)
		}
		if err := s.abandon(c, run, m); err != nil {
			return err
		}
	}
	return nil
}

// checkFinished looks whether the run that the user gives up has ended here,
// before our side could note it: mode append would have its rows twice.
func (s *Sink) checkFinished(c *native.Conn, run connector.Run) error {
	if !run.Restart || run.Abandoned == "" {
		return nil
	}
	m, err := s.ledger.run(c, run.Abandoned)
	if err != nil || m == nil || m.state != runFinished {
		return err
	}
	if s.options.Mode == database.Append && !run.KeepRows {
		return database.AppendsAgain(run.Abandoned, s.options.Table)
	}
	if s.env.Log != nil {
		s.env.Log.Warn("the run that is given up had finished in the target", "run", run.Abandoned, "table", s.options.Table)
	}
	return nil
}

func (s *Sink) abandon(c *native.Conn, run connector.Run, m marker) error {
	n, err := s.ledger.written(c, m.id)
	if err != nil {
		return err
	}
	if n > 0 && s.options.Mode == database.Append && !run.KeepRows && m.staging == "" {
		return connector.Errorf(connector.Usage, "run %s has put %d rows into table %s, and mode append would add them again: empty the table, use mode truncate, or keep the rows with --keep-rows", m.id, n, s.options.Table)
	}
	if m.staging != "" {
		if err := c.Exec("DROP TABLE IF EXISTS " + quote(m.staging)); err != nil {
			return err
		}
	}
	return s.ledger.end(c, m.id, runAbandoned)
}

// begin runs pre, makes or empties the table, and marks the run open.
func (s *Sink) begin(c *native.Conn, run connector.Run, tg *target) error {
	for _, statement := range s.options.Pre {
		if err := c.Exec(statement); err != nil {
			return fmt.Errorf("pre: %w", err)
		}
	}
	t, err := readTable(c, s.options.Table)
	if err != nil {
		return err
	}
	staging := ""
	switch {
	case s.options.Mode == database.Overwrite:
		staging = stagingName(run)
		err = s.createStaging(c, t, tg, staging)
	case t == nil && s.options.Create == database.CreateNever:
		err = connector.Errorf(connector.Usage, "there is no table %s in %s any more", s.options.Table, s.options.Path)
	case t == nil:
		err = c.Exec(tg.create(tg.name))
	case s.options.Mode == database.Truncate:
		err = c.Exec(deleteStatement(t.name))
	}
	if err != nil {
		return err
	}
	m, _, err := markOf(c, (&marker{staging: staging}).into(tg))
	if err != nil {
		return err
	}
	return s.ledger.begin(c, run, staging, m.String())
}

// createStaging makes the table that the run fills: as the target is, with
// its constraints and unique indexes, or new.
func (s *Sink) createStaging(c *native.Conn, t *table, tg *target, staging string) error {
	if t == nil {
		return c.Exec(tg.create(staging))
	}
	sql, err := renamedTable(t.sql, staging)
	if err != nil {
		return fmt.Errorf("copy the definition of table %s: %w", t.name, err)
	}
	if err := c.Exec(sql); err != nil {
		return fmt.Errorf("copy the definition of table %s: %w", t.name, err)
	}
	for i, index := range t.indexes {
		sql, err := renamedIndex(index, fmt.Sprintf("%s_%d", staging, i), staging)
		if err != nil {
			return fmt.Errorf("copy an index of table %s: %w", t.name, err)
		}
		if err := c.Exec(sql); err != nil {
			return fmt.Errorf("copy an index of table %s: %w", t.name, err)
		}
	}
	return nil
}

// Finish makes an overwriting run's rows visible, runs post, and closes the
// run, in one transaction.
func (s *Sink) Finish(ctx context.Context, run connector.Run, states []connector.SplitState) error {
	tg, err := s.resolved()
	if err != nil {
		return err
	}
	finished := false
	err = s.change(ctx, func(c *native.Conn) error {
		m, err := s.ledger.run(c, run.ID)
		if err != nil {
			return err
		}
		if m != nil && m.state == runFinished {
			finished = true
			return nil
		}
		if m, err = s.ledger.open(c, run.ID); err != nil {
			return err
		}
		if err := s.allDone(c, run, m); err != nil {
			return err
		}
		if err := s.checkTarget(c, m, m.into(tg)); err != nil {
			return err
		}
		if err := s.reveal(c, m, tg); err != nil {
			return err
		}
		for _, statement := range s.options.Post {
			if err := c.Exec(statement); err != nil {
				return fmt.Errorf("post: %w", err)
			}
		}
		if err := s.ledger.end(c, run.ID, runFinished); err != nil {
			return err
		}
		s.failpoint("before-finish")
		return nil
	})
	if err == nil && !finished {
		s.failpoint("after-finish")
	}
	return err
}

// allDone checks once more, in the transaction that ends the run, that the
// target calls every split done.
func (s *Sink) allDone(c *native.Conn, run connector.Run, m *marker) error {
	states, err := s.ledger.states(c, run.ID)
	if err != nil {
		return err
	}
	if int64(len(states)) != m.splits {
		return s.ledger.splitsGone(m, len(states))
	}
	var open []string
	for _, state := range states {
		if !state.Done {
			open = append(open, fmt.Sprint(state.Split))
		}
	}
	if len(open) > 0 {
		return connector.Errorf(connector.Fatal, "run %s cannot finish: splits %s are not done", run.ID, strings.Join(open, ", "))
	}
	return nil
}

// reveal puts the rows of the staging table into the target.
func (s *Sink) reveal(c *native.Conn, m *marker, tg *target) error {
	if m.staging == "" {
		return nil
	}
	t, err := readTable(c, s.options.Table)
	if err != nil {
		return err
	}
	if t == nil {
		return c.Exec(renameStatement(m.staging, tg.name))
	}
	want := int64(0)
	err = c.Query("SELECT count(*) FROM "+quote(m.staging), nil, func(st *native.Stmt) error {
		want = st.Int64(0)
		return nil
	})
	if err != nil {
		return err
	}
	if err := c.Exec(deleteStatement(t.name)); err != nil {
		return err
	}
	if err := c.Exec(tg.moveStatement(m.staging)); err != nil {
		return err
	}
	if got := c.Changes(); got != want && !s.options.AllowRefused {
		return fmt.Errorf("table %s took %d of %d rows: its triggers skip some (allow_refused lets them)", t.name, got, want)
	}
	return c.Exec("DROP TABLE " + quote(m.staging))
}
