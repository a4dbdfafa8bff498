package postgres

import (
	"errors"

	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/database"
)

// SinkOptions are the options of a postgres sink.
type SinkOptions struct {
	URL          option.Secret `option:"url,required" doc:"connection URL, or key=value settings as libpq takes them"`
	Table        string        `option:"table,required" doc:"table, with its schema where needed: public.orders, \"Sales\".\"Order\""`
	Mode         string        `option:"mode" default:"append" enum:"append,overwrite,truncate,upsert" doc:"append adds rows; overwrite replaces all at the end, in one transaction; truncate empties the table first; upsert replaces rows of the same key"`
	Key          []string      `option:"key" doc:"columns by which upsert finds a row; a unique index must be on them; by default the primary key"`
	Nulls        string        `option:"nulls" default:"overwrite" enum:"overwrite,keep" doc:"what a NULL does to the row that upsert finds: overwrite puts it there, keep leaves the value that is there"`
	Create       string        `option:"create" default:"auto" enum:"auto,never" doc:"auto makes a missing table with the source's columns, key and NOT NULL"`
	Unlogged     bool          `option:"unlogged" doc:"make a missing table UNLOGGED: faster, and empty after a crash of the server"`
	Pre          []string      `option:"pre,whole" doc:"statements to run before the first row, once per run"`
	Post         []string      `option:"post,whole,tuning" doc:"statements to run after the last row, in the transaction that ends the run"`
	AllowRefused bool          `option:"allow_refused" doc:"let triggers of the table skip rows; by default that fails the job"`
	RunsTable    string        `option:"runs_table" default:"leat_runs" doc:"table in which runs are noted, made when missing"`
	Positions    string        `option:"positions_table" default:"leat_positions" doc:"table in which positions are kept, made when missing"`
}

// Validate reports all contradictions at once.
func (o *SinkOptions) Validate() error {
	return errors.Join(database.SinkFaults(o.Mode, o.Nulls, o.Key, checkTable,
		database.Table{Option: "table", Name: o.Table}, database.Table{Option: "runs_table", Name: o.RunsTable}, database.Table{Option: "positions_table", Name: o.Positions})...)
}

// SourceOptions are the options of a postgres source.
type SourceOptions struct {
	URL         option.Secret `option:"url,required" doc:"connection URL, or key=value settings as libpq takes them"`
	Table       string        `option:"table" doc:"table or view to read, with its schema where needed: public.orders, \"Sales\".\"Order\""`
	Query       string        `option:"query" doc:"query to read instead of a table"`
	Key         []string      `option:"key" doc:"columns to split and order by; by default the primary key or the best unique key"`
	RowSecurity bool          `option:"row_security" doc:"let row-level security hide rows from the reader; by default a policy that applies is an error"`
	SplitSize   option.Size   `option:"split_size,tuning" default:"64MiB" doc:"about how much of a table one split holds"`
	SplitRows   int64         `option:"split_rows,tuning" doc:"rows of a split, instead of split_size"`
}

// Validate reports all contradictions at once.
func (o *SourceOptions) Validate() error {
	return errors.Join(database.SourceFaults(o.Table, o.Query, o.SplitSize, o.SplitRows, checkTable)...)
}
