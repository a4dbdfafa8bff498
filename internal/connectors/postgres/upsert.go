package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch"
)

// upsert takes rows through a temporary table of the session, since COPY knows
// no conflicts.
type upsert struct {
	name   name
	create string
	// count returns how many keys the rows have, and the most rows of one.
	count string
	// insert takes one row of each key, or with each the $1-th, and returns how
	// many those are and how many the table took.
	insert string
	// each says that all rows of a key are taken one after the other: a NULL
	// leaves what is there, and triggers may see or change every row.
	each bool
	// nothing says that every column is in the key: a row that is there
	// already is taken as merged into it.
	nothing bool
}

func newUpsert(t *target, keep bool) *upsert {
	u := &upsert{name: name{schema: "pg_temp", table: "leat_upsert"}}
	columns := make([]string, len(t.columns))
	defs := make([]string, len(t.columns))
	var sets []string
	for i, c := range t.columns {
		columns[i] = c.name
		defs[i] = "t." + quoteName(c.name)
		switch q := quoteName(c.name); {
		case slices.Contains(t.key, c.name):
		case keep:
			sets = append(sets, q+" = coalesce(excluded."+q+", t."+q+")")
		default:
			sets = append(sets, q+" = excluded."+q)
		}
	}
	// leat_n numbers the rows in their order, so that the last of a key is known.
	u.create = "CREATE TEMP TABLE leat_upsert ON COMMIT DELETE ROWS AS SELECT " + strings.Join(defs, ", ") + " FROM " + t.name.String() +
		" t WITH NO DATA; ALTER TABLE pg_temp.leat_upsert ADD COLUMN leat_n bigint GENERATED ALWAYS AS IDENTITY (CACHE 1000)"
	action := "DO NOTHING"
	if len(sets) > 0 {
		action = "DO UPDATE SET " + strings.Join(sets, ", ")
	}
	u.nothing = len(sets) == 0
	keep = keep && !u.nothing
	u.each = keep && t.relation.skipping
	key, list, same := quoteNames(t.key), quoteNames(columns), sameKey(t)
	rows := "SELECT DISTINCT ON (" + same + ") " + list + " FROM pg_temp.leat_upsert ORDER BY " + same + ", leat_n DESC"
	switch {
	case u.each:
		rows = "SELECT " + list + " FROM (SELECT *, row_number() OVER (PARTITION BY " + same + " ORDER BY leat_n) AS leat_nth FROM pg_temp.leat_upsert) n WHERE leat_nth = $1"
	case keep:
		rows = "SELECT " + newestOf(t) + " FROM (SELECT * FROM pg_temp.leat_upsert ORDER BY " + same + ", leat_n DESC) n GROUP BY " + same
	}
	u.count = "SELECT count(*), coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM pg_temp.leat_upsert GROUP BY " + same + ") k"
	u.insert = "WITH taken AS MATERIALIZED (" + rows + "), " +
		"put AS (INSERT INTO " + t.name.String() + " AS t (" + list + ") OVERRIDING SYSTEM VALUE SELECT " + list + " FROM taken ORDER BY " + orderBy(t.key) +
		" ON CONFLICT (" + key + ") " + action + " RETURNING 1) SELECT (SELECT count(*) FROM taken), (SELECT count(*) FROM put)"
	return u
}

func orderBy(names []string) string { return quoteNames(names) }

// sameKey is what rows of one key have alike. Those with a NULL in the key are
// none to the index: each stands by itself.
func sameKey(t *target) string {
	same := quoteNames(t.key)
	if unique := t.relation.uniqueOn(t.key); unique == nil || unique.notNull || unique.nullsAlike {
		return same
	}
	null := make([]string, len(t.key))
	for i, k := range t.key {
		null[i] = quoteName(k) + " IS NULL"
	}
	return same + ", CASE WHEN " + strings.Join(null, " OR ") + " THEN leat_n END"
}

// newestOf is, of the rows of a key that come with the last one first, the
// newest value of each column that is not NULL: what is left when they are
// written one after the other, a NULL leaving what is there. Arrays go as
// texts, of which there are arrays whatever their bounds.
func newestOf(t *target) string {
	list := make([]string, len(t.columns))
	for i, c := range t.columns {
		q := quoteName(c.name)
		switch {
		case slices.Contains(t.key, c.name):
			list[i] = q
		case c.field().Type.Kind == batch.Array:
			list[i] = "(array_agg(" + q + "::text) FILTER (WHERE " + q + " IS NOT NULL))[1]::" + c.typ.name + " AS " + q
		default:
			list[i] = "(array_agg(" + q + ") FILTER (WHERE " + q + " IS NOT NULL))[1] AS " + q
		}
	}
	return strings.Join(list, ", ")
}

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
	if u.each {
		merged, refused, err = u.mergeEach(ctx, s, copied)
	} else {
		merged, refused, err = u.mergeLast(ctx, s, copied)
	}
	if err != nil {
		return 0, 0, err
	}
	return merged, refused, s.exec(ctx, "TRUNCATE pg_temp.leat_upsert")
}

// mergeLast takes one row of each key.
func (u *upsert) mergeLast(ctx context.Context, s *session, copied int64) (merged, refused int64, err error) {
	taken, put, err := counts(ctx, s, u.insert)
	switch {
	case err != nil:
		return 0, 0, err
	case u.nothing:
		return copied - put, 0, nil
	}
	return copied - taken, taken - put, nil
}

// mergeEach takes the first row of each key, then the second, and so on.
func (u *upsert) mergeEach(ctx context.Context, s *session, copied int64) (merged, refused int64, err error) {
	keys, most, err := counts(ctx, s, u.count)
	if err != nil {
		return 0, 0, err
	}
	for n := int64(1); n <= most; n++ {
		taken, put, err := counts(ctx, s, u.insert, strconv.FormatInt(n, 10))
		if err != nil {
			return 0, 0, err
		}
		if n == 1 {
			refused = taken - put
		}
	}
	return copied - keys, refused, nil
}

// counts runs a statement that returns two numbers.
func counts(ctx context.Context, s *session, sql string, args ...string) (a, b int64, err error) {
	row, err := s.one(ctx, sql, args...)
	if err != nil {
		return 0, 0, err
	}
	a, err1 := strconv.ParseInt(string(row[0]), 10, 64)
	b, err2 := strconv.ParseInt(string(row[1]), 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("count the merged rows: %s, %s", row[0], row[1])
	}
	return a, b, nil
}
