package mysql

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	driver "github.com/go-sql-driver/mysql"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// upsert takes rows through a temporary table of the session: the server then
// says which of them have the same key, by the key's own collation, and sorts
// them by it.
type upsert struct {
	name   name
	create []string
	// distinct counts the keys, insert moves the rows, clear empties the table.
	distinct, insert, clear string
}

// noKey is a subquery that fails where it is evaluated: for a row that would
// replace one of another key.
const (
	noKey    = "(SELECT 1 UNION ALL SELECT 2)"
	errNoKey = 1242 // of a subquery with more than one row
)

// judged reports whether the server refused a record for what it holds.
func (w *writer) judged(err error) bool {
	return recordFault(err) || w.otherKeys(err) || errors.Is(err, driver.ErrPktTooLarge)
}

func (w *writer) otherKeys(err error) bool {
	return w.upsert != nil && w.target.ambiguous && numberOf(err) == errNoKey
}

// reason is what a dirty record says of the server's refusal.
func (w *writer) reason(err error) string {
	if w.otherKeys(err) {
		return "a unique index other than that of (" + strings.Join(w.target.key, ", ") + ") has its values: it would replace the record of another key"
	}
	if errors.Is(err, driver.ErrPktTooLarge) {
		return w.encoder.tooLarge(w.encoder.bytes).Error()
	}
	return reasonOf(err)
}

// cause is of which kind the server's refusal of a record is.
func (w *writer) cause(err error) batch.Cause {
	if w.otherKeys(err) {
		return batch.CauseDuplicate
	}
	return causeOf(err)
}

// upsertTable is the name of upsert's temporary table.
const upsertTable = "leat_upsert"

func newUpsert(t *target, keep bool) *upsert {
	u := &upsert{name: name{database: t.name.database, table: upsertTable}}
	into, from := t.name.String(), u.name.String()
	list := columnList(t.columns)
	u.create = []string{
		"DROP TEMPORARY TABLE IF EXISTS " + from,
		// leat_n numbers the rows in their order, so that the last of a key is known.
		"CREATE TEMPORARY TABLE " + from + " (leat_n BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB SELECT " + list + " FROM " + into + " LIMIT 0",
	}
	keys, same, null := make([]string, len(t.key)), make([]string, len(t.key)), make([]string, len(t.key))
	for i, k := range t.key {
		keys[i] = "s." + quoteName(k)
		same[i] = into + "." + quoteName(k) + " <=> s." + quoteName(k)
		null[i] = keys[i] + " IS NULL"
	}
	u.distinct = "SELECT COUNT(DISTINCT " + strings.Join(keys, ", ") + ") + COUNT(IF(" + strings.Join(null, " OR ") + ", 1, NULL)) FROM " + from + " s"
	taken := make([]string, len(t.columns))
	var sets []assignment
	for i, c := range t.columns {
		column := quoteName(c.name)
		taken[i] = "s." + column
		if slices.Contains(t.key, c.name) {
			continue
		}
		value := "s." + column
		if keep {
			value = "COALESCE(s." + column + ", " + into + "." + column + ")"
		}
		sets = append(sets, assignment{into + "." + column, value})
	}
	if len(sets) == 0 {
		k := into + "." + quoteName(t.key[0])
		sets = append(sets, assignment{k, k})
	}
	if t.ambiguous {
		sets[0].value = "IF(" + strings.Join(same, " AND ") + ", " + sets[0].value + ", " + noKey + ")"
	}
	u.insert = "INSERT INTO " + into + " (" + list + ") SELECT " + strings.Join(taken, ", ") + " FROM " + from + " s ORDER BY " +
		strings.Join(keys, ", ") + ", s.leat_n ON DUPLICATE KEY UPDATE " + assignments(sets)
	u.clear = "DELETE FROM " + from
	return u
}

// assignment is a column of an UPDATE and what it becomes.
type assignment struct{ column, value string }

func assignments(sets []assignment) string {
	texts := make([]string, len(sets))
	for i, a := range sets {
		texts[i] = a.column + " = " + a.value
	}
	return strings.Join(texts, ", ")
}

// prepare makes the session's temporary table, outside of any transaction.
func (u *upsert) prepare(ctx context.Context, s *session) error {
	for _, sql := range u.create {
		if _, err := s.exec(ctx, sql); err != nil {
			return wrap("create the temporary table of upsert, which takes the right CREATE TEMPORARY TABLES on the database", err)
		}
	}
	return nil
}

// merge moves the rows of upsert's table into the target. A row that is new
// counts as one row affected, one that was replaced as one or two.
func (w *writer) merge(ctx context.Context, rows, bytes int64) error {
	row, err := w.session.one(ctx, w.upsert.distinct)
	if err != nil {
		return err
	}
	keys, err := strconv.ParseInt(string(row[0]), 10, 64)
	if err != nil {
		return connector.Errorf(connector.Fatal, "count the keys of a chunk: %w", err)
	}
	affected, err := w.session.exec(ctx, w.upsert.insert)
	if err != nil {
		return err
	}
	if keys > rows || affected < rows || affected > 2*rows {
		return connector.Errorf(connector.Fatal, "the server counted %d keys in %d rows, and %d rows affected", keys, rows, affected)
	}
	if _, err := w.session.exec(ctx, w.upsert.clear); err != nil {
		return err
	}
	w.wrote(keys, bytes)
	w.Pending.Merged += rows - keys
	return nil
}
