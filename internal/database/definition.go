package database

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// Definition declares a database as a connector: what is its own. S and K are
// the options of its source and its sink, Src and Snk those themselves.
type Definition[S, K any, Src connector.Source, Snk connector.Sink] struct {
	Name    string
	Doc     string
	Schemes []string
	Types   []connector.TypeRow
	// Parameters are those of a URL that the connection takes. Settings says
	// that it hands others to the server, which refuses what it does not know.
	Parameters []string
	Settings   bool

	NewSource func(o *S, env connector.SourceEnv) (Src, error)
	NewSink   func(o *K, env connector.SinkEnv) (Snk, error)
	// Readback returns the options, but for the defaults, that read the table
	// of a sink.
	Readback func(o *K) map[string]any
}

// Connector returns the connector.
func (d Definition[S, K, Src, Snk]) Connector() *connector.Definition {
	return &connector.Definition{
		Name: d.Name,
		Doc:  d.Doc,
		Source: &connector.SourceDef{
			Options: func() any { return new(S) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				o, ok := options.(*S)
				if !ok {
					return nil, d.foreign(options)
				}
				source, err := d.NewSource(o, env)
				if err != nil {
					return nil, err
				}
				return source, nil
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(K) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				o, ok := options.(*K)
				if !ok {
					return nil, d.foreign(options)
				}
				sink, err := d.NewSink(o, env)
				if err != nil {
					return nil, err
				}
				return sink, nil
			},
			Readback: func(options any) (any, error) {
				o, ok := options.(*K)
				if !ok {
					return nil, d.foreign(options)
				}
				source := new(S)
				err := option.Parse(d.Readback(o), source)
				return source, err
			},
		},
		Types:    d.Types,
		Location: d.location,
		Schemes:  d.Schemes,
	}
}

// foreign tells of a bug: options of another connector.
func (d Definition[S, K, Src, Snk]) foreign(options any) error {
	return fmt.Errorf("%s: the options are %T", d.Name, options)
}

// checkParameters refuses parameters that nobody takes, and those that were
// meant as another. A password with a ? in it, of a URL that cannot be read as
// it was meant, would be in their names.
func (d Definition[S, K, Src, Snk]) checkParameters(u *url.URL, query url.Values, options []option.Doc) error {
	known := slices.Clone(d.Parameters)
	for _, o := range options {
		if o.Name != "url" {
			known = append(known, o.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		near := option.Nearest(name, known)
		if slices.Contains(d.Parameters, name) || d.Settings && near == "" {
			continue
		}
		if u.User == nil && strings.Contains(u.RawQuery, "@") {
			return connector.Errorf(connector.Usage, "a parameter behind the ? of the location is not known; percent-encode special characters of its password")
		}
		hint := ""
		if near != "" {
			hint = fmt.Sprintf("; did you mean %q?", near)
		}
		return connector.Errorf(connector.Usage, "the location's parameter %q is not known%s It may have %s", name, cmp.Or(hint, "."), strings.Join(slices.Sorted(slices.Values(known)), ", "))
	}
	return nil
}

// location takes a URL apart: parameters named like options are options, the
// others stay for the connection.
func (d Definition[S, K, Src, Snk]) location(loc connector.Location) (map[string]any, error) {
	if loc.URL == nil {
		return nil, connector.Errorf(connector.Usage, "a %s location is a URL: %[2]s://user@host/database?table=name", d.Name, d.Schemes[0])
	}
	query, err := url.ParseQuery(loc.URL.RawQuery)
	if err != nil {
		return nil, connector.Errorf(connector.Usage, "the part after ? of the location is malformed")
	}
	declared := any(new(S))
	if loc.Sink {
		declared = new(K)
	}
	options, err := option.FromQuery(declared, query, "url")
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	if err := d.checkParameters(loc.URL, query, option.Describe(declared)); err != nil {
		return nil, err
	}
	if options["table"] == nil && options["query"] == nil {
		return nil, connector.Errorf(connector.Usage, "the location names no table: add ?table=name")
	}
	u := *loc.URL
	u.RawQuery = query.Encode()
	options["url"] = u.String()
	return options, nil
}
