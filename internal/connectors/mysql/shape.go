package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// shape is what a source reads. It does not change once made.
type shape struct {
	what string // for people
	from string // what follows FROM
	// qualifier is the name by which from's columns are told from those selected.
	qualifier string
	// query is the user's own query, "" for a table.
	query    string
	relation *relation
	schema   *batch.Schema
	// columns are the schema's.
	columns []column
	// key is what splits are ranges of, and keyColumns its types. unique says
	// that it is the key of each row, without NULL: reading can go on after one.
	key        []string
	keyColumns []keyColumn
	unique     bool
	// index is the index that has the rows in the order of key, "" for none.
	index string
	// nullable says that the first column of key may be NULL.
	nullable bool
}

func (s *Source) tableShape(ctx context.Context, session *session) (*shape, error) {
	n, err := parseName(s.options.Table)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "table: %w", err)
	}
	rel, err := loadRelation(ctx, session, n)
	if err != nil {
		return nil, err
	}
	if rel == nil {
		return nil, connector.Errorf(connector.Usage, "table %s does not exist, or may not be seen by this user", n)
	}
	if len(rel.columns) == 0 {
		return nil, connector.Errorf(connector.Usage, "this user may see no column of table %s", n)
	}
	sh := &shape{what: "table " + rel.name.String(), from: rel.name.String(), qualifier: rel.name.String(), relation: rel}
	if rel.isView() {
		sh.what = "view " + rel.name.String()
	}
	if err := s.checkRights(ctx, session, sh); err != nil {
		return nil, err
	}
	if sh.columns, err = s.chosen(rel.columns); err != nil {
		return nil, err
	}
	if sh.schema, err = schemaOf(sh.columns, s.options.TinyInt1); err != nil {
		return nil, err
	}
	if err := s.tableKey(sh); err != nil {
		return nil, err
	}
	if sh.unique && !slices.ContainsFunc(sh.key, func(k string) bool { return sh.schema.Index(k) < 0 }) {
		sh.schema.Key = sh.key
	}
	return sh, nil
}

// checkRights makes sure that all columns are meant where the job names none:
// of those that a user may not read the catalogue says nothing.
func (s *Source) checkRights(ctx context.Context, session *session, sh *shape) error {
	if s.only != nil {
		return nil
	}
	_, err := session.query(ctx, "SELECT * FROM "+sh.from+" LIMIT 0")
	if n := numberOf(err); n == errNoRight || n == errNoColumnRight {
		return connector.Errorf(connector.Usage, "%s: %w; if only some columns may be read, name them in the job", sh.what, err)
	}
	return wrap("look up "+sh.what, err)
}

// chosen leaves out the columns that the job does not need.
func (s *Source) chosen(columns []column) ([]column, error) {
	if s.only == nil {
		return columns, nil
	}
	var chosen []column
	for _, c := range columns {
		if slices.Contains(s.only, c.name) {
			chosen = append(chosen, c)
		}
	}
	if len(chosen) == 0 {
		return columns[:min(1, len(columns))], nil
	}
	return chosen, nil
}

// tableKey decides what the table is split by.
func (s *Source) tableKey(sh *shape) error {
	key := s.options.Key
	if len(key) == 0 {
		key = sh.relation.bestKey()
	}
	if err := sh.setKey(key, sh.relation.columns); err != nil {
		return err
	}
	for _, u := range sh.relation.keys {
		sh.unique = sh.unique || u.notNull && len(key) > 0 && !slices.ContainsFunc(u.columns, func(c string) bool { return !slices.Contains(sh.key, c) })
	}
	for _, c := range sh.keyColumns {
		sh.unique = sh.unique && c.notNull
	}
	sh.byFirst()
	for _, u := range sh.relation.keys {
		if u.ordered && len(sh.key) > 0 && sh.index == "" && len(u.columns) >= len(sh.key) && slices.Equal(u.columns[:len(sh.key)], sh.key) {
			sh.index = u.name
		}
	}
	return nil
}

// bestKey returns the primary key, or the shortest unique key without NULLs,
// that is an index of ranges.
func (r *relation) bestKey() []string {
	for _, k := range r.keys {
		usable := k.notNull && k.ordered
		for i, name := range k.columns {
			c := r.column(name)
			usable = usable && c != nil && formOf(c) != formNone && (i > 0 || formOf(c) != formOrdinal)
		}
		if usable {
			return k.columns
		}
	}
	return nil
}

// setKey finds the columns of a key.
func (sh *shape) setKey(key []string, columns []column) error {
	for _, name := range key {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if i < 0 {
			i = slices.IndexFunc(columns, func(c column) bool { return strings.EqualFold(c.name, name) })
		}
		if i < 0 {
			names := make([]string, len(columns))
			for j := range columns {
				names[j] = columns[j].name
			}
			return connector.Errorf(connector.Usage, "key: %s has no column %s; it has %s", sh.what, name, listed(names))
		}
		k := keyColumn{column: columns[i], form: formOf(&columns[i])}
		if k.form == formNone {
			return connector.Errorf(connector.Usage, "key: column %s is of type %s, of which there are no ranges", name, columns[i].columnType)
		}
		sh.key, sh.keyColumns = append(sh.key, k.name), append(sh.keyColumns, k)
	}
	return nil
}

// byFirst keeps the first column of a key that is not unique: rows that are
// alike in it, or NULL, stay in one split.
func (sh *shape) byFirst() {
	if sh.unique || len(sh.key) == 0 {
		return
	}
	sh.key, sh.keyColumns = sh.key[:1], sh.keyColumns[:1]
	sh.nullable = !sh.keyColumns[0].notNull
}

// ranged is what follows FROM where rows are wanted in the order of the key,
// or a range of it: a wrong guess of the planner could sort the whole table.
func (sh *shape) ranged() string {
	if sh.index == "" {
		return sh.from
	}
	return sh.from + " FORCE INDEX (" + quoteName(sh.index) + ")"
}

// ordering is the key's columns behind ORDER BY. Without the qualifier they
// could be expressions of the same name.
func (sh *shape) ordering() string { return qualified(sh.qualifier, sh.key) }

// qualified is names as columns of a table, joined with commas.
func qualified(table string, names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = table + "." + quoteName(n)
	}
	return strings.Join(list, ", ")
}
