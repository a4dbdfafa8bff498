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

// SinkOptions are the options of a sqlite sink.
type SinkOptions struct {
	Path         string   `option:"path,required" doc:"database file, made when missing"`
	Table        string   `option:"table,required" doc:"table, its name as it is, without quotes"`
	Mode         string   `option:"mode" default:"append" enum:"append,overwrite,truncate,upsert" doc:"append adds rows; overwrite replaces all at the end, in one transaction; truncate empties the table first; upsert replaces rows of the same key"`
	Key          []string `option:"key" doc:"columns by which upsert finds a row; they must be the primary key or unique; by default the primary key"`
	Nulls        string   `option:"nulls" default:"overwrite" enum:"overwrite,keep" doc:"what a NULL does to the row that upsert finds: overwrite puts it there, keep leaves the value that is there"`
	Create       string   `option:"create" default:"auto" enum:"auto,never" doc:"auto makes a missing table with the source's columns, key and NOT NULL"`
	Pre          []string `option:"pre,whole" doc:"statements to run before the first row, once per run"`
	Post         []string `option:"post,whole,tuning" doc:"statements to run after the last row, in the transaction that ends the run"`
	AllowRefused bool     `option:"allow_refused" doc:"let triggers of the table skip rows; by default that fails the job"`
	RunsTable    string   `option:"runs_table" default:"leat_runs" doc:"table in which runs are noted, made when missing"`
	Positions    string   `option:"positions_table" default:"leat_positions" doc:"table in which positions are kept, made when missing"`
}

// Validate reports all contradictions at once.
func (o *SinkOptions) Validate() error {
	problems := database.SinkFaults(o.Mode, o.Nulls, o.Key, nil)
	if strings.EqualFold(o.RunsTable, o.Positions) {
		problems = append(problems, errors.New("runs_table and positions_table are the same"))
	}
	if strings.EqualFold(o.Table, o.RunsTable) || strings.EqualFold(o.Table, o.Positions) {
		problems = append(problems, fmt.Errorf("table %s is where runs or positions are kept", o.Table))
	}
	return errors.Join(append(problems, checkNames(o.Table, o.RunsTable, o.Positions))...)
}

// SourceOptions are the options of a sqlite source.
type SourceOptions struct {
	Path      string            `option:"path,required" doc:"database file, opened for reading only"`
	Table     string            `option:"table" doc:"table or view to read, its name as it is; by default the only one of the file"`
	Query     string            `option:"query" doc:"query to read instead of a table; it is one split, read again from its start after a crash"`
	Types     map[string]string `option:"types" doc:"types of columns in place of the declared ones, such as {data: bytes}; for columns that hold blobs without being declared so"`
	SplitRows int64             `option:"split_rows,tuning" default:"100000" doc:"about how many rows one split holds"`
}

// Validate reports all contradictions at once.
func (o *SourceOptions) Validate() error {
	var problems []error
	if o.Table != "" && o.Query != "" {
		problems = append(problems, errors.New("table and query exclude each other"))
	}
	if o.SplitRows < 1 {
		problems = append(problems, errors.New("split_rows must be 1 or more"))
	}
	for name := range o.Types {
		if _, err := o.typeOf(name); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(append(problems, checkNames(o.Table))...)
}

// typeOf parses the type that the option types has for a column. Only those
// that declarations stand for can be read.
func (o *SourceOptions) typeOf(column string) (batch.Type, error) {
	t, err := batch.ParseType(o.Types[column])
	if err != nil {
		return t, fmt.Errorf("types: %s: %w", column, err)
	}
	switch t.Kind {
	case batch.Int64, batch.Float64, batch.Decimal, batch.Bool, batch.Text, batch.Bytes, batch.Date, batch.Time,
		batch.Timestamp, batch.Instant, batch.Interval, batch.UUID, batch.JSON:
		return t, nil
	}
	return t, fmt.Errorf("types: %s: %s is none of the types that are read from SQLite: int64, float64, decimal, bool, text, bytes, date, time, timestamp, instant, interval, uuid, json", column, t)
}

// declare gives the columns the types of the option types.
func (o *SourceOptions) declare(columns []column) error {
	for name := range o.Types {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		if i < 0 {
			return connector.Errorf(connector.Usage, "types: there is no column %q", name)
		}
		t, err := o.typeOf(name)
		if err != nil {
			return connector.E(connector.Usage, err)
		}
		columns[i].typ, columns[i].declared = t, o.Types[name]
	}
	return nil
}

// checkNames refuses what SQLite cannot have or keeps for itself.
func checkNames(names ...string) error {
	var problems []error
	for _, name := range names {
		if strings.ContainsRune(name, 0) {
			problems = append(problems, fmt.Errorf("%q has a zero byte in it", name))
		}
		if len(name) >= 7 && strings.EqualFold(name[:7], "sqlite_") {
			problems = append(problems, fmt.Errorf("%s is a name that SQLite keeps for itself", name))
		}
	}
	return errors.Join(problems...)
}
