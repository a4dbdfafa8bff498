package job

import (
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

// endpoint reads source or sink: a map of one connector name to its options.
func (r *reader) endpoint(root *node, side string) Endpoint {
	e := root.get(side)
	if e == nil {
		r.problems.add(root.line, "the job has no %s", side)
		return Endpoint{}
	}
	if e.value.shape != mapping || len(e.value.entries) != 1 {
		r.problems.add(e.line, "%s is one connector's name with its options, as in %s: {csv: {path: a.csv}}", side, side)
		return Endpoint{}
	}
	chosen := e.value.entries[0]
	n := chosen.value
	if n.shape == null {
		n = &node{shape: mapping, line: chosen.line}
	}
	if n.shape != mapping {
		r.problems.add(chosen.line, "%s: the options of %s are %s where a map is wanted", side, chosen.key, shapeNames[n.shape])
		return Endpoint{}
	}
	def := lookup(r.registry, chosen.key, side, chosen.line, r.problems)
	if def == nil {
		return Endpoint{}
	}
	out := Endpoint{Connector: chosen.key, Definition: def, Values: n.values(), hidden: map[string]bool{}}
	out.Options = newOptions(def, side)
	r.collectSecrets(out.Options, n, side)
	for _, o := range n.entries {
		if o.value.anyHidden() {
			out.hidden[o.key] = true
		}
	}
	parseSection(&node{shape: mapping, line: chosen.line, entries: n.entries}, side+" "+chosen.key, out.Options, r.problems)
	return out
}

// collectSecrets remembers the secrets in options that are declared so, and
// warns of those that stand in the file.
func (r *reader) collectSecrets(options any, n *node, side string) {
	for _, doc := range option.Describe(options) {
		e := n.get(doc.Name)
		if e == nil || e.value.shape != scalar || !strings.Contains(doc.Type, "secret") {
			continue
		}
		secret := option.Secret(e.value.text)
		if secret.Masked() == e.value.text {
			continue
		}
		r.secrets = append(r.secrets, e.value.text)
		if !e.value.hidden {
			r.warn(e.line, side, doc.Name)
		}
	}
}

// lookup finds a connector that has the wanted side.
func lookup(registry *connector.Registry, name, side string, line int, p *problems) *connector.Definition {
	var names []string
	for _, n := range registry.Names() {
		if d := registry.Lookup(n); side == "source" && d.Source != nil || side == "sink" && d.Sink != nil {
			names = append(names, n)
		}
	}
	if slices.Contains(names, name) {
		return registry.Lookup(name)
	}
	switch near := option.Nearest(name, names); {
	case registry.Lookup(name) != nil:
		p.add(line, "%s cannot be a %s; these can: %s", name, side, strings.Join(names, ", "))
	case near != "":
		p.add(line, "there is no connector %q; did you mean %q?", name, near)
	default:
		p.add(line, "there is no connector %q; there are %s", name, strings.Join(names, ", "))
	}
	return nil
}

func newOptions(def *connector.Definition, side string) any {
	if side == "source" {
		return def.Source.Options()
	}
	return def.Sink.Options()
}

// Side is one side of a job that comes from no file.
type Side struct {
	Connector string
	Values    map[string]any
}

// New makes a job from options that come from no file, with the defaults of
// one. Problems are a Usage error as with Parse.
func New(name string, source, sink Side, registry *connector.Registry) (*Job, error) {
	root := &node{shape: mapping, entries: []entry{
		{key: "name", value: &node{shape: scalar, text: name}},
		{key: "source", value: sideNode(source)},
		{key: "sink", value: sideNode(sink)},
	}}
	p := &problems{}
	r := &reader{problems: p, registry: registry}
	p.redact = func(text string) string { return newRedactor(r.secrets).text(text) }
	j := r.job(root, name)
	if err := p.err("copy"); err != nil {
		return nil, err
	}
	j.Warnings = nil // a command line has its secrets where its user put them
	j.redactor = newRedactor(r.secrets)
	return j, nil
}

func sideNode(s Side) *node {
	return &node{shape: mapping, entries: []entry{{key: s.Connector, value: treeOf(s.Values)}}}
}
