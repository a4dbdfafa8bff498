package sqlite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// target is what a sink's options and the input's columns come to.
type target struct {
	// table is the table as it is, nil when the run makes it.
	table *table
	// name is the table's name as SQLite has it.
	name string
	// columns are the target's columns for the input's fields.
	columns []column
	// key are the columns by which upsert finds a row, or the key of a table
	// that the run makes.
	key []string
}

// resolveTarget matches fields and columns by name, and says all that is wrong.
func resolveTarget(o *SinkOptions, t *table, in *batch.Schema) (*target, error) {
	if t == nil {
		return newTarget(o, in)
	}
	if t.view || t.virtual {
		return nil, connector.Errorf(connector.Usage, "%s is a view or virtual table, and cannot be written to with a position", t.name)
	}
	tg := &target{table: t, name: t.name}
	var problems []error
	used := make(map[int]string)
	for _, f := range in.Fields {
		i := t.index(f.Name)
		switch {
		case i < 0:
			problems = append(problems, fmt.Errorf("table %s has no column %q; it has %s", t.name, f.Name, columnNames(t)))
			continue
		case t.columns[i].generated:
			problems = append(problems, fmt.Errorf("column %q of table %s is generated, and cannot be written", f.Name, t.name))
		case used[i] != "":
			problems = append(problems, fmt.Errorf("%q and %q are the same column of table %s", used[i], f.Name, t.name))
		}
		used[i] = f.Name
		c := t.columns[i]
		if c.typ.Kind == batch.Untyped {
			c.typ = looseType(f.Type)
		}
		tg.columns = append(tg.columns, c)
	}
	for i, c := range t.columns {
		if used[i] == "" && c.notNull && !c.hasDefault && !c.generated && i != t.rowidColumn() {
			problems = append(problems, fmt.Errorf("column %q of table %s must not be NULL and has no default, but the source has no such column", c.name, t.name))
		}
	}
	if err := tg.upsertKey(o, t); err != nil {
		problems = append(problems, err)
	}
	return tg, connector.E(connector.Usage, errors.Join(problems...))
}

// upsertKey finds the columns by which upsert finds a row.
func (tg *target) upsertKey(o *SinkOptions, t *table) error {
	if o.Mode != database.Upsert {
		return nil
	}
	key := o.Key
	if len(key) == 0 {
		key = t.primaryKey()
	}
	switch {
	case len(key) == 0:
		return fmt.Errorf("table %s has no primary key for mode upsert: name columns that are unique with key", t.name)
	case !t.isUnique(key):
		return fmt.Errorf("the columns %s of table %s are not a unique key, as mode upsert needs", strings.Join(key, ", "), t.name)
	}
	for _, name := range key {
		i := slices.IndexFunc(tg.columns, func(c column) bool { return strings.EqualFold(c.name, name) })
		if i < 0 {
			return fmt.Errorf("the source has no column %q, by which mode upsert finds a row", name)
		}
		tg.key = append(tg.key, tg.columns[i].name)
	}
	return nil
}

// newTarget plans a table that the run makes.
func newTarget(o *SinkOptions, in *batch.Schema) (*target, error) {
	if o.Create == database.CreateNever {
		return nil, connector.Errorf(connector.Usage, "there is no table %s in %s, and create is never", o.Table, o.Path)
	}
	tg := &target{name: o.Table, key: in.Key}
	if len(o.Key) > 0 {
		tg.key = o.Key
	}
	var problems []error
	for i, f := range in.Fields {
		for _, g := range in.Fields[:i] {
			if strings.EqualFold(f.Name, g.Name) {
				problems = append(problems, fmt.Errorf("columns %q and %q are the same to SQLite: rename one", g.Name, f.Name))
			}
		}
		declared := declarationFor(f.Type)
		a := affinityOf(declared, false)
		tg.columns = append(tg.columns, column{name: f.Name, declared: declared, affinity: a, typ: typeOf(declared, a), notNull: f.NotNull || slices.Contains(tg.key, f.Name)})
	}
	for _, name := range tg.key {
		if in.Index(name) < 0 {
			if len(o.Key) > 0 {
				problems = append(problems, fmt.Errorf("the source has no column %q, which key names", name))
			}
			tg.key = nil
		}
	}
	if o.Mode == database.Upsert && len(tg.key) == 0 {
		problems = append(problems, fmt.Errorf("mode upsert needs a key: name the columns by which a row is found with key"))
	}
	return tg, connector.E(connector.Usage, errors.Join(problems...))
}

// looseType is the type by which cells go into a column that was declared
// without one, which keeps values in the storage class that they come in.
func looseType(t batch.Type) batch.Type {
	switch k := t.Kind; {
	case k.IsInteger() && k != batch.Uint64:
		return batch.Of(batch.Int64)
	case k.IsFloat():
		return batch.Of(batch.Float64)
	case k == batch.Bytes:
		return batch.Of(batch.Bytes)
	}
	return batch.Of(batch.Text)
}

func columnNames(t *table) string {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// schema returns the target's columns as the engine wants them.
func (tg *target) schema() *batch.Schema {
	s := &batch.Schema{Key: tg.key}
	for _, c := range tg.columns {
		s.Fields = append(s.Fields, batch.Field{Name: c.name, Type: c.typ, NotNull: c.notNull})
	}
	return s
}

// names returns the names of the columns that are written.
func (tg *target) names() []string {
	names := make([]string, len(tg.columns))
	for i := range tg.columns {
		names[i] = tg.columns[i].name
	}
	return names
}

// create returns the statement that makes the table under a name.
func (tg *target) create(name string) string {
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quote(name) + " (")
	for i, c := range tg.columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(c.name) + " " + c.declared)
		if c.notNull {
			b.WriteString(" NOT NULL")
		}
	}
	if len(tg.key) > 0 {
		b.WriteString(", PRIMARY KEY (" + quoteAll(tg.key) + ")")
	}
	b.WriteString(")")
	return b.String()
}

// doubts are what may surprise about the columns.
func (tg *target) doubts(in *batch.Schema) []string {
	var doubts []string
	if tg.table != nil && tg.table.foreign {
		doubts = append(doubts, fmt.Sprintf("table %s refers to others by foreign keys, which SQLite checks only where a connection asks for it; this one does not", tg.name))
	}
	for i, c := range tg.columns {
		from := in.Fields[i].Type
		switch {
		case from.Kind == batch.Untyped && (tg.table == nil || c.affinity == blobAffinity && c.typ.Kind == batch.Text):
			doubts = append(doubts, fmt.Sprintf("column %s: the source declares no type, so that all its values, numbers too, are stored as text; a type declared there keeps them numbers", c.name))
		case from.Kind == batch.Uint64 && c.typ.Kind == batch.Int64:
			doubts = append(doubts, fmt.Sprintf("column %s: numbers over 9223372036854775807 do not fit and are dirty", c.name))
		case from.Kind == batch.Decimal && tg.table == nil:
			doubts = append(doubts, fmt.Sprintf("column %s: decimals are kept exactly, as text, because SQLite has only floating-point numbers for them", c.name))
		case c.typ.Kind == batch.Decimal:
			doubts = append(doubts, fmt.Sprintf("column %s is %s: SQLite keeps such numbers as floating point, so that decimals which do not read back the same are dirty", c.name, c.declared))
		case c.typ.Kind == batch.Text && c.affinity != textAffinity && c.affinity != blobAffinity:
			doubts = append(doubts, fmt.Sprintf("column %s is declared %s, which SQLite does not know and takes for a number: texts such as 007 would change and are dirty", c.name, c.declared))
		}
	}
	return doubts
}
