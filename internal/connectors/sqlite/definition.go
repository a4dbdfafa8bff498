package sqlite

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/database"
)

// defaultTable is the target of a path without ?table=.
const defaultTable = "data"

// Definition declares the connector.
func Definition() *connector.Definition {
	return &connector.Definition{
		Name: "sqlite",
		Doc:  "tables of an SQLite file",
		Source: &connector.SourceDef{
			Options: func() any { return new(SourceOptions) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				return NewSource(options.(*SourceOptions), env), nil
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(SinkOptions) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				return NewSink(options.(*SinkOptions), env), nil
			},
			Readback: readback,
		},
		Types:    typeRows(),
		Location: location,
		Schemes:  []string{"sqlite"},
		Suffixes: []string{".db", ".sqlite", ".sqlite3"},
	}
}

func readback(options any) (any, error) {
	o := options.(*SinkOptions)
	return &SourceOptions{Path: o.Path, Table: o.Table, SplitRows: 100000}, nil
}

// location reads sqlite:data.db?table=t, the same with sqlite://, whole paths
// as sqlite:///data.db, and a path. Without a table a target is the table
// data, a source the only table of the file.
func location(loc connector.Location) (map[string]any, error) {
	options := make(map[string]any)
	path := loc.Path
	if loc.URL != nil {
		// sqlite://data.db has the path where a host would stand.
		if path = loc.URL.Host + loc.URL.Path; path == "" {
			path = loc.URL.Opaque
		}
		var err error
		if options, err = parameters(loc); err != nil {
			return nil, err
		}
	}
	if path == "" || path == "-" {
		return nil, connector.Errorf(connector.Usage, "an SQLite file needs a path, such as sqlite://data.db?table=t")
	}
	options["path"] = path
	if _, ok := options["table"]; !ok && loc.Sink {
		options["table"] = defaultTable
	}
	return options, nil
}

// parameters are the options behind the ? of a location.
func parameters(loc connector.Location) (map[string]any, error) {
	query, err := url.ParseQuery(loc.URL.RawQuery)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "the part after ? of the location is malformed")
	}
	declared := any(new(SourceOptions))
	if loc.Sink {
		declared = new(SinkOptions)
	}
	options, err := option.FromQuery(declared, query, "path")
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	return options, database.CheckParameters(loc.URL, query, declared, nil, false, "path")
}

func typeRows() []connector.TypeRow {
	row := func(native string, k batch.Kind, note string) connector.TypeRow {
		return connector.TypeRow{Native: native, Type: batch.Of(k), Note: note}
	}
	return []connector.TypeRow{
		row("INTEGER, any type with INT in its name", batch.Int64, "made for all integers; those over 9223372036854775807 are dirty"),
		row("TEXT, any type with CHAR, CLOB or TEXT", batch.Text, "a blob in it is dirty; made for decimals, dates, times, uuids, json, arrays: SQLite has no exact types for them"),
		row("REAL, any type with REAL, FLOA or DOUB", batch.Float64, "made for floats; NaN is dirty"),
		row("BLOB", batch.Bytes, "a text in it is read as its bytes"),
		row("BOOL, BOOLEAN", batch.Bool, "0 and 1"),
		row("DECIMAL(p,s), NUMERIC", batch.Decimal, "kept as floating point by SQLite: decimals that would not read back the same are dirty"),
		row("DATE", batch.Date, "as text"),
		row("TIME", batch.Time, "as text"),
		row("DATETIME, TIMESTAMP", batch.Timestamp, "as text"),
		row("TIMESTAMPTZ", batch.Instant, "as text"),
		row("UUID", batch.UUID, "as text"),
		row("JSON", batch.JSON, "as text"),
		row("no type", batch.Untyped, "where the target is made, the type that all values allow: int64, float64, bytes, what the texts say, else text; else integers, floats and texts are read as text, and a blob is dirty but where the target's column or the option types says bytes; written in the class of the source's type: integer, real, blob, else text"),
		row("any other", batch.Text, fmt.Sprintf("of numeric affinity: texts that would turn into other numbers are dirty (%s)", strings.Join([]string{"007", "1.0"}, ", "))),
	}
}
