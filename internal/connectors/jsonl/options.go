package jsonl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/files"
)

// SourceOptions are the options of the reading half.
type SourceOptions struct {
	files.SourceOptions
	Columns []string `option:"columns" doc:"the keys to read, in this order; by default all that any object of the files has, in the order of their first appearance"`
	files.TypesOption
}

// SinkOptions are the options of the writing half.
type SinkOptions struct {
	files.SinkOptions
}

// Validate implements the check of package option.
func (o *SourceOptions) Validate() error {
	var errs []error
	for i, name := range o.Columns {
		if slices.Contains(o.Columns[:i], name) {
			errs = append(errs, fmt.Errorf("columns: %q is there twice", name))
		}
	}
	_, err := o.types()
	return errors.Join(append(errs, err)...)
}

// types parses the declared types.
func (o *SourceOptions) types() (map[string]batch.Type, error) {
	return o.ParseTypes(func(name string, t batch.Type) error {
		_, err := newColumn(name, t, true)
		return err
	})
}
