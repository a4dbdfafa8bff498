package connector

import (
	"fmt"
	"log/slog"
	"net/url"
	"slices"

	"github.com/leatdata/leat/batch"
)

// SourceEnv is what the engine gives a source besides its options.
type SourceEnv struct {
	Log *slog.Logger
	// Where is the job's condition for a Filterer; others ignore it.
	Where string
	// Columns are the names of the columns the job needs, nil for all. A
	// source may leave the others out of its schema.
	Columns []string
}

// SinkEnv is what the engine gives a sink besides its options.
type SinkEnv struct {
	Log *slog.Logger
	// Failpoint is called at named points; test builds end the process there.
	Failpoint func(name string)
}

// SourceDef makes sources of a connector. Options is a pointer to a zero
// struct whose tags declare the options, see package connector/option.
type SourceDef struct {
	Options func() any
	New     func(options any, env SourceEnv) (Source, error)
}

// SinkDef makes sinks of a connector. Readback makes the source options that
// read what a sink with these options has written, for `leat verify`.
type SinkDef struct {
	Options  func() any
	New      func(options any, env SinkEnv) (Sink, error)
	Readback func(options any) (sourceOptions any, err error)
}

// Definition is a connector: its name, what it is, and its two halves, either
// of which may be nil.
type Definition struct {
	Name   string
	Doc    string
	Source *SourceDef
	Sink   *SinkDef
	// Types lists what becomes of each of the system's types, for people.
	Types []TypeRow
	// Location turns what `leat copy` is given (a URL whose scheme is in
	// Schemes, or a path whose name ends in one of Suffixes) into options.
	Location func(loc Location) (map[string]any, error)
	Schemes  []string
	Suffixes []string
}

// Location is an argument of `leat copy`.
type Location struct {
	// URL is set when the argument has a scheme; else Path is, and "-" is a
	// standard stream.
	URL  *url.URL
	Path string
	// Raw is the argument as given; it may hold a secret.
	Raw string
	// Sink is true for the target.
	Sink bool
}

// TypeRow says what a system's type becomes.
type TypeRow struct {
	Native string
	Type   batch.Type
	Note   string
}

// Registry holds connectors by name.
type Registry struct{ byName map[string]*Definition }

// NewRegistry returns a registry of the definitions, whose names must differ.
func NewRegistry(defs ...*Definition) (*Registry, error) {
	r := &Registry{byName: make(map[string]*Definition, len(defs))}
	for _, d := range defs {
		if _, ok := r.byName[d.Name]; ok {
			return nil, fmt.Errorf("connector %s is defined twice", d.Name)
		}
		r.byName[d.Name] = d
	}
	return r, nil
}

// Lookup returns the connector of a name, or nil.
func (r *Registry) Lookup(name string) *Definition { return r.byName[name] }

// Names returns the names in alphabetical order.
func (r *Registry) Names() []string {
	names := make([]string, 0, len(r.byName))
	for n := range r.byName {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
