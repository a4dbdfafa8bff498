package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Finish implements connector.Sink: one transaction judges the sums, makes an
// overwrite visible, moves sequences and closes the run.
func (k *Sink) Finish(ctx context.Context, run connector.Run, states []connector.SplitState) error {
	t, err := k.current()
	if err != nil {
		return err
	}
	return k.sessions.with(ctx, func(s *session) error {
		l := t.ledger
		last := outside(k.options.Post)
		var outcome string
		err = s.transact(ctx, func() (err error) {
			outcome, err = k.finish(ctx, s, l, t, run, states, len(last) > 0)
			if err == nil {
				k.fail("before-finish")
			}
			return err
		})
		if err != nil {
			return wrap("finish "+t.name.String(), err)
		}
		k.fail("after-finish")
		if outcome != database.Posting {
			return nil
		}
		for _, sql := range last {
			if err := s.exec(ctx, sql); err != nil {
				return wrap("run post", err)
			}
		}
		return wrap("finish "+t.name.String(), s.transact(ctx, func() error { return l.End(ctx, s, run.ID, database.Finished, "") }))
	})
}

// finish does the work of Finish and returns the run's outcome.
func (k *Sink) finish(ctx context.Context, s *session, l *ledger, t *target, run connector.Run, states []connector.SplitState, posting bool) (string, error) {
	m, err := k.lockMarker(ctx, s, l, run.ID)
	switch {
	case err != nil:
		return "", err
	case m != nil && (m.Outcome == database.Finished || m.Outcome == database.Posting):
		return m.Outcome, nil
	}
	if err := l.Takes(m, run.ID); err != nil {
		return "", err
	}
	if err := l.checkReset(ctx, s, m); err != nil {
		return "", err
	}
	totals, err := l.Sums(ctx, s, m, states)
	if err != nil {
		return "", err
	}
	if k.options.Mode == database.Overwrite {
		if err := k.replace(ctx, s, t, t.staging(run.ID), totals.Written); err != nil {
			return "", err
		}
	}
	if err := k.moveSequences(ctx, s, t); err != nil {
		return "", err
	}
	for _, sql := range inside(k.options.Post) {
		if err := s.exec(ctx, sql); err != nil {
			return "", wrap("run post", err)
		}
	}
	outcome := database.Finished
	if posting {
		outcome = database.Posting
	}
	text, err := json.Marshal(totals)
	if err != nil {
		return "", fmt.Errorf("write the totals: %w", err)
	}
	return outcome, k.ownRows(ctx, s, func() error { return l.End(ctx, s, run.ID, outcome, string(text)) })
}

// replace makes the staging table's rows the table's only ones, or the staging
// table itself the table that this run was to create.
func (k *Sink) replace(ctx context.Context, s *session, t *target, staging name, written int64) error {
	row, err := s.one(ctx, "SELECT count(*) FROM "+staging.String())
	if err != nil {
		return wrap("count the staging table", err)
	}
	if string(row[0]) != strconv.FormatInt(written, 10) {
		return connector.Errorf(connector.Fatal, "the staging table holds %s rows where %d were written", row[0], written)
	}
	rel, err := loadRelation(ctx, s, t.name)
	if err != nil {
		return err
	}
	if rel == nil {
		return k.rename(ctx, s, t, staging)
	}
	if len(rel.incoming) > 0 {
		err = s.exec(ctx, joinSQL("SET CONSTRAINTS ALL DEFERRED", "DELETE FROM "+t.name.String()))
	} else {
		err = s.exec(ctx, "TRUNCATE "+t.name.String())
	}
	if err != nil {
		return wrap("empty the table", err)
	}
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	list := quoteNames(names)
	tag, err := s.run(ctx, "INSERT INTO "+t.name.String()+" ("+list+") OVERRIDING SYSTEM VALUE SELECT "+list+" FROM "+staging.String())
	if err != nil {
		return wrap("take over the staging table", err)
	}
	if n := tag.RowsAffected(); n != written && !k.options.AllowRefused {
		return connector.Errorf(connector.Permanent, "of %d rows the table's triggers let only %d in; allow_refused lets them", written, n)
	}
	return wrap("drop the staging table", s.exec(ctx, "DROP TABLE "+staging.String()))
}

// rename makes the staging table the table; its key takes the usual name.
func (k *Sink) rename(ctx context.Context, s *session, t *target, staging name) error {
	row, err := s.one(ctx, "SELECT conname FROM pg_catalog.pg_constraint WHERE contype = 'p' AND conrelid = pg_catalog.to_regclass($1)", staging.String())
	if err == nil && row != nil {
		err = s.exec(ctx, "ALTER TABLE "+staging.String()+" RENAME CONSTRAINT "+quoteName(string(row[0]))+" TO "+quoteName(keyName(t.name.table)))
	}
	if err == nil {
		err = s.exec(ctx, "ALTER TABLE "+staging.String()+" RENAME TO "+quoteName(t.name.table))
	}
	return wrap("rename the staging table", err)
}

// keyName is what PostgreSQL calls a primary key; names end after 63 bytes.
func keyName(table string) string {
	const suffix = "_pkey"
	for len(table)+len(suffix) > 63 {
		runes := []rune(table)
		table = string(runes[:len(runes)-1])
	}
	return table + suffix
}

// moveSequences moves the sequences of written columns past the values that
// are now in the table.
func (k *Sink) moveSequences(ctx context.Context, s *session, t *target) error {
	rel, err := loadRelation(ctx, s, t.name)
	if err != nil || rel == nil {
		return err
	}
	for _, c := range rel.columns {
		if c.sequence == "" || !c.movable || !slices.ContainsFunc(t.columns, func(w *column) bool { return w.name == c.name }) {
			continue
		}
		_, err := s.query(ctx, "SELECT pg_catalog.setval($1::regclass, m) FROM (SELECT max("+quoteName(c.name)+") m FROM "+t.name.String()+
			") t, "+c.sequence+" s WHERE m > s.last_value OR (m = s.last_value AND NOT s.is_called)", c.sequence)
		if err != nil {
			return wrap("move the sequence of "+c.name, err)
		}
	}
	return nil
}
