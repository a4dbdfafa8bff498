package files

import (
	"io"
	"os"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// Definition declares a text format as a connector: what is the format's own.
// S and K are the options of its source and its sink, R is its source.
type Definition[S, K any, R connector.Source] struct {
	Name string
	Doc  string
	// Suffixes end the names of its files, before a compression's.
	Suffixes []string
	// Standard makes it the format of a standard stream of which nothing else
	// is said.
	Standard bool
	Types    []connector.TypeRow

	NewSource func(fs storage.FS, stdin io.Reader, o *S, env connector.SourceEnv) (R, error)
	NewSink   func(fs storage.FS, stdout io.Writer, o *K, env connector.SinkEnv) (*Sink, error)
	// Readback returns the source options that read what a sink has written.
	Readback func(o *K) *S
	// ByName adds the options that a file's name asks for, told without a
	// compression's suffix; may be nil.
	ByName func(name string, options map[string]any)
}

// Connector returns the connector, over the machine's own files and standard
// streams.
func (d Definition[S, K, R]) Connector() *connector.Definition {
	return &connector.Definition{
		Name: d.Name,
		Doc:  d.Doc,
		Source: &connector.SourceDef{
			Options: func() any { return new(S) },
			New: func(options any, env connector.SourceEnv) (connector.Source, error) {
				return d.NewSource(storage.Local{}, os.Stdin, options.(*S), env)
			},
		},
		Sink: &connector.SinkDef{
			Options: func() any { return new(K) },
			New: func(options any, env connector.SinkEnv) (connector.Sink, error) {
				return d.NewSink(storage.Local{}, os.Stdout, options.(*K), env)
			},
			Readback: func(options any) (any, error) { return d.Readback(options.(*K)), nil },
		},
		Types:    d.Types,
		Location: d.location,
		Suffixes: d.suffixes(),
	}
}

// location makes options of a path.
func (d Definition[S, K, R]) location(loc connector.Location) (map[string]any, error) {
	if loc.Path == "" {
		return nil, connector.Errorf(connector.Usage, "%s reads and writes paths, not URLs", d.Name)
	}
	options := map[string]any{"path": loc.Path}
	if d.ByName != nil {
		d.ByName(strings.TrimSuffix(loc.Path, CompressionOf(loc.Path).Suffix()), options)
	}
	return options, nil
}

// suffixes returns the endings of names, plain and compressed.
func (d Definition[S, K, R]) suffixes() []string {
	var all []string
	for _, suffix := range d.Suffixes {
		for _, c := range []Compression{Plain, Gzip, Zstd} {
			all = append(all, suffix+c.Suffix())
		}
	}
	if d.Standard {
		all = append(all, Standard)
	}
	return all
}
