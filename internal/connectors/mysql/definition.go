package mysql

import (
	"fmt"
	"net/url"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Definition returns the connector.
func Definition() *connector.Definition {
	return &connector.Definition{
		Name: "mysql",
		Doc:  "MariaDB and MySQL tables, views and queries",
		Source: &connector.SourceDef{
			Options: func() any { return new(SourceOptions) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				o, ok := options.(*SourceOptions)
				if !ok {
					return nil, errOptions(options)
				}
				return newSource(o, env)
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(SinkOptions) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				o, ok := options.(*SinkOptions)
				if !ok {
					return nil, errOptions(options)
				}
				return newSink(o, env)
			},
			Readback: readback,
		},
		Types:    typeRows(),
		Location: location,
		Schemes:  []string{"mysql", "mariadb"},
	}
}

// location takes a URL apart: parameters named like options are options, the
// others stay for the connection.
func location(loc connector.Location) (map[string]any, error) {
	if loc.URL == nil {
		return nil, connector.Errorf(connector.Usage, "a mysql location is a URL: mysql://user@host/database?table=name")
	}
	query, err := url.ParseQuery(loc.URL.RawQuery)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "the part after ? of the location is malformed")
	}
	declared := any(new(SourceOptions))
	if loc.Sink {
		declared = new(SinkOptions)
	}
	options, err := option.FromQuery(declared, query, "url")
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	if options["table"] == nil && options["query"] == nil {
		return nil, connector.Errorf(connector.Usage, "the location names no table: add ?table=name")
	}
	u := *loc.URL
	u.RawQuery = query.Encode()
	options["url"] = u.String()
	return options, nil
}

// errOptions tells of a bug: options of another connector.
func errOptions(options any) error { return fmt.Errorf("mysql: the options are %T", options) }

// readback makes the options that read a sink's table.
func readback(options any) (any, error) {
	o, ok := options.(*SinkOptions)
	if !ok {
		return nil, errOptions(options)
	}
	source := new(SourceOptions)
	err := option.Parse(map[string]any{"url": o.URL, "table": o.Table, "tinyint1": o.TinyInt1}, source)
	return source, err
}
