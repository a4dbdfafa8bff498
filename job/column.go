package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Column is an entry of a job's columns.
type Column struct {
	// Name is the column's name in the target; "*" stands for every source
	// column that no other entry takes.
	Name string
	// From is the source's column, "" for a constant.
	From string
	// Cast is the type that the values are converted to before the target
	// sees them, when HasCast.
	Cast    batch.Type
	HasCast bool
	// Constant says that all rows have Value, in the canonical text of Cast;
	// a nil Value is NULL.
	Constant bool
	Value    []byte
}

// All is the name of the entry for all other source columns.
const All = "*"

// String returns the entry in one line, for messages and the fingerprint.
func (c Column) String() string {
	var b strings.Builder
	switch {
	case c.Constant && c.Value == nil:
		fmt.Fprintf(&b, "%s = NULL", quoteName(c.Name))
	case c.Constant:
		fmt.Fprintf(&b, "%s = %s", quoteName(c.Name), strconv.Quote(string(c.Value)))
	case c.From != c.Name:
		fmt.Fprintf(&b, "%s from %s", quoteName(c.Name), quoteName(c.From))
	default:
		b.WriteString(quoteName(c.Name))
	}
	if c.HasCast || c.Constant {
		b.WriteString(" as " + c.Cast.String())
	}
	return b.String()
}

func quoteName(name string) string {
	if isName(name) || name == All {
		return name
	}
	return strconv.Quote(name)
}

// Output is a column as the sink gets it.
type Output struct {
	Field batch.Field
	// Source is the index of the source's field, -1 for a constant.
	Source int
	// Value is a constant's value; nil is NULL.
	Value []byte
}

// Outputs applies columns to the source's schema. What it cannot find is a
// Usage error that names the nearest column.
func (j *Job) Outputs(in *batch.Schema) ([]Output, error) {
	columns := j.Columns
	if len(columns) == 0 {
		columns = []Column{{Name: All, From: All}}
	}
	var outputs []Output
	for _, c := range columns {
		switch {
		case c.Name == All:
			outputs = append(outputs, others(columns, in)...)
		case c.Constant:
			outputs = append(outputs, Output{Field: batch.Field{Name: c.Name, Type: c.Cast, NotNull: c.Value != nil}, Source: -1, Value: c.Value})
		default:
			i := in.Index(c.From)
			if i < 0 {
				return nil, missingColumn(c.From, in)
			}
			field := in.Fields[i]
			field.Name = c.Name
			if c.HasCast {
				field.Type = c.Cast
			}
			outputs = append(outputs, Output{Field: field, Source: i})
		}
	}
	for i, o := range outputs {
		for _, p := range outputs[:i] {
			if o.Field.Name == p.Field.Name {
				return nil, connector.Errorf(connector.Usage, "columns: two columns of the target would have the name %q", o.Field.Name)
			}
		}
	}
	return outputs, nil
}

// others returns the source's columns that no entry names.
func others(columns []Column, in *batch.Schema) []Output {
	var outputs []Output
	for i, f := range in.Fields {
		if !slices.ContainsFunc(columns, func(c Column) bool { return !c.Constant && c.Name != All && c.From == f.Name }) {
			outputs = append(outputs, Output{Field: f, Source: i})
		}
	}
	return outputs
}

func missingColumn(name string, in *batch.Schema) error {
	if near := option.Nearest(name, in.Names()); near != "" {
		return connector.Errorf(connector.Usage, "columns: the source has no column %q; did you mean %q?", name, near)
	}
	return connector.Errorf(connector.Usage, "columns: the source has no column %q; it has %s", name, strings.Join(in.Names(), ", "))
}

// Inputs returns the names of the source's columns that the columns need, nil
// for all. A where of the engine's may need others.
func (j *Job) Inputs() []string {
	var names []string
	for _, c := range j.Columns {
		if c.Name == All {
			return nil
		}
		if !c.Constant && !slices.Contains(names, c.From) {
			names = append(names, c.From)
		}
	}
	return names
}
