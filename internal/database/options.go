package database

import (
	"errors"
	"fmt"

	"github.com/leatdata/leat/connector/option"
)

// Table is an option that names a table.
type Table struct{ Option, Name string }

// SinkFaults finds the contradictions in the options that all sinks have.
func SinkFaults(mode, nulls string, key []string, parse func(name string) error, tables ...Table) (faults []error) {
	if len(key) > 0 && mode != Upsert {
		faults = append(faults, fmt.Errorf("key is for mode upsert, not %s", mode))
	}
	if nulls == NullsKeep && mode != Upsert {
		faults = append(faults, fmt.Errorf("nulls is for mode upsert, not %s", mode))
	}
	for _, t := range tables {
		if err := parse(t.Name); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", t.Option, err))
		}
	}
	return faults
}

// SourceFaults finds the contradictions in the options that all sources have.
func SourceFaults(table, query string, splitSize option.Size, splitRows int64, parse func(name string) error) (faults []error) {
	switch {
	case table == "" && query == "":
		faults = append(faults, errors.New("table or query is needed"))
	case table != "" && query != "":
		faults = append(faults, errors.New("table and query exclude each other"))
	case table != "":
		if err := parse(table); err != nil {
			faults = append(faults, fmt.Errorf("table: %w", err))
		}
	}
	if splitRows < 0 {
		faults = append(faults, errors.New("split_rows is negative"))
	}
	if splitSize <= 0 {
		faults = append(faults, errors.New("split_size must be more than 0"))
	}
	return faults
}
