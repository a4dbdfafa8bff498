package mysql

import (
	"context"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// shape is what a source reads. It does not change once made.
type shape struct {
	database.Keyed
	from string // what follows FROM
	// qualifier is the name by which from's columns are told from those selected.
	qualifier string
	// query is the user's own query, "" for a table.
	query    string
	relation *relation
	schema   *batch.Schema
	// columns are the schema's.
	columns []column
	// keyColumns are those of the key.
	keyColumns []keyColumn
	// index is the index that has the rows in the order of key, "" for none.
	index string
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
	sh := &shape{Keyed: database.Keyed{What: "table " + rel.name.String()}, from: rel.name.String(), qualifier: rel.name.String(), relation: rel}
	if rel.isView() {
		sh.What = "view " + rel.name.String()
	}
	if err := s.checkRights(ctx, session, sh); err != nil {
		return nil, err
	}
	sh.columns = s.chosen(rel.columns)
	if sh.schema, err = schemaOf(sh.columns, s.options.TinyInt1); err != nil {
		return nil, err
	}
	if err := s.tableKey(sh); err != nil {
		return nil, err
	}
	if sh.Unique && !slices.ContainsFunc(sh.Key, func(k string) bool { return sh.schema.Index(k) < 0 }) {
		sh.schema.Key = sh.Key
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
		return connector.Errorf(connector.Usage, "%s: %w; if only some columns may be read, name them in the job", sh.What, err)
	}
	return wrap("look up "+sh.What, err)
}

// chosen leaves out the columns that the job does not need.
func (s *Source) chosen(columns []column) []column {
	return database.Chosen(columns, s.only, func(c *column) string { return c.name })
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
		sh.Unique = sh.Unique || u.notNull && len(key) > 0 && !slices.ContainsFunc(u.columns, func(c string) bool { return !slices.Contains(sh.Key, c) })
	}
	for _, c := range sh.keyColumns {
		sh.Unique = sh.Unique && c.notNull
	}
	sh.byFirst()
	for _, u := range sh.relation.keys {
		if u.ordered && len(sh.Key) > 0 && sh.index == "" && len(u.columns) >= len(sh.Key) && slices.Equal(u.columns[:len(sh.Key)], sh.Key) {
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
			return connector.Errorf(connector.Usage, "key: %s has no column %s; it has %s", sh.What, name, database.Listed(names))
		}
		k := keyColumn{column: columns[i], form: formOf(&columns[i])}
		if k.form == formNone {
			return connector.Errorf(connector.Usage, "key: column %s is of type %s, of which there are no ranges", name, columns[i].columnType)
		}
		sh.Key, sh.keyColumns = append(sh.Key, k.name), append(sh.keyColumns, k)
	}
	return nil
}

// byFirst keeps the first column of a key that is not unique: rows that are
// alike in it, or NULL, stay in one split.
func (sh *shape) byFirst() {
	if sh.Unique || len(sh.Key) == 0 {
		return
	}
	sh.Key, sh.keyColumns = sh.Key[:1], sh.keyColumns[:1]
	sh.Nullable = !sh.keyColumns[0].notNull
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
func (sh *shape) ordering() string { return qualified(sh.qualifier, sh.Key) }

// qualified is names as columns of a table, joined with commas.
func qualified(table string, names []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = table + "." + quoteName(n)
	}
	return strings.Join(list, ", ")
}
