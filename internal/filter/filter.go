package filter

import (
	"errors"

	"github.com/leatdata/leat/batch"
)

// Filter decides which records pass. It holds no state between records and is
// safe for concurrent use.
type Filter struct {
	pass    eval[bool]
	columns []string
}

// Compile reads an expression over the schema's columns. Its errors name the
// place in the expression. The batches that Match is given have to have the
// schema's fields in its order.
func Compile(expression string, schema *batch.Schema) (*Filter, error) {
	c := &compiler{schema: schema, used: make([]bool, len(schema.Fields))}
	t, err := c.compile(expression)
	if err != nil {
		return nil, err
	}
	f := &Filter{pass: t.boolean}
	for i, used := range c.used {
		if used {
			f.columns = append(f.columns, schema.Fields[i].Name)
		}
	}
	return f, nil
}

// Match reports whether a record passes: whether the expression is true for
// it, and not false or NULL. Its errors are *CellError: the record is dirty.
func (f *Filter) Match(b *batch.Batch, i int) (bool, error) {
	v, err := f.pass(row{b: b, i: i})
	if err != nil {
		if _, ok := errors.AsType[*CellError](err); !ok {
			err = &CellError{Err: err}
		}
		return false, err
	}
	return v.v && !v.null, nil
}

// Columns returns the columns that the expression refers to, in the schema's
// order. Cells of others are not looked at.
func (f *Filter) Columns() []string { return f.columns }
