package metrics

import (
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// What Prometheus would refuse when it is served is refused when it is made, with
// a panic: it is a bug of who makes it, and would take all other metrics with it.

var (
	validName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	validLabel = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_]*$`)
)

// bucketLabel is the label that a histogram's buckets have.
const bucketLabel = "le"

func checkName(name string) {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("metrics: %q is no name of a metric: letters, digits and underscores are, and no digit first", name))
	}
}

func checkLabel(g *Group, key, value string) {
	switch {
	case !validLabel.MatchString(key):
		panic(fmt.Sprintf("metrics: %q is no name of a label: letters, digits and underscores are, and a letter first", key))
	case key == bucketLabel:
		panic(`metrics: the label "le" is that of a histogram's buckets: take another name`)
	case !utf8.ValidString(value):
		panic(fmt.Sprintf("metrics: the label %s has a value that is not UTF-8: %q", key, value))
	case slices.ContainsFunc(g.labels, func(l Label) bool { return l.Key == key }):
		panic(fmt.Sprintf("metrics: the label %s stands in %s already", key, g.Scope()))
	}
}

// family is what all metrics of one exported name share.
type family struct {
	kind Kind
	help string
	// of is the metric's own name, and n the number of metrics.
	of string
	n  int
}

// exported are the names that a metric has for Prometheus, with their kinds: those
// of its samples, and three more of a histogram.
func (e *entry) exported() map[string]Kind {
	switch m := e.metric.(type) {
	case *Counter:
		if !m.down {
			return map[string]Kind{e.name + totalSuffix: KindCounter}
		}
	case *Duration:
		return map[string]Kind{e.name + secondsSuffix: KindCounter}
	case *Meter:
		return map[string]Kind{e.name + totalSuffix: KindCounter, e.name + rateSuffix: KindGauge}
	case *Histogram:
		names := map[string]Kind{e.name: KindHistogram}
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			names[e.name+suffix] = KindHistogram
		}
		return names
	}
	return map[string]Kind{e.name: KindGauge}
}

// admit takes the names of a metric, or panics where another one has them.
func (r *Registry) admit(e *entry) {
	if !utf8.ValidString(e.help) {
		panic(fmt.Sprintf("metrics: the help of %s is not UTF-8: %q", e.name, e.help))
	}
	for name, kind := range e.exported() {
		f := r.families[name]
		switch {
		case f == nil:
		case f.of != e.name || f.kind != kind:
			panic(fmt.Sprintf("metrics: %s would be exported as %s, a %s, which is a %s of %s already", e.name, name, kind, f.kind, f.of))
		case f.help != e.help:
			panic(fmt.Sprintf("metrics: %s is %q here and %q elsewhere: one name has one help", e.name, e.help, f.help))
		}
	}
	for name, kind := range e.exported() {
		if r.families[name] == nil {
			r.families[name] = &family{kind: kind, help: e.help, of: e.name}
		}
		r.families[name].n++
	}
}

// dismiss lets the names of a metric go.
func (r *Registry) dismiss(e *entry) {
	for name := range e.exported() {
		if r.families[name].n--; r.families[name].n == 0 {
			delete(r.families, name)
		}
	}
}
