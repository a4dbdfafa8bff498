package mysql

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Finish implements connector.Sink: one transaction judges the sums, makes an
// overwrite visible and closes the run. What commits by itself, a renaming and
// the statements of post, comes behind it, each step noted in the marker before.
func (k *Sink) Finish(ctx context.Context, run connector.Run, states []connector.SplitState) error {
	t, err := k.current()
	if err != nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		doing := "finish " + t.name.String()
		if t.ledger == nil {
			return wrap(doing, k.post(ctx, s))
		}
		err := k.locked(ctx, s, t.ledger.runLock(run.ID), func() error { return k.finish(ctx, s, t, run, states) })
		if err != nil {
			return wrap(doing, err)
		}
		k.fail("after-finish")
		return nil
	})
}

// finish takes the run from where it is to its end.
func (k *Sink) finish(ctx context.Context, s *session, t *target, run connector.Run, states []connector.SplitState) error {
	l := t.ledger
	m, err := l.Marker(ctx, s, run.ID)
	if err != nil {
		return err
	}
	if m == nil || m.Outcome != database.Finished {
		if err := l.Takes(m, run.ID); err != nil {
			return err
		}
	}
	outcome := m.Outcome
	if outcome == "" {
		if err := k.checkReset(ctx, s, t, m); err != nil {
			return err
		}
		if outcome, err = k.closeRows(ctx, s, t, run, states); err != nil {
			return err
		}
	}
	if outcome == database.Renaming {
		if err := k.rename(ctx, s, t, run); err != nil {
			return err
		}
		outcome = k.afterRows()
		if err := s.transact(ctx, func() error { return l.End(ctx, s, run.ID, outcome, "") }); err != nil {
			return err
		}
	}
	if outcome == database.Posting {
		if err := k.post(ctx, s); err != nil {
			return err
		}
		if err := s.transact(ctx, func() error { return l.End(ctx, s, run.ID, database.Finished, "") }); err != nil {
			return err
		}
	}
	k.fail("before-drop")
	return l.dropStaging(ctx, s, run.ID, m.Staging)
}

// afterRows is the outcome of a run whose rows are visible.
func (k *Sink) afterRows() string {
	if len(k.options.Post) > 0 {
		return database.Posting
	}
	return database.Finished
}

func (k *Sink) post(ctx context.Context, s *session) error {
	for _, sql := range k.options.Post {
		if _, err := s.exec(ctx, sql); err != nil {
			return wrap("run post", err)
		}
	}
	return nil
}

// closeRows is the transaction of Finish. It returns the run's outcome then.
func (k *Sink) closeRows(ctx context.Context, s *session, t *target, run connector.Run, states []connector.SplitState) (outcome string, err error) {
	l := t.ledger
	locks, err := l.splitLocks(ctx, s, run.ID)
	if err != nil {
		return "", err
	}
	outcome = k.afterRows()
	err = s.transact(ctx, func() error {
		var m *database.Marker
		// Takes the rows' locks, and with them the word of all writers.
		err := k.evictor.during(ctx, s, wait{locks: locks}, func() (err error) {
			if m, err = l.Lock(ctx, s, run.ID); err != nil {
				return err
			}
			return l.LockSplits(ctx, s, run.ID)
		})
		if err != nil {
			return err
		}
		if err := l.Takes(m, run.ID); err != nil {
			return err
		}
		totals, err := l.Sums(ctx, s, m, states)
		if err != nil {
			return err
		}
		if k.options.Mode == database.Overwrite {
			moved, err := k.replace(ctx, s, t, t.staging(run.ID), totals.Written)
			if err != nil {
				return err
			}
			if !moved {
				outcome = database.Renaming
			}
		}
		text, err := json.Marshal(totals)
		if err != nil {
			return fmt.Errorf("write the totals: %w", err)
		}
		if err := l.End(ctx, s, run.ID, outcome, string(text)); err != nil {
			return err
		}
		k.fail("before-finish")
		return nil
	})
	return outcome, err
}

// replace makes the staging table's rows the table's only ones; false when
// there is no table, and the staging table is to become it.
func (k *Sink) replace(ctx context.Context, s *session, t *target, staging name, written int64) (bool, error) {
	row, err := s.one(ctx, "SELECT COUNT(*) FROM "+staging.String())
	if err != nil {
		return false, wrap("count the staging table", err)
	}
	if string(row[0]) != strconv.FormatInt(written, 10) {
		return false, connector.Errorf(connector.Fatal, "the staging table holds %s rows where %d were written", row[0], written)
	}
	rel, err := loadRelation(ctx, s, t.name)
	if err != nil || rel == nil {
		return false, err
	}
	if _, err := s.exec(ctx, "DELETE FROM "+t.name.String()); err != nil {
		return false, wrap("empty the table", err)
	}
	var columns []*column
	for i := range rel.columns {
		if !rel.columns[i].generated {
			columns = append(columns, &rel.columns[i])
		}
	}
	list := columnList(columns)
	moved, err := s.exec(ctx, "INSERT INTO "+t.name.String()+" ("+list+") SELECT "+list+" FROM "+staging.String())
	if err == nil && moved != written {
		err = connector.Errorf(connector.Fatal, "%d rows of the staging table's %d were moved", moved, written)
	}
	return true, wrap("move the rows from the staging table", err)
}

// rename makes the staging table the table that this run was to make, unless
// that was done before a crash.
func (k *Sink) rename(ctx context.Context, s *session, t *target, run connector.Run) error {
	staging := t.staging(run.ID)
	rel, err := loadRelation(ctx, s, staging)
	if err != nil || rel == nil {
		return err
	}
	k.fail("before-rename")
	_, err = s.exec(ctx, "RENAME TABLE "+staging.String()+" TO "+t.name.String())
	if err == nil {
		k.fail("after-rename")
	}
	return wrap("rename the staging table", err)
}
