package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// upsert takes rows through a temporary table of the session, since COPY knows
// no conflicts.
type upsert struct {
	name   name
	create string
	insert string
}

func newUpsert(t *target) *upsert {
	u := &upsert{name: name{schema: "pg_temp", table: "leat_upsert"}}
	columns := make([]string, len(t.columns))
	defs := make([]string, len(t.columns))
	var sets []string
	for i, c := range t.columns {
		columns[i] = c.name
		defs[i] = "t." + quoteName(c.name)
		if !slices.Contains(t.key, c.name) {
			sets = append(sets, quoteName(c.name)+" = excluded."+quoteName(c.name))
		}
	}
	// leat_n numbers the rows in their order, so that the last of a key is known.
	u.create = "CREATE TEMP TABLE leat_upsert ON COMMIT DELETE ROWS AS SELECT " + strings.Join(defs, ", ") + " FROM " + t.name.String() +
		" t WITH NO DATA; ALTER TABLE pg_temp.leat_upsert ADD COLUMN leat_n bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000)"
	action := "DO NOTHING"
	if len(sets) > 0 {
		action = "DO UPDATE SET " + strings.Join(sets, ", ")
	}
	key, list := quoteNames(t.key), quoteNames(columns)
	u.insert = "WITH latest AS MATERIALIZED (SELECT DISTINCT ON (" + key + ") " + list + " FROM pg_temp.leat_upsert ORDER BY " + orderBy(t.key) + ", leat_n DESC), " +
		"put AS (INSERT INTO " + t.name.String() + " AS t (" + list + ") OVERRIDING SYSTEM VALUE SELECT " + list + " FROM latest ORDER BY " + orderBy(t.key) +
		" ON CONFLICT (" + key + ") " + action + " RETURNING 1) SELECT (SELECT count(*) FROM latest), (SELECT count(*) FROM put)"
	if len(sets) == 0 {
		// A row that is there already is taken as merged into it.
		u.insert += ", true"
	} else {
		u.insert += ", false"
	}
	return u
}

func orderBy(names []string) string { return quoteNames(names) }

// prepare makes the session's temporary table, outside of any transaction.
func (u *upsert) prepare(ctx context.Context, s *session) error {
	if s.staged {
		return nil
	}
	if err := s.exec(ctx, u.create); err != nil {
		return wrap("create the temporary table of upsert", err)
	}
	s.staged = true
	return nil
}

// merge moves the rows just copied into the table. It returns how many were
// replaced by a later one of the same key, and how many triggers skipped.
func (u *upsert) merge(ctx context.Context, s *session, copied int64) (merged, refused int64, err error) {
	row, err := s.one(ctx, u.insert)
	if err != nil {
		return 0, 0, err
	}
	latest, err1 := strconv.ParseInt(string(row[0]), 10, 64)
	put, err2 := strconv.ParseInt(string(row[1]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("count the merged rows: %s, %s", row[0], row[1])
	}
	if err := s.exec(ctx, "TRUNCATE pg_temp.leat_upsert"); err != nil {
		return 0, 0, err
	}
	if isTrue(row[2]) {
		return copied - put, 0, nil
	}
	return copied - latest, latest - put, nil
}
