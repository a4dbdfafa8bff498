package mysql

import (
	"errors"

	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/database"
)

// The ways of rows that load names besides auto.
const (
	loadInfile = "infile"
	loadInsert = "insert"
)

// SinkOptions are the options of a mysql sink.
type SinkOptions struct {
	URL       option.Secret `option:"url,required" doc:"mysql://user:password@host:port/database, with ssl-mode, ssl-ca, ssl-cert, ssl-key or socket behind ? where needed"`
	Table     string        `option:"table,required" doc:"table, with its database where needed: shop.orders; with backquotes around a name that has a dot in it"`
	Mode      string        `option:"mode" default:"append" enum:"append,overwrite,truncate,upsert" doc:"append adds rows; overwrite replaces all at the end, in one transaction; truncate empties the table first; upsert replaces rows of the same key"`
	Key       []string      `option:"key" doc:"columns by which upsert finds a row; they must be the primary key or unique; by default the primary key"`
	Nulls     string        `option:"nulls" default:"overwrite" enum:"overwrite,keep" doc:"what a NULL does in mode upsert to a row that is there: overwrite writes it, keep leaves the value"`
	Create    string        `option:"create" default:"auto" enum:"auto,never" doc:"auto makes a missing table with the source's columns, key and NOT NULL"`
	TinyInt1  string        `option:"tinyint1" default:"bool" enum:"bool,int" doc:"what a column declared as BOOLEAN or TINYINT(1) takes: bool true and false, int all numbers"`
	Load      string        `option:"load,tuning" default:"auto" enum:"auto,infile,insert" doc:"infile sends rows by LOAD DATA LOCAL, insert by INSERT of many rows; auto uses infile where the server allows it"`
	Pre       []string      `option:"pre,whole" doc:"statements to run before the first row, once per run, and perhaps again after a crash"`
	Post      []string      `option:"post,whole,tuning" doc:"statements to run after the last row, and perhaps again after a crash"`
	RunsTable string        `option:"runs_table" default:"leat_runs" doc:"table in which runs are noted, made when missing"`
	Positions string        `option:"positions_table" default:"leat_positions" doc:"table in which positions are kept, made when missing"`
}

// Validate reports all contradictions at once.
func (o *SinkOptions) Validate() error {
	return errors.Join(database.SinkFaults(o.Mode, o.Nulls, o.Key, checkTable,
		database.Table{Option: "table", Name: o.Table}, database.Table{Option: "runs_table", Name: o.RunsTable}, database.Table{Option: "positions_table", Name: o.Positions})...)
}

// What becomes of columns declared as tinyint(1).
const (
	tinyintBool = "bool"
	tinyintInt  = "int"
)

// SourceOptions are the options of a mysql source.
type SourceOptions struct {
	URL       option.Secret `option:"url,required" doc:"mysql://user:password@host:port/database, with ssl-mode, ssl-ca, ssl-cert, ssl-key or socket behind ? where needed"`
	Table     string        `option:"table" doc:"table or view to read, with its database where needed: shop.orders; with backquotes around a name that has a dot in it"`
	Query     string        `option:"query" doc:"query to read instead of a table"`
	Key       []string      `option:"key" doc:"columns to split and order by; by default the primary key or the best unique key"`
	TinyInt1  string        `option:"tinyint1" default:"bool" enum:"bool,int" doc:"what a column declared as BOOLEAN or TINYINT(1) holds: bool takes 0 and 1, another value is a dirty record; int takes all"`
	SplitSize option.Size   `option:"split_size,tuning" default:"64MiB" doc:"about how much of a table one split holds"`
	SplitRows int64         `option:"split_rows,tuning" doc:"rows of a split, instead of split_size"`
}

// Validate reports all contradictions at once.
func (o *SourceOptions) Validate() error {
	return errors.Join(database.SourceFaults(o.Table, o.Query, o.SplitSize, o.SplitRows, checkTable)...)
}
