package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// relation is what the catalogue says of a table or view.
type relation struct {
	name name
	// kind is information_schema's: BASE TABLE, VIEW, SYSTEM VERSIONED, SEQUENCE.
	kind   string
	engine string
	// transactional says that the table's engine has transactions.
	transactional bool
	// rows and bytes are the engine's guess.
	rows, bytes int64
	collation   string
	columns     []column
	keys        []uniqueKey
}

// uniqueKey is a unique index over whole columns.
type uniqueKey struct {
	name    string
	columns []string
	primary bool
	// notNull says that no column of it can be NULL.
	notNull bool
	// ordered says that the index has the rows in the order of its columns.
	ordered bool
}

const relationQuery = `SELECT t.table_schema, t.table_name, t.table_type, t.engine, coalesce(e.transactions, '') = 'YES', t.table_rows, t.data_length, t.table_collation
FROM information_schema.tables t LEFT JOIN information_schema.engines e ON e.engine = t.engine
WHERE t.table_schema = ? AND t.table_name = ?`

const columnsQuery = `SELECT column_name, data_type, column_type, is_nullable = 'YES', character_maximum_length, numeric_precision, numeric_scale, datetime_precision,
 character_set_name, collation_name, extra, column_default
FROM information_schema.columns WHERE table_schema = ? AND table_name = ? ORDER BY ordinal_position`

const keysQuery = `SELECT index_name, column_name, sub_part, nullable = 'YES', index_type = 'BTREE' AND @, collation
FROM information_schema.statistics WHERE table_schema = ? AND table_name = ? AND non_unique = 0 ORDER BY index_name <> 'PRIMARY', index_name, seq_in_index`

const jsonQuery = `SELECT constraint_name, check_clause FROM information_schema.check_constraints WHERE constraint_schema = ? AND table_name = ?`

// loadRelation reads a relation of that name; nil when there is none.
func loadRelation(ctx context.Context, s *session, n name) (*relation, error) {
	n, err := s.qualify(ctx, n)
	if err != nil {
		return nil, err
	}
	if !s.server.mariaDB && s.server.number >= 80000 {
		// Else the sizes of tables may be a day old.
		if _, err := s.exec(ctx, "SET SESSION information_schema_stats_expiry = 0"); err != nil {
			return nil, wrap("look up "+n.String(), err)
		}
	}
	rows, err := s.query(ctx, relationQuery, n.database, n.table)
	if err != nil {
		return nil, wrap("look up "+n.String(), err)
	}
	// Where names are compared without case there is one; else perhaps none of that case.
	row, err := s.sameName(ctx, rows, n)
	if err != nil || row == nil {
		return nil, wrap("look up "+n.String(), err)
	}
	r := &relation{
		name: name{database: string(row[0]), table: string(row[1])}, kind: string(row[2]), engine: string(row[3]),
		transactional: isTrue(row[4]), collation: string(row[7]),
	}
	if r.rows, err = number(row[5]); err != nil {
		return nil, err
	}
	if r.bytes, err = number(row[6]); err != nil {
		return nil, err
	}
	for _, load := range []func(context.Context, *session) error{r.loadColumns, r.loadKeys, r.loadJSON} {
		if err := load(ctx, s); err != nil {
			return nil, wrap("look up "+n.String(), err)
		}
	}
	return r, nil
}

// qualify gives a name without a database the connection's.
func (s *session) qualify(ctx context.Context, n name) (name, error) {
	if n.database != "" {
		return n, nil
	}
	row, err := s.one(ctx, "SELECT DATABASE()")
	if err != nil {
		return n, wrap("look up "+n.String(), err)
	}
	if row[0] == nil {
		return n, connector.Errorf(connector.Usage, "url: it names no database, and %s neither: mysql://host/database, or database.table", n)
	}
	n.database = string(row[0])
	return n, nil
}

// sameName chooses the row of exactly that name, or the only one where the
// server tells names apart without their case.
func (s *session) sameName(ctx context.Context, rows [][][]byte, n name) ([][]byte, error) {
	for _, row := range rows {
		if string(row[0]) == n.database && string(row[1]) == n.table {
			return row, nil
		}
	}
	if len(rows) != 1 {
		return nil, nil
	}
	folds, err := s.one(ctx, "SELECT @@lower_case_table_names > 0")
	if err != nil || !isTrue(folds[0]) {
		return nil, err
	}
	return rows[0], nil
}

func (r *relation) loadColumns(ctx context.Context, s *session) error {
	rows, err := s.query(ctx, columnsQuery, r.name.database, r.name.table)
	if err != nil {
		return err
	}
	for _, row := range rows {
		c, err := newColumn(row)
		if err != nil {
			return err
		}
		r.columns = append(r.columns, c)
	}
	return nil
}

func (r *relation) loadKeys(ctx context.Context, s *session) error {
	rows, err := s.query(ctx, strings.Replace(keysQuery, "@", s.server.indexUsable(), 1), r.name.database, r.name.table)
	if err != nil {
		return err
	}
	whole := map[string]bool{}
	directions := map[string]string{}
	for _, row := range rows {
		index, column := string(row[0]), string(row[1])
		if len(r.keys) == 0 || r.keys[len(r.keys)-1].name != index {
			r.keys = append(r.keys, uniqueKey{name: index, primary: index == "PRIMARY", notNull: true, ordered: true})
			whole[index], directions[index] = true, string(row[5])
		}
		k := &r.keys[len(r.keys)-1]
		// An expression has no column, and a prefix is no column either.
		whole[index] = whole[index] && row[1] != nil && row[2] == nil
		k.columns = append(k.columns, column)
		k.notNull = k.notNull && !isTrue(row[3])
		k.ordered = k.ordered && isTrue(row[4]) && string(row[5]) == directions[index]
	}
	r.keys = slices.DeleteFunc(r.keys, func(k uniqueKey) bool { return !whole[k.name] })
	// The primary key first, then the shorter ones.
	slices.SortStableFunc(r.keys, func(a, b uniqueKey) int {
		if a.primary != b.primary {
			return map[bool]int{true: -1, false: 1}[a.primary]
		}
		return len(a.columns) - len(b.columns)
	})
	return nil
}

// loadJSON finds the columns that MariaDB was given as JSON: texts with a check.
func (r *relation) loadJSON(ctx context.Context, s *session) error {
	if !s.server.mariaDB || !slices.ContainsFunc(r.columns, func(c column) bool { return c.dataType == "longtext" }) {
		return nil
	}
	rows, err := s.query(ctx, jsonQuery, r.name.database, r.name.table)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if c := r.column(string(row[0])); c != nil && c.dataType == "longtext" &&
			strings.EqualFold(string(row[1]), "json_valid("+quoteName(c.name)+")") {
			c.json = true
		}
	}
	return nil
}

// isView reports whether the relation shows rows that are kept elsewhere.
func (r *relation) isView() bool { return strings.HasSuffix(r.kind, "VIEW") }

// column returns the column of that name, whose case does not count, or nil.
func (r *relation) column(name string) *column {
	for i := range r.columns {
		if r.columns[i].name == name {
			return &r.columns[i]
		}
	}
	for i := range r.columns {
		if strings.EqualFold(r.columns[i].name, name) {
			return &r.columns[i]
		}
	}
	return nil
}

// names returns the columns' names.
func (r *relation) names() []string {
	names := make([]string, len(r.columns))
	for i := range r.columns {
		names[i] = r.columns[i].name
	}
	return names
}

// uniqueOn returns the unique key over exactly these columns, in any order.
func (r *relation) uniqueOn(columns []string) *uniqueKey {
	want := slices.Sorted(slices.Values(columns))
	for i := range r.keys {
		if slices.Equal(want, slices.Sorted(slices.Values(r.keys[i].columns))) {
			return &r.keys[i]
		}
	}
	return nil
}

// primaryKey returns the columns of the primary key, nil when there is none.
func (r *relation) primaryKey() []string {
	if len(r.keys) > 0 && r.keys[0].primary {
		return r.keys[0].columns
	}
	return nil
}

// schemaOf returns the columns as fields of ours.
func schemaOf(columns []column, tinyint string) (*batch.Schema, error) {
	schema := &batch.Schema{}
	for i := range columns {
		t, err := columns[i].batchType(tinyint)
		if err != nil {
			return nil, connector.E(connector.Usage, fmt.Errorf("column %s: %w", columns[i].name, err))
		}
		schema.Fields = append(schema.Fields, batch.Field{Name: columns[i].name, Type: t, NotNull: columns[i].notNull})
	}
	return schema, nil
}

func isTrue(cell []byte) bool { return string(cell) == "1" }
