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

// DDL is the table's column list in SQL.
func (t Table) DDL() string {
	var text strings.Builder
	for i, c := range t.Columns {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(c.Name + " " + c.Type)
	}
	return text.String()
}

// Header is the first line of the table's files.
func (t Table) Header() string {
	var text strings.Builder
	for i, c := range t.Columns {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(c.Name)
	}
	return text.String() + "\n"
}
