package cli

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/job"
)

// locate finds the connector of an argument of copy, by the URL's scheme or
// the path's suffix, and the options that the argument says. format names the
// connector of a path whose name does not say it.
func locate(registry *connector.Registry, arg, format string, sink bool) (job.Side, error) {
	loc := connector.Location{Raw: arg, Path: arg, Sink: sink}
	var def *connector.Definition
	if scheme, ok := schemeOf(registry, arg); ok {
		u, err := url.Parse(arg)
		if err != nil {
			return job.Side{}, usagef("%s is not a URL that can be read; percent-encode special characters in its user and password", option.MaskURL(arg))
		}
		loc.URL, loc.Path = u, ""
		if def = bySchemeOf(registry, scheme); def == nil {
			return job.Side{}, usagef("%s: no connector has the scheme %s://; there are %s", option.MaskURL(arg), scheme, strings.Join(schemes(registry), ", "))
		}
	} else {
		var err error
		if def, err = byPath(registry, arg, format); err != nil {
			return job.Side{}, err
		}
	}
	if half := sideOf(def, sink); !half {
		return job.Side{}, usagef("%s cannot be a %s", def.Name, sideName(sink))
	}
	if def.Location == nil {
		return job.Side{}, usagef("%s cannot be named by a URL or a path: write a job file", def.Name)
	}
	values, err := def.Location(loc)
	if err != nil {
		return job.Side{}, connector.E(connector.Usage, err)
	}
	return job.Side{Connector: def.Name, Values: values}, nil
}

// schemeOf returns the scheme of a URL: any before ://, and before : one that
// a connector has. A path with such a beginning is written ./a:b.
func schemeOf(registry *connector.Registry, arg string) (string, bool) {
	scheme, rest, ok := strings.Cut(arg, ":")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '+'
	}) {
		return "", false
	}
	scheme = strings.ToLower(scheme)
	return scheme, strings.HasPrefix(rest, "//") || bySchemeOf(registry, scheme) != nil
}

func bySchemeOf(registry *connector.Registry, scheme string) *connector.Definition {
	for _, name := range registry.Names() {
		if d := registry.Lookup(name); slices.Contains(d.Schemes, scheme) {
			return d
		}
	}
	return nil
}

func schemes(registry *connector.Registry) []string {
	var all []string
	for _, name := range registry.Names() {
		for _, s := range registry.Lookup(name).Schemes {
			all = append(all, s+"://")
		}
	}
	return all
}

// byPath chooses by format, else by suffix: a compression's comes after it. A
// folder (a name that ends in /) and a standard stream are csv by default.
func byPath(registry *connector.Registry, path, format string) (*connector.Definition, error) {
	if format != "" {
		d := registry.Lookup(format)
		if d == nil || len(d.Suffixes) == 0 {
			return nil, usagef("--format is %s, not %q", strings.Join(formats(registry), " or "), format)
		}
		return d, nil
	}
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	suffixes := map[string]*connector.Definition{}
	for _, n := range registry.Names() {
		for _, s := range registry.Lookup(n).Suffixes {
			if len(s) > 1 {
				suffixes[s] = registry.Lookup(n)
			}
			if len(s) > 1 && strings.HasSuffix(name, s) {
				return registry.Lookup(n), nil
			}
		}
	}
	if path == "-" || strings.HasSuffix(path, "/") {
		if d := registry.Lookup("csv"); d != nil {
			return d, nil
		}
	}
	return nil, usagef("what %q holds cannot be told from its name: it ends in none of %s; say it with --format, or end a folder's name in /",
		path, strings.Join(slices.Sorted(maps.Keys(suffixes)), ", "))
}

func formats(registry *connector.Registry) []string {
	var names []string
	for _, n := range registry.Names() {
		if len(registry.Lookup(n).Suffixes) > 0 {
			names = append(names, n)
		}
	}
	return names
}

func sideOf(d *connector.Definition, sink bool) bool {
	if sink {
		return d.Sink != nil
	}
	return d.Source != nil
}

func sideName(sink bool) string {
	if sink {
		return "sink"
	}
	return "source"
}
