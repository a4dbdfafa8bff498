package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Prepare implements connector.Sink. Everything happens in one transaction
// with the run's marker (exactness rule 7), but for statements of pre that
// cannot run in one.
func (k *Sink) Prepare(ctx context.Context, run connector.Run) error {
	t, err := k.current()
	if err != nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		l := t.ledger
		if err := k.createLedger(ctx, s, l); err != nil {
			return err
		}
		if err := k.preOutside(ctx, s, l, run); err != nil {
			return err
		}
		err = s.transact(ctx, func() error { return k.prepare(ctx, s, l, t, run) })
		if errors.Is(err, connector.ErrFinished) {
			return err
		}
		if err != nil {
			return wrap("prepare "+t.name.String(), err)
		}
		k.fail("after-prepare")
		return k.reload(ctx, s, l, run)
	})
}

// createLedger makes the tables of ours in a short transaction of its own.
func (k *Sink) createLedger(ctx context.Context, s *session, l *ledger) error {
	return wrap("prepare the tables of runs and positions", s.transact(ctx, func() error {
		if err := k.lockAdvisory(ctx, s, "ledger "+l.Runs); err != nil {
			return err
		}
		return l.create(ctx, s)
	}))
}

// lockAdvisory takes a lock of ours by name until the transaction ends; who
// holds it for too long is ended.
func (k *Sink) lockAdvisory(ctx context.Context, s *session, what string) error {
	return k.evictor.during(ctx, s, func() error {
		_, err := s.query(ctx, "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1, 20261130))", "leat "+what)
		return wrap("lock "+what, err)
	})
}

// prepare makes the target ready, if this run did not yet.
func (k *Sink) prepare(ctx context.Context, s *session, l *ledger, t *target, run connector.Run) error {
	if err := k.lockAdvisory(ctx, s, "job "+run.JobHash); err != nil {
		return err
	}
	m, err := k.lockMarker(ctx, s, l, run.ID)
	switch {
	case err != nil:
		return err
	case m == nil:
	case m.Outcome == database.Finished:
		return connector.ErrFinished
	case !m.Open():
		return connector.GivenUpElsewhere(run.ID)
	default:
		return l.checkReset(ctx, s, m)
	}
	if err := k.settle(ctx, s, l, run); err != nil {
		return err
	}
	// Other jobs may prepare the same table; their transactions may be long.
	if _, err := s.query(ctx, "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1, 20261130))", "leat table "+t.name.String()); err != nil {
		return wrap("lock the table's name", err)
	}
	for _, sql := range inside(k.options.Pre) {
		if err := s.exec(ctx, sql); err != nil {
			return wrap("run pre", err)
		}
	}
	staging, err := k.fill(ctx, s, t, run)
	if err != nil {
		return err
	}
	return l.begin(ctx, s, run, t.name.String(), staging)
}

// settle deals with earlier runs of the job that are still open.
func (k *Sink) settle(ctx context.Context, s *session, l *ledger, run connector.Run) error {
	earlier := database.Earlier{
		Log: k.log, Mode: k.options.Mode,
		Look:   func(run string) (*database.Marker, error) { return k.lockMarker(ctx, s, l, run) },
		Open:   func() ([]database.OpenRun, error) { return l.OpenRuns(ctx, s, run, true) },
		GiveUp: func(old string) error { return k.giveUp(ctx, s, l, run, old) },
	}
	return earlier.Settle(run)
}

// giveUp closes an earlier run: claims and commits of its attempts fail from
// now on.
func (k *Sink) giveUp(ctx context.Context, s *session, l *ledger, run connector.Run, old string) error {
	m, err := l.Marker(ctx, s, old)
	if err != nil || m == nil {
		return err
	}
	return k.evictor.during(ctx, s, func() error {
		if err := l.GiveUp(ctx, s, run, m, k.options.Mode); err != nil || m.Staging == "" {
			return err
		}
		return wrap("drop the staging table", s.exec(ctx, "DROP TABLE IF EXISTS "+m.Staging))
	})
}

// fill makes what the rows go into; it returns the staging table, if any.
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
		return "", wrap("create the table", s.exec(ctx, "CREATE "+unloggedWord(t.unlogged)+"TABLE "+t.name.String()+" "+t.ddl))
	case k.options.Mode == database.Truncate:
		return "", wrap("empty the table", s.exec(ctx, "TRUNCATE "+t.name.String()))
	}
	return "", nil
}

// staging is the name of the table that a run of mode overwrite fills.
func (t *target) staging(run string) name {
	return name{schema: t.name.schema, table: "leat_staging_" + strings.ReplaceAll(run, "-", "")}
}

// createStaging makes the table that takes the rows until the end, with the
// target's constraints, so that records it would refuse are refused at once.
func (k *Sink) createStaging(ctx context.Context, s *session, t *target, rel *relation, staging name) error {
	if rel == nil {
		return wrap("create the staging table", s.exec(ctx, "CREATE "+unloggedWord(t.unlogged)+"TABLE "+staging.String()+" "+t.ddl))
	}
	err := s.exec(ctx, "CREATE "+unloggedWord(rel.unlogged)+"TABLE "+staging.String()+" (LIKE "+rel.name.String()+
		" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING GENERATED INCLUDING IDENTITY INCLUDING STORAGE)")
	if err != nil {
		return wrap("create the staging table", err)
	}
	k.mu.Lock()
	in := k.in
	k.mu.Unlock()
	primary := map[string]bool{}
	for _, key := range rel.keys {
		for _, c := range key.columns {
			primary[c] = primary[c] || key.primary
		}
	}
	for _, c := range rel.columns {
		// A trigger of the target may fill it.
		if c.notNull && !c.defaulted && !c.generated && in.Index(c.name) < 0 && !primary[c.name] {
			if err := s.exec(ctx, "ALTER TABLE "+staging.String()+" ALTER COLUMN "+quoteName(c.name)+" DROP NOT NULL"); err != nil {
				return wrap("create the staging table", err)
			}
		}
	}
	rows, err := s.query(ctx, "SELECT pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint WHERE contype = 'f' AND conrelid = $1::oid AND confrelid <> conrelid AND conparentid = 0", rel.oid.String())
	for _, row := range rows {
		if err == nil {
			err = s.exec(ctx, "ALTER TABLE "+staging.String()+" ADD "+string(row[0]))
		}
	}
	return wrap("give the staging table its foreign keys", err)
}

// reload reads the table that takes the rows, now that it is there.
func (k *Sink) reload(ctx context.Context, s *session, l *ledger, run connector.Run) error {
	k.mu.Lock()
	old, in := k.target, k.in
	k.mu.Unlock()
	if old.relation != nil {
		return nil
	}
	place := old.name
	if k.options.Mode == database.Overwrite {
		place = old.staging(run.ID)
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
	if err := t.match(in); err != nil {
		return err
	}
	k.mu.Lock()
	k.target = &t
	k.mu.Unlock()
	return nil
}

// statements says what Prepare and Finish will do.
func (k *Sink) statements(t *target) []string {
	list := append([]string(nil), k.options.Pre...)
	switch {
	case k.options.Mode == database.Overwrite:
		list = append(list, fmt.Sprintf("create a staging table beside %s and fill it", t.name))
		switch {
		case t.relation == nil:
			list = append(list, "rename it "+t.name.String()+": CREATE TABLE "+t.name.String()+" "+t.ddl)
		case len(t.relation.incoming) > 0:
			list = append(list, "DELETE FROM "+t.name.String(), "INSERT INTO "+t.name.String()+" SELECT … from it")
		default:
			list = append(list, "TRUNCATE "+t.name.String(), "INSERT INTO "+t.name.String()+" SELECT … from it")
		}
	case t.relation == nil:
		list = append(list, "CREATE "+unloggedWord(t.unlogged)+"TABLE "+t.name.String()+" "+t.ddl)
	case k.options.Mode == database.Truncate:
		list = append(list, "TRUNCATE "+t.name.String())
	}
	return append(list, k.options.Post...)
}
