package mysql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/database"
)

// Bounds of a table that is made.
const (
	keyBytes      = 3072  // of an index
	inRowBytes    = 60000 // of a row, without its texts and blobs; the server's is 65535
	decimalDigits = 65
	decimalScale  = 30
	mostColumns   = 1017 // that InnoDB takes
)

// plan sets up a table that is to be made.
func (k *Sink) plan(t *target, in *batch.Schema) error {
	if k.options.Create == database.CreateNever {
		return connector.Errorf(connector.Usage, "table %s does not exist, and create is never", t.name)
	}
	t.key = in.Key
	if len(k.options.Key) > 0 {
		t.key = k.options.Key
	}
	if k.options.Mode == database.Upsert && len(t.key) == 0 {
		return connector.Errorf(connector.Usage, "mode upsert needs a key, and neither the source has one nor does key name one")
	}
	if n := len(in.Fields); n > mostColumns {
		return connector.Errorf(connector.Usage, "table %s would have %d columns, and InnoDB takes %d: choose fewer by columns", t.name, n, mostColumns)
	}
	for i, name := range in.Names() {
		if name == "" {
			return connector.Errorf(connector.Usage, "column %d has no name, which the server does not take; name it by columns", i+1)
		}
		if err := checkName(name); err != nil {
			return connector.Errorf(connector.Usage, "the column %q: %w; rename it by columns", name, err)
		}
		for _, other := range in.Names()[:i] {
			if strings.EqualFold(name, other) {
				return connector.Errorf(connector.Usage, "the columns %s and %s are one to the server, which does not look at case; rename one by columns", other, name)
			}
		}
	}
	for _, name := range t.key {
		if in.Index(name) < 0 {
			return connector.Errorf(connector.Usage, "key: the records have no column %s; they have %s", name, database.Listed(in.Names()))
		}
	}
	t.create(in)
	return nil
}

// create makes the statement that makes the table, and the schema it will have.
func (t *target) create(in *batch.Schema) {
	m := maker{server: t.server, row: inRowBytes}
	for _, f := range in.Fields {
		if slices.Contains(t.key, f.Name) {
			m.keys++
		}
	}
	t.schema = &batch.Schema{Key: t.key}
	lines := make([]string, 0, len(in.Fields)+1)
	for _, f := range in.Fields {
		m.inKey = slices.Contains(t.key, f.Name)
		declared, typ := m.column(f.Type)
		notNull := f.NotNull || m.inKey
		line := quoteName(f.Name) + " " + declared
		if notNull {
			line += " NOT NULL"
		} else {
			line += " NULL"
		}
		if m.cut {
			t.doubts = append(t.doubts, fmt.Sprintf("column %s of the key is made %s: a longer value is dirty", f.Name, declared))
		}
		lines = append(lines, line)
		t.schema.Fields = append(t.schema.Fields, batch.Field{Name: f.Name, Type: typ, NotNull: notNull})
	}
	if len(t.key) > 0 {
		lines = append(lines, "PRIMARY KEY ("+quoteNames(t.key)+")")
	}
	t.ddl = "CREATE TABLE " + t.name.String() + " (" + strings.Join(lines, ", ") + ") ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE " + t.server.collation()
}

// notMade is the error of the statement that makes the table, nil for nil.
func (t *target) notMade(doing string, err error) error {
	switch numberOf(err) {
	case errRowTooLarge, errTooManyColumns, errTooLongKey, errTooLongColumn, errTooManyParts:
		return connector.Errorf(connector.Usage, "%s of %d columns: %w; choose fewer by columns (a row of InnoDB has to fit into half a page of 16 KiB, with 20 bytes of each long text, so that of those there are about 400 at most), or make the table yourself",
			doing, len(t.schema.Fields), err)
	}
	return wrap(doing, err)
}

// collation is the one by which texts are equal only when they are the same,
// to the space at their end: what the source tells apart stays apart in a key.
func (v version) collation() string {
	switch {
	case v.mariaDB && v.number >= 100200:
		return "utf8mb4_nopad_bin"
	case !v.mariaDB && v.number >= 80017:
		return "utf8mb4_0900_bin"
	}
	return "utf8mb4_bin"
}

// maker chooses the types of columns to be made. All it chooses loses nothing
// of a value, or else the encoders tell of it.
type maker struct {
	server version
	// row is what is left of a row's bytes, keys the number of key columns.
	row, keys int
	inKey     bool
	// cut says that a column got a bound that its type has not.
	cut bool
}

// column returns the declaration of a column and the type that it has.
func (m *maker) column(t batch.Type) (string, batch.Type) {
	m.cut = false
	if declared, ok := m.own(t); ok {
		return declared, t
	}
	switch t.Kind {
	case batch.Bool:
		return "TINYINT(1)", batch.Of(batch.Bool)
	case batch.Decimal:
		return m.decimal(t)
	case batch.Bytes:
		return m.bytes(t)
	case batch.Time, batch.Timestamp, batch.Instant:
		return m.time(t)
	case batch.UUID:
		if m.server.mariaDB && m.server.number >= 100700 {
			return "UUID", t
		}
		return "CHAR(36) CHARACTER SET ascii COLLATE ascii_bin", batch.Type{Kind: batch.Text, Length: 36, Name: "char"}
	case batch.JSON:
		if m.inKey {
			return m.text(batch.Of(batch.Text))
		}
		return "JSON", batch.Of(batch.JSON)
	case batch.Bit:
		if t.Fixed && t.Length >= 1 && t.Length <= 64 {
			if t.Length == 1 {
				return "BIT(1)", batch.Type{Kind: batch.Bool, Name: "bit"}
			}
			return fmt.Sprintf("BIT(%d)", t.Length), batch.Type{Kind: batch.Bit, Length: t.Length, Fixed: true}
		}
		return m.text(batch.Type{Kind: batch.Text, Length: t.Length})
	case batch.Text:
		return m.text(t)
	case batch.TimeTZ, batch.Interval:
		return m.text(batch.Type{Kind: batch.Text, Length: 100})
	}
	if name, ok := plainTypes[t.Kind]; ok {
		return name, batch.Of(t.Kind)
	}
	return m.text(batch.Of(batch.Text))
}

// own returns the declaration of a type that the servers alone have, where a
// source of theirs tells it by name.
func (m *maker) own(t batch.Type) (string, bool) {
	name := strings.ToLower(t.Name)
	switch {
	case t.Kind == batch.Named && labelsOf(t.Name) != nil:
		return t.Name, true
	case t.Kind == batch.Named && (name == "inet6" && m.server.number >= 100500 || name == "inet4" && m.server.number >= 101000):
		return strings.ToUpper(name), m.server.mariaDB
	case t.Kind == batch.Int16 && name == "year", t.Kind == batch.Bytes && name != "" && strings.Contains(geometries, " "+name+" "):
		return strings.ToUpper(name), true
	}
	return "", false
}

// plainTypes are the column types for kinds without bounds.
var plainTypes = map[batch.Kind]string{ //nolint:gochecknoglobals // a constant table
	batch.Int8: "TINYINT", batch.Int16: "SMALLINT", batch.Int32: "INT", batch.Int64: "BIGINT",
	batch.Uint8: "TINYINT UNSIGNED", batch.Uint16: "SMALLINT UNSIGNED", batch.Uint32: "INT UNSIGNED", batch.Uint64: "BIGINT UNSIGNED",
	batch.Float32: "FLOAT", batch.Float64: "DOUBLE", batch.Date: "DATE",
}

// decimal keeps numbers of unknown digits in the widest there is; those that
// are known to be wider are texts.
func (m *maker) decimal(t batch.Type) (string, batch.Type) {
	precision, scale := t.Precision, t.Scale
	switch {
	case precision == 0:
		precision, scale = decimalDigits, decimalScale
	case scale < 0:
		precision, scale = precision-scale, 0
	case scale > precision:
		precision = scale
	}
	if precision > decimalDigits || scale > decimalScale {
		return m.text(batch.Of(batch.Text))
	}
	return fmt.Sprintf("DECIMAL(%d,%d)", precision, scale), batch.Type{Kind: batch.Decimal, Precision: precision, Scale: scale}
}

// time makes DATETIME of moments, in UTC: TIMESTAMP ends in the year 2038.
func (m *maker) time(t batch.Type) (string, batch.Type) {
	fraction := min(6, max(0, t.Fraction-1))
	if t.Fraction == 0 {
		fraction = 6
	}
	bounds := ""
	if fraction > 0 {
		bounds = fmt.Sprintf("(%d)", fraction)
	}
	if t.Kind == batch.Time {
		return "TIME" + bounds, batch.Type{Kind: batch.Time, Fraction: fraction + 1}
	}
	return "DATETIME" + bounds, batch.Type{Kind: batch.Timestamp, Fraction: fraction + 1}
}

// text makes VARCHAR where the bounds allow it: it keeps spaces at the end,
// which CHAR drops.
func (m *maker) text(t batch.Type) (string, batch.Type) {
	n := t.Length
	if m.inKey {
		if most := m.keyShare() / 4; n == 0 || n > most {
			n, m.cut = most, true
		}
	} else if n == 0 || n > 16383 || 4*n+2 > m.row {
		return "LONGTEXT", batch.Of(batch.Text)
	}
	m.row -= 4*n + 2
	return fmt.Sprintf("VARCHAR(%d)", n), batch.Type{Kind: batch.Text, Length: n}
}

func (m *maker) bytes(t batch.Type) (string, batch.Type) {
	n := t.Length
	if m.inKey {
		if most := m.keyShare(); n == 0 || n > most {
			n, m.cut = most, true
		}
	} else if n == 0 || n+2 > m.row {
		return "LONGBLOB", batch.Of(batch.Bytes)
	}
	m.row -= n + 2
	if t.Fixed && n == t.Length && n <= 255 {
		return fmt.Sprintf("BINARY(%d)", n), batch.Type{Kind: batch.Bytes, Length: n, Fixed: true}
	}
	return fmt.Sprintf("VARBINARY(%d)", n), batch.Type{Kind: batch.Bytes, Length: n}
}

// keyShare is what a column of the key may take of its bytes.
func (m *maker) keyShare() int { return keyBytes/max(1, m.keys) - 2 }
