package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// newLedger finds the tables of ours; nil where this user may neither use nor
// make them.
func (k *Sink) newLedger(ctx context.Context, s *session, t *target) (*ledger, error) {
	var runs, positions name
	for _, table := range []struct {
		option, text string
		into         *name
	}{{"runs_table", k.options.RunsTable, &runs}, {"positions_table", k.options.Positions, &positions}} {
		n, err := parseName(table.text)
		if err != nil {
			return nil, connector.Errorf(connector.Usage, "%s: %w", table.option, err)
		}
		if n.database == "" {
			n.database = t.name.database
		}
		*table.into = n
	}
	l := newLedger(runs, positions, k.rules.Rules)
	err := l.probe(ctx, s)
	switch numberOf(err) {
	case 0:
		return l, wrap("look up the tables of runs and positions", err)
	case errNoRight, errNoRightHere, errNoColumnRight, errAccessDenied:
	default:
		return nil, wrap("look up the tables of runs and positions", err)
	}
	if m := k.options.Mode; m == database.Overwrite || m == database.Truncate {
		return nil, connector.Errorf(connector.Usage, "mode %s needs the tables %s and %s, and this user may not make or use them (%s): grant CREATE, SELECT, INSERT, UPDATE and DELETE on them, or name others by runs_table and positions_table; modes append and upsert work without, at least once",
			m, l.runs, l.positions, reasonOf(err))
	}
	t.doubts = append(t.doubts, fmt.Sprintf("this user may not make or use the tables %s and %s (%s), in which runs and positions are kept: records may arrive twice after a crash, which mode upsert makes right; grant CREATE, SELECT, INSERT, UPDATE and DELETE on them, or name others by runs_table and positions_table",
		l.runs, l.positions, reasonOf(err)))
	return nil, nil
}

// probe has the server check our rights on the tables of ours: it prepares
// statements, and runs none.
func (l *ledger) probe(ctx context.Context, s *session) error {
	for _, n := range []name{l.runs, l.positions} {
		row, err := s.one(ctx, "SELECT engine FROM information_schema.tables WHERE table_schema = ? AND table_name = ?", n.database, n.table)
		if err != nil {
			return err
		}
		statements := []string{"CREATE TABLE " + n.String() + " (run INT) ENGINE=InnoDB"}
		if row != nil {
			if !strings.EqualFold(string(row[0]), "InnoDB") {
				return connector.Errorf(connector.Usage, "table %s has the engine %s; runs and positions are kept in InnoDB", n, row[0])
			}
			statements = []string{"SELECT run FROM " + n.String(), "UPDATE " + n.String() + " SET run = ''", "DELETE FROM " + n.String(), "INSERT INTO " + n.String() + " (run) VALUES ('')"}
		}
		for _, text := range statements {
			if err := s.prepares(ctx, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepares has the server look at a statement, and at the rights it takes,
// without running it.
func (s *session) prepares(ctx context.Context, text string) error {
	stmt, err := s.conn.PrepareContext(ctx, text)
	if err != nil {
		return err
	}
	return stmt.Close()
}

// Prepare implements connector.Sink. DDL commits by itself here, so that what
// belongs together is done under locks by name, and the marker comes last
// (exactness rule 7).
func (k *Sink) Prepare(ctx context.Context, run connector.Run) error {
	t, err := k.current()
	if err != nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		err := k.prepare(ctx, s, t, run)
		if err != nil {
			return err
		}
		if !k.loads(t) {
			k.log.Info("rows do not go by LOAD DATA LOCAL", "way", t.way)
		}
		k.fail("after-prepare")
		return k.reload(ctx, s, run)
	})
}

func (k *Sink) prepare(ctx context.Context, s *session, t *target, run connector.Run) error {
	doing := "prepare " + t.name.String()
	l := t.ledger
	if l == nil {
		return wrap(doing, k.prepareBare(ctx, s, t))
	}
	err := k.locked(ctx, s, lockName("ledger", l.runs.String()), func() error { return l.create(ctx, s) })
	if err != nil {
		return wrap(doing, err)
	}
	err = k.locked(ctx, s, lockName("job", l.runs.String(), run.JobHash), func() error {
		return k.locked(ctx, s, l.runLock(run.ID), func() error { return k.prepareRun(ctx, s, t, run) })
	})
	if err == connector.ErrFinished { //nolint:errorlint // it is that very value
		return err
	}
	return wrap(doing, err)
}

// prepareBare prepares a target without a ledger: again with each start.
func (k *Sink) prepareBare(ctx context.Context, s *session, t *target) error {
	for _, sql := range k.options.Pre {
		if _, err := s.exec(ctx, sql); err != nil {
			return wrap("run pre", err)
		}
	}
	if t.relation != nil {
		return nil
	}
	_, err := s.exec(ctx, strings.Replace(t.ddl, "CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1))
	return t.notMade("create the table", err)
}

// prepareRun makes the target ready, if this run did not yet.
func (k *Sink) prepareRun(ctx context.Context, s *session, t *target, run connector.Run) error {
	l := t.ledger
	m, err := l.Marker(ctx, s, run.ID)
	switch {
	case err != nil:
		return err
	case m == nil:
	case m.Outcome == database.Finished:
		if err := l.dropStaging(ctx, s, run.ID, m.Staging); err != nil {
			return err
		}
		return connector.ErrFinished
	case !m.Open():
		return connector.GivenUpElsewhere(run.ID)
	default:
		return k.checkReset(ctx, s, t, m)
	}
	if err := k.settle(ctx, s, t, run); err != nil {
		return err
	}
	if err := l.sweep(ctx, s, run.JobHash); err != nil {
		return err
	}
	// Other jobs may prepare the same table; that may take long.
	table := lockName("table", t.name.String())
	for {
		got, err := s.tryLock(ctx, table, lockSeconds)
		if err != nil {
			return wrap("lock the table's name", err)
		}
		if got {
			break
		}
	}
	defer s.unlock(ctx, table)
	for _, sql := range k.options.Pre {
		if _, err := s.exec(ctx, sql); err != nil {
			return wrap("run pre", err)
		}
	}
	staging, err := k.fill(ctx, s, t, run)
	if err != nil {
		return err
	}
	return l.Begin(ctx, s, run, t.name.String(), staging)
}

// checkReset fails when rows that count as written may have gone: rows of
// splits, or the table that takes the rows (exactness rule 1).
func (k *Sink) checkReset(ctx context.Context, s *session, t *target, m *database.Marker) error {
	if err := t.ledger.CheckPositions(ctx, s, m); err != nil || m.Outcome != "" {
		return err
	}
	place := t.name
	if m.Staging != "" {
		place = t.staging(m.Run)
	}
	rel, err := loadRelation(ctx, s, place)
	if err != nil || rel != nil {
		return err
	}
	return connector.Errorf(connector.Fatal, "the target was reset: the table %s that run %s fills is gone; begin anew with --restart", place, m.Run)
}

// settle deals with earlier runs of the job that are still open.
func (k *Sink) settle(ctx context.Context, s *session, t *target, run connector.Run) error {
	l := t.ledger
	earlier := database.Earlier{
		Log: k.log, Mode: k.options.Mode,
		Look: func(run string) (m *database.Marker, err error) {
			err = k.locked(ctx, s, l.runLock(run), func() (err error) {
				m, err = l.Marker(ctx, s, run)
				return err
			})
			return m, err
		},
		Open:   func() ([]database.OpenRun, error) { return l.OpenRuns(ctx, s, run, false) },
		GiveUp: func(old string) error { return k.giveUp(ctx, s, t, run, old) },
	}
	return earlier.Settle(run)
}

// giveUp closes an earlier run: claims and commits of its attempts fail from
// now on.
func (k *Sink) giveUp(ctx context.Context, s *session, t *target, run connector.Run, old string) error {
	l := t.ledger
	var m *database.Marker
	err := k.locked(ctx, s, l.runLock(old), func() (err error) {
		if m, err = l.Marker(ctx, s, old); err != nil || m == nil || !m.Open() {
			return err
		}
		locks, err := l.splitLocks(ctx, s, old)
		if err != nil {
			return err
		}
		return k.evictor.during(ctx, s, wait{locks: locks}, func() error {
			return s.transact(ctx, func() error { return l.GiveUp(ctx, s, run, m, k.options.Mode) })
		})
	})
	if err != nil || m == nil {
		return err
	}
	return l.dropStaging(ctx, s, old, m.Staging)
}

// fill makes what the rows go into; it returns the staging table, if any. A
// crash before the marker is written has it done again.
func (k *Sink) fill(ctx context.Context, s *session, t *target, run connector.Run) (string, error) {
	rel, err := loadRelation(ctx, s, t.name)
	if err != nil {
		return "", err
	}
	if k.options.Mode == database.Overwrite {
		staging := t.staging(run.ID)
		return staging.String(), k.createStaging(ctx, s, t, rel, staging)
	}
	switch {
	case rel == nil:
		_, err = s.exec(ctx, t.ddl)
		return "", t.notMade("create the table", err)
	case k.options.Mode == database.Truncate:
		_, err = s.exec(ctx, "TRUNCATE TABLE "+t.name.String())
		return "", wrap("empty the table", err)
	}
	return "", nil
}

// staging is the name of the table that a run of mode overwrite fills.
func (t *target) staging(run string) name {
	return name{database: t.name.database, table: "leat_staging_" + strings.ReplaceAll(run, "-", "")}
}

// createStaging makes the table that takes the rows until the end, with the
// target's constraints, so that records it would refuse are refused at once.
func (k *Sink) createStaging(ctx context.Context, s *session, t *target, rel *relation, staging name) error {
	statements := []string{"DROP TABLE IF EXISTS " + staging.String()}
	if rel == nil {
		statements = append(statements, strings.Replace(t.ddl, t.name.String(), staging.String(), 1))
	} else {
		statements = append(statements, "CREATE TABLE "+staging.String()+" LIKE "+t.name.String())
		for _, fk := range t.outgoing {
			statements = append(statements, "ALTER TABLE "+staging.String()+" ADD FOREIGN KEY ("+quoteNames(fk.columns)+") REFERENCES "+fk.parent.String()+" ("+quoteNames(fk.parents)+")")
		}
	}
	for _, sql := range statements {
		if _, err := s.exec(ctx, sql); err != nil {
			return t.notMade("create the staging table", err)
		}
	}
	return nil
}

// reload reads the table that takes the rows, now that it is there.
func (k *Sink) reload(ctx context.Context, s *session, run connector.Run) error {
	k.mu.Lock()
	old, in := k.target, k.in
	k.mu.Unlock()
	if old.relation != nil {
		return nil
	}
	place := old.name
	if k.options.Mode == database.Overwrite {
		place = old.staging(run.ID)
		// Where a crash came behind the renaming.
		if rel, err := loadRelation(ctx, s, place); err != nil {
			return err
		} else if rel == nil {
			place = old.name
		}
	}
	rel, err := loadRelation(ctx, s, place)
	if err != nil {
		return err
	}
	if rel == nil {
		return connector.Errorf(connector.Fatal, "the target was reset: the table %s that run %s made is gone; begin anew with --restart", place, run.ID)
	}
	t := *old
	t.relation, t.columns = rel, nil
	if err := t.match(in, k.options.TinyInt1); err != nil {
		return err
	}
	k.mu.Lock()
	k.target = &t
	k.mu.Unlock()
	return nil
}

// statements says what Prepare and Finish will do.
func (k *Sink) statements(t *target) []string {
	var list []string
	if t.ledger != nil {
		list = append(list, "note runs in "+t.ledger.runs.String()+", positions in "+t.ledger.positions.String())
	}
	list = append(list, k.options.Pre...)
	switch {
	case k.options.Mode == database.Overwrite:
		list = append(list, fmt.Sprintf("create a staging table beside %s and fill it", t.name))
		if t.relation == nil {
			list = append(list, "rename it "+t.name.String()+": "+t.ddl)
		} else {
			list = append(list, "DELETE FROM "+t.name.String(), "INSERT INTO "+t.name.String()+" SELECT … from it, in the same transaction")
		}
	case t.relation == nil:
		list = append(list, t.ddl)
	case k.options.Mode == database.Truncate:
		list = append(list, "TRUNCATE TABLE "+t.name.String())
	}
	return append(list, k.options.Post...)
}

// againDoubts tells which statements may run twice.
func (k *Sink) againDoubts() (doubts []string) {
	for _, sql := range append(append([]string(nil), k.options.Pre...), k.options.Post...) {
		doubts = append(doubts, fmt.Sprintf("%q may run twice after a crash: the server commits it by itself", sql))
	}
	return doubts
}
