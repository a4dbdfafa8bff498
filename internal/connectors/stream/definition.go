package stream

import (
	"io"
	"os"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Definition declares the connector; printed records go to standard output.
func Definition() *connector.Definition { return DefinitionTo(os.Stdout) }

// DefinitionTo declares the connector with another place for printed records.
func DefinitionTo(out io.Writer) *connector.Definition {
	return &connector.Definition{
		Name: "stream",
		Doc:  "makes records; as a sink lets them vanish, or prints them",
		Source: &connector.SourceDef{
			Options: func() any { return new(SourceOptions) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				return NewSource(options.(*SourceOptions), env)
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(SinkOptions) },
			New: func(options any, _ connector.SinkEnv) (connector.Sink, error) {
				if options.(*SinkOptions).Print {
					return NewSink(out), nil
				}
				return NewSink(nil), nil
			},
		},
		Location: location,
		Schemes:  []string{"stream"},
	}
}

// location reads stream:?rows=1000&columns=id int64,name text(20).
func location(loc connector.Location) (map[string]any, error) {
	if loc.URL == nil {
		return nil, connector.Errorf(connector.Usage, "a stream is named stream:, with options behind a ? such as stream:?rows=1000")
	}
	if place := loc.URL.Opaque + loc.URL.Host + loc.URL.Path; place != "" {
		return nil, connector.Errorf(connector.Usage, "a stream has no place: %q cannot stand behind stream:", place)
	}
	options := make(map[string]any)
	for name, values := range loc.URL.Query() {
		if name != "columns" {
			options[name] = values[len(values)-1]
			continue
		}
		var columns []any
		for _, list := range values {
			columns = append(columns, splitColumns(list)...)
		}
		options[name] = columns
	}
	return options, nil
}

// splitColumns parts a list at its commas, but not at those in brackets.
func splitColumns(list string) []any {
	var columns []any
	depth, start := 0, 0
	for i, c := range list {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				columns = append(columns, strings.TrimSpace(list[start:i]))
				start = i + 1
			}
		}
	}
	return append(columns, strings.TrimSpace(list[start:]))
}
