package postgres

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Definition returns the connector.
func Definition() *connector.Definition {
	return &connector.Definition{
		Name: "postgres",
		Doc:  "PostgreSQL tables, views and queries; rows travel by COPY",
		Source: &connector.SourceDef{
			Options: func() any { return new(SourceOptions) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				o, ok := options.(*SourceOptions)
				if !ok {
					return nil, fmt.Errorf("postgres: source options are %T", options)
				}
				return newSource(o, env)
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(SinkOptions) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				o, ok := options.(*SinkOptions)
				if !ok {
					return nil, fmt.Errorf("postgres: sink options are %T", options)
				}
				return newSink(o, env)
			},
			Readback: readback,
		},
		Types:    typeRows(),
		Location: location,
		Schemes:  []string{"postgres", "postgresql"},
	}
}

// readback makes the options that read a sink's table.
func readback(options any) (any, error) {
	o, ok := options.(*SinkOptions)
	if !ok {
		return nil, fmt.Errorf("postgres: sink options are %T", options)
	}
	source := new(SourceOptions)
	err := option.Parse(map[string]any{"url": o.URL, "table": o.Table}, source)
	return source, err
}

// location takes a URL apart: parameters named like options are options, the
// others stay for the driver.
func location(loc connector.Location) (map[string]any, error) {
	if loc.URL == nil {
		return nil, connector.Errorf(connector.Usage, "a postgres location is a URL: postgres://user@host/database?table=name")
	}
	names := map[string]bool{}
	list := []string{"table", "query", "key", "row_security", "split_size", "split_rows"}
	if loc.Sink {
		list = []string{"table", "mode", "key", "create", "unlogged", "pre", "post", "allow_refused", "runs_table", "positions_table"}
	}
	for _, n := range list {
		names[n] = true
	}
	query, err := url.ParseQuery(loc.URL.RawQuery)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "the part after ? of the location is malformed")
	}
	options := map[string]any{}
	for name, values := range query {
		if !names[name] {
			continue
		}
		switch name {
		case "key":
			options[name] = strings.Split(strings.Join(values, ","), ",")
		case "pre", "post":
			options[name] = values
		default:
			if len(values) > 1 {
				return nil, connector.Errorf(connector.Usage, "%s stands twice in the location", name)
			}
			options[name] = values[0]
		}
		delete(query, name)
	}
	if options["table"] == nil && options["query"] == nil {
		return nil, connector.Errorf(connector.Usage, "the location names no table: add ?table=name")
	}
	u := *loc.URL
	u.RawQuery = query.Encode()
	options["url"] = u.String()
	return options, nil
}
