package metrics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Registry holds the metrics of one instance of something. It is safe for
// concurrent use.
type Registry struct {
	start time.Time

	mu      sync.Mutex
	metrics map[string]*entry
	// families are the exported names.
	families map[string]*family
}

// entry is a metric with its name.
type entry struct {
	name   string
	help   string
	labels []Label
	metric any
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	return &Registry{start: time.Now(), metrics: map[string]*entry{}, families: map[string]*family{}}
}

// now is the time of the registry's meters.
func (r *Registry) now() time.Duration { return time.Since(r.start) }

// Group returns the group of a name in the registry's own scope.
func (r *Registry) Group(name string) *Group { return (&Group{registry: r}).Group(name) }

// metric returns the metric of that name in the group, made by create if there
// is none yet.
func metric[M any](g *Group, name, help string, create func() M) M {
	full := g.full(name)
	checkName(full)
	key := identity(full, g.labels)
	r := g.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.metrics[key]; ok {
		m, same := e.metric.(M)
		if !same {
			panic(fmt.Sprintf("metrics: %s is a %T already", key, e.metric))
		}
		return m
	}
	m := create()
	e := &entry{name: full, help: help, labels: g.labels, metric: m}
	r.admit(e)
	r.metrics[key] = e
	return m
}

// remove drops what is in a group's scope.
func (r *Registry) remove(g *Group) {
	r.mu.Lock()
	defer r.mu.Unlock()
	prefix := g.full("")
	for key, e := range r.metrics {
		if strings.HasPrefix(e.name, prefix) && within(e.labels, g.labels) {
			r.dismiss(e)
			delete(r.metrics, key)
		}
	}
}

// within reports whether labels has all of those of a scope.
func within(labels, scope []Label) bool {
	for _, l := range scope {
		if !slices.Contains(labels, l) {
			return false
		}
	}
	return true
}

// entries returns all metrics, ordered by name and labels.
func (r *Registry) entries() []*entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]*entry, 0, len(r.metrics))
	for _, e := range r.metrics {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *entry) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(labelText(a.labels), labelText(b.labels)))
	})
	return all
}

// Each calls yield with each value that the registry exports, ordered by name
// and labels.
func (r *Registry) Each(yield func(Sample) bool) {
	for _, e := range r.entries() {
		for _, s := range e.samples() {
			if !yield(s) {
				return
			}
		}
	}
}
