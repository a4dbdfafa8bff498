package stream

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leatdata/leat/batch"
)

// SourceOptions say what records are made.
type SourceOptions struct {
	Rows      int64    `option:"rows" default:"1000" doc:"how many records to make; 0 goes on for ever"`
	Columns   []string `option:"columns" doc:"a name and a type each, such as \"price decimal(10,2)\"; by default id and one column of every kind"`
	Key       string   `option:"key" default:"id" doc:"the column that holds the row number, counted from 1, if there is one of that name"`
	Seed      int64    `option:"seed" default:"1" doc:"other seeds make other records"`
	SplitRows int64    `option:"split_rows,tuning" default:"100000" doc:"records of a split"`
	Nulls     float64  `option:"nulls" default:"0.05" doc:"the share of NULL among the cells outside the key, 0 to 1"`
}

// Validate reports what is wrong with the options, all of it.
func (o *SourceOptions) Validate() error {
	var errs []error
	if o.Rows < 0 {
		errs = append(errs, fmt.Errorf("rows is %d, but must be 0 or more", o.Rows))
	}
	if o.SplitRows < 1 {
		errs = append(errs, fmt.Errorf("split_rows is %d, but must be 1 or more", o.SplitRows))
	}
	if !(o.Nulls >= 0 && o.Nulls <= 1) {
		errs = append(errs, fmt.Errorf("nulls is %v, but must be from 0 to 1", o.Nulls))
	}
	if _, err := o.fields(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// fields returns the columns that the options ask for, before nullability.
func (o *SourceOptions) fields() ([]batch.Field, error) {
	if len(o.Columns) == 0 {
		return defaultFields(o.Key), nil
	}
	var errs []error
	seen := make(map[string]bool)
	fields := make([]batch.Field, 0, len(o.Columns))
	for _, column := range o.Columns {
		f, err := parseColumn(column)
		switch {
		case err != nil:
			errs = append(errs, err)
		case seen[f.Name]:
			errs = append(errs, fmt.Errorf("columns has %q twice", f.Name))
		case f.Name == o.Key && !f.Type.Kind.IsInteger() && f.Type.Kind != batch.Text && f.Type.Kind != batch.Untyped:
			errs = append(errs, fmt.Errorf("the key column %q must be an integer or text, not %s", f.Name, f.Type))
		}
		seen[f.Name] = true
		fields = append(fields, f)
	}
	return fields, errors.Join(errs...)
}

// parseColumn reads "name type"; the type may also stand after a colon.
func parseColumn(text string) (batch.Field, error) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, " :")
	if end <= 0 {
		return batch.Field{}, fmt.Errorf("column %q must be a name and a type, such as \"price decimal(10,2)\"", text)
	}
	t, err := batch.ParseType(strings.TrimLeft(text[end:], " :"))
	if err != nil {
		return batch.Field{}, fmt.Errorf("column %q: %w", text[:end], err)
	}
	if err := makeable(t); err != nil {
		return batch.Field{}, fmt.Errorf("column %q: %w", text[:end], err)
	}
	return batch.Field{Name: text[:end], Type: t}, nil
}

// SinkOptions say what becomes of the records.
type SinkOptions struct {
	Print bool `option:"print" default:"false" doc:"print each record as a line on standard output instead of letting it go"`
}
