package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/leatdata/leat/connector/option"
)

// Input is where values come from, each above the ones before it.
type Input struct {
	// Defaults are KEY=value that a command puts in place of the table's.
	Defaults []string
	// File is the content of a file in YAML, FileName its name; nested or with
	// dots, as one likes.
	File     []byte
	FileName string
	// Environ is the environment as NAME=value.
	Environ []string
	// Flags are KEY=value.
	Flags []string
}

// Load returns the effective configuration, or all that is wrong with it.
func Load(in Input) (*Config, error) {
	c := newConfig(Keys())
	l := loader{c: c}
	l.assign(in.Defaults, FromDefault)
	l.file(in.File, in.FileName)
	l.environ(in.Environ)
	l.assign(in.Flags, "flag")
	if err := errors.Join(l.errs...); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return c, nil
}

type loader struct {
	c    *Config
	errs []error
}

func (l *loader) fail(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// set sets a key that may not be one.
func (l *loader) set(name, value string, source Source) {
	if _, ok := l.c.index[name]; !ok {
		l.fail(fmt.Errorf("%s: unknown key %s%s", source, name, l.suggest(name)))
		return
	}
	l.fail(l.c.set(name, value, source))
}

func (l *loader) suggest(name string) string {
	names := make([]string, 0, len(l.c.settings))
	for _, s := range l.c.settings {
		names = append(names, s.Name)
	}
	if near := option.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return "; leat config prints all keys"
}

func (l *loader) file(text []byte, name string) {
	if len(strings.TrimSpace(string(text))) == 0 {
		return
	}
	var top yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &top, yaml.UseOrderedMap()); err != nil {
		// Without the lines around it, which may hold secrets.
		l.fail(fmt.Errorf("%s: %s", name, yaml.FormatError(err, false, false)))
		return
	}
	l.walk("", top, Source(name))
}

// walk flattens nested maps.
func (l *loader) walk(prefix string, m yaml.MapSlice, source Source) {
	for _, item := range m {
		name := prefix + fmt.Sprint(item.Key)
		switch v := item.Value.(type) {
		case yaml.MapSlice:
			l.walk(name+".", v, source)
		case []any, map[string]any:
			l.fail(fmt.Errorf("%s: %s: a value, not a list or map", source, name))
		case nil:
			l.fail(fmt.Errorf("%s: %s: has no value", source, name))
		default:
			l.set(name, fmt.Sprint(v), source)
		}
	}
}

// environ takes the variables of our keys. One that begins as they do, but is
// none, is an error: it would be thought to work.
func (l *loader) environ(environ []string) {
	keys := map[string]string{}
	var sections []string
	for _, s := range l.c.settings {
		keys[s.EnvName()] = s.Name
		section, _, _ := strings.Cut(s.Name, ".")
		if prefix := (Key{Name: section}).EnvName() + "_"; !slices.Contains(sections, prefix) {
			sections = append(sections, prefix)
		}
	}
	for _, e := range environ {
		variable, value, _ := strings.Cut(e, "=")
		source := Source("environment " + variable)
		if name, ok := keys[variable]; ok {
			l.fail(l.c.set(name, value, source))
			continue
		}
		if slices.ContainsFunc(sections, func(p string) bool { return strings.HasPrefix(variable, p) }) {
			l.fail(fmt.Errorf("%s: sets no key%s", source, suggestVariable(variable, keys)))
		}
	}
}

func suggestVariable(variable string, keys map[string]string) string {
	var names []string
	for name := range keys {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := option.Nearest(variable, names); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

func (l *loader) assign(settings []string, source Source) {
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			l.fail(fmt.Errorf("%s: %q is not KEY=VALUE", source, s))
			continue
		}
		l.set(strings.TrimSpace(name), value, source)
	}
}
