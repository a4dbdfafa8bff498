package dataset

import "strings"

// Table is a generated table.
type Table struct {
	// Name is the table's name, in files and in the database.
	Name string
	// About says in a few words what kind of data it is.
	About string
	// Columns names the columns in order.
	Columns []Column

	seed uint64
	// row appends the record with the number id, from 0, with its line end.
	row func(dst []byte, r *random, id int) []byte
}

// Column is a column of a table, with its type in PostgreSQL.
type Column struct{ Name, Type string }

// DDL is the table's column list in PostgreSQL's SQL, and in DuckDB's.
func (t Table) DDL() string { return t.list(" ", func(c Column) string { return c.Type }) }

// MariaDB is the table's column list in MariaDB's SQL, which keys texts of a
// stated length best.
func (t Table) MariaDB() string {
	return t.list(" ", func(c Column) string { return translate(c.Type, "text", "varchar(64)") })
}

// SQLite is the table's column list in SQLite's SQL. SQLite has no exact type for
// decimals and dates: they are kept as their texts.
func (t Table) SQLite() string {
	return t.list(" ", func(c Column) string {
		if strings.HasPrefix(c.Type, "int") {
			return "INTEGER"
		}
		return "TEXT"
	})
}

// DuckDB is the table's columns as a struct of names and types.
func (t Table) DuckDB() string {
	return "{" + t.list(": ", func(c Column) string { return "'" + c.Type + "'" }) + "}"
}

// Leat is the table's columns as an option "types" in YAML. What PostgreSQL calls
// int8, by its bytes, is int64 here, by its bits.
func (t Table) Leat() string {
	return "{" + t.list(": ", func(c Column) string {
		return `"` + translate(c.Type, "int4", "int32", "int8", "int64") + `"`
	}) + "}"
}

// list lists the columns' names and types.
func (t Table) list(between string, kind func(Column) string) string {
	parts := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		parts[i] = c.Name + between + kind(c)
	}
	return strings.Join(parts, ", ")
}

// translate returns what stands after word in pairs, or word.
func translate(word string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i] == word {
			return pairs[i+1]
		}
	}
	return word
}

// Names is the names of all columns with commas between.
func (t Table) Names() string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return strings.Join(names, ",")
}

// Header is the first line of the table's files.
func (t Table) Header() string { return t.Names() + "\n" }
