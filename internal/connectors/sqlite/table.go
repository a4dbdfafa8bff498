package sqlite

import (
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// column is a column of a table as the catalogue has it.
type column struct {
	name       string
	declared   string
	affinity   affinity
	typ        batch.Type
	notNull    bool
	hasDefault bool
	// generated columns are computed, and cannot be written.
	generated bool
	// pk is the column's place in the primary key, from 1; 0 outside of it.
	pk int
}

// table is a table or view as the catalogue has it.
type table struct {
	name string
	// sql is its CREATE statement.
	sql          string
	view         bool
	virtual      bool
	strict       bool
	withoutRowid bool
	// triggers says that inserting or updating rows runs triggers.
	triggers bool
	// foreign says that the table refers to others.
	foreign bool
	columns []column
	// unique are the sets of columns that are unique, by whole indexes without
	// expressions; the primary key is the first.
	unique [][]string
	// indexes are the CREATE statements of the unique indexes that are not
	// part of the table's own.
	indexes []string
}

// readTable reads a table by its name, nil when there is none. SQLite takes
// names in either case; the table has the name that it was created with.
func readTable(c *native.Conn, name string) (*table, error) {
	var t *table
	err := c.Query("SELECT name, type, coalesce(sql, '') FROM main.sqlite_schema WHERE lower(name) = lower(?) AND type IN ('table', 'view')", []any{name}, func(s *native.Stmt) error {
		t = &table{name: s.String(0), view: s.String(1) == "view", sql: s.String(2)}
		return nil
	})
	if err != nil || t == nil {
		return nil, err
	}
	err = c.Query("SELECT wr, strict, type FROM pragma_table_list(?) WHERE schema = 'main'", []any{t.name}, func(s *native.Stmt) error {
		t.withoutRowid, t.strict, t.virtual = s.Int64(0) == 1, s.Int64(1) == 1, s.String(2) == "virtual"
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.readColumns(c); err != nil {
		return nil, err
	}
	if err := t.readIndexes(c); err != nil {
		return nil, err
	}
	const counts = "SELECT (SELECT count(*) FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) = lower(?1)), (SELECT count(*) FROM pragma_foreign_key_list(?1, 'main'))"
	return t, c.Query(counts, []any{t.name}, func(s *native.Stmt) error {
		t.triggers, t.foreign = s.Int64(0) > 0, s.Int64(1) > 0
		return nil
	})
}

func (t *table) readColumns(c *native.Conn) error {
	behind, err := t.declaredBehind(c)
	if err != nil {
		return err
	}
	return c.Query(`SELECT name, type, "notnull", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?, 'main') ORDER BY cid`, []any{t.name}, func(s *native.Stmt) error {
		col := column{name: s.String(0), declared: s.String(1), notNull: s.Int64(2) == 1, hasDefault: s.Int64(3) == 1, pk: int(s.Int64(4))}
		hidden := s.Int64(5)
		if hidden == 1 {
			return nil
		}
		col.generated = hidden > 1
		if d, ok := behind[col.name]; ok && !strings.Contains(strings.ToUpper(d), "BLOB") && affinityOf(col.declared, false) == blobAffinity {
			col.declared = ""
		}
		col.affinity = affinityOf(col.declared, t.strict)
		col.typ = typeOf(col.declared, col.affinity)
		t.columns = append(t.columns, col)
		return nil
	})
}

// declaredBehind returns the types that the columns which a view shows were
// declared with. The catalogue calls a view's column BLOB when it has none.
func (t *table) declaredBehind(c *native.Conn) (map[string]string, error) {
	if !t.view {
		return nil, nil
	}
	s, err := c.Prepare("SELECT * FROM " + quote(t.name))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	declared := make(map[string]string, s.Columns())
	for i := range s.Columns() {
		declared[s.Name(i)] = s.Declared(i)
	}
	return declared, nil
}

func (t *table) readIndexes(c *native.Conn) error {
	if key := t.primaryKey(); len(key) > 0 {
		t.unique = append(t.unique, key)
	}
	type index struct{ name, sql string }
	var indexes []index
	err := c.Query(`SELECT l.name, coalesce(m.sql, ''), l.partial FROM pragma_index_list(?, 'main') l LEFT JOIN main.sqlite_schema m ON m.type = 'index' AND m.name = l.name WHERE l."unique" = 1`, []any{t.name}, func(s *native.Stmt) error {
		ix := index{s.String(0), s.String(1)}
		if ix.sql != "" {
			t.indexes = append(t.indexes, ix.sql)
		}
		if s.Int64(2) == 0 {
			indexes = append(indexes, ix)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, ix := range indexes {
		var columns []string
		whole := true
		err := c.Query("SELECT name, cid FROM pragma_index_info(?, 'main') ORDER BY seqno", []any{ix.name}, func(s *native.Stmt) error {
			whole = whole && s.Int64(1) >= 0
			columns = append(columns, s.String(0))
			return nil
		})
		if err != nil {
			return err
		}
		if whole {
			t.unique = append(t.unique, columns)
		}
	}
	return nil
}

// primaryKey returns the names of the primary key's columns in its order.
func (t *table) primaryKey() []string {
	var key []string
	for n := 1; ; n++ {
		i := slices.IndexFunc(t.columns, func(c column) bool { return c.pk == n })
		if i < 0 {
			return key
		}
		key = append(key, t.columns[i].name)
	}
}

// rowidColumn is the index of the column that is the rowid itself, or -1: one
// column of exactly the type INTEGER is the primary key.
func (t *table) rowidColumn() int {
	key := t.primaryKey()
	if len(key) != 1 || t.withoutRowid || t.view || t.virtual {
		return -1
	}
	i := t.index(key[0])
	if !strings.EqualFold(t.columns[i].declared, "INTEGER") {
		return -1
	}
	return i
}

// rowidName returns a name by which the rowid can be had, "" when columns of
// the table have taken all of them.
func (t *table) rowidName() string {
	if t.withoutRowid || t.view || t.virtual {
		return ""
	}
	if i := t.rowidColumn(); i >= 0 {
		return quote(t.columns[i].name)
	}
	for _, name := range []string{"_rowid_", "rowid", "oid"} {
		if t.index(name) < 0 {
			return name
		}
	}
	return ""
}

// index finds a column by its name, the exact one before one in another case.
func (t *table) index(name string) int {
	if i := slices.IndexFunc(t.columns, func(c column) bool { return c.name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(t.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
}

// never reports whether a column holds no NULL: SQLite lets NULL into primary
// keys but for the rowid and tables without one.
func (t *table) neverNull(i int) bool {
	c := t.columns[i]
	return c.notNull || c.pk > 0 && t.withoutRowid || i == t.rowidColumn()
}

// isUnique reports whether the columns, in any order, are a unique key.
func (t *table) isUnique(key []string) bool {
	return slices.ContainsFunc(t.unique, func(u []string) bool {
		return len(u) == len(key) && !slices.ContainsFunc(u, func(name string) bool {
			return !slices.ContainsFunc(key, func(k string) bool { return strings.EqualFold(k, name) })
		})
	})
}

// tables lists the names of the file's own tables and views.
func tables(c *native.Conn) ([]string, error) {
	var names []string
	err := c.Query("SELECT name FROM main.sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name", nil, func(s *native.Stmt) error {
		names = append(names, s.String(0))
		return nil
	})
	return names, err
}
