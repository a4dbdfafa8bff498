package metrics

import (
	"slices"
	"strconv"
	"strings"
)

// Label is a name and a value that a metric carries.
type Label struct{ Key, Value string }

// Group is a scope in which metrics are made. It is a value that never changes.
type Group struct {
	registry *Registry
	names    []string
	labels   []Label
}

// Group returns the group of a name below this one. The name may hold letters,
// digits and underscores, or else this panics.
func (g *Group) Group(name string) *Group {
	checkName(g.full(name))
	return &Group{registry: g.registry, names: append(slices.Clip(g.names), name), labels: g.labels}
}

// With returns the group below this one whose metrics carry a label. It panics
// where Prometheus could not have the label: see the package comment.
func (g *Group) With(key, value string) *Group {
	checkLabel(g, key, value)
	return &Group{registry: g.registry, names: g.names, labels: append(slices.Clip(g.labels), Label{key, value})}
}

// Scope returns the group's names and labels as one text.
func (g *Group) Scope() string { return strings.Join(g.names, "_") + labelText(g.labels) }

// Close takes the metrics of the group, and of the groups below it, out of the
// registry.
func (g *Group) Close() { g.registry.remove(g) }

// Counter returns a number that only grows, as NAME_total.
func (g *Group) Counter(name, help string) *Counter {
	return metric(g, name, help, func() *Counter { return &Counter{} })
}

// UpDown returns a counter that may go down too, as NAME.
func (g *Group) UpDown(name, help string) *Counter {
	return metric(g, name, help, func() *Counter { return &Counter{down: true} })
}

// Gauge returns a value that is set, as NAME.
func (g *Group) Gauge(name, help string) *Gauge {
	return metric(g, name, help, func() *Gauge { return &Gauge{} })
}

// GaugeFunc makes a gauge whose value is asked for when it is looked at, from
// any goroutine. Where value panics, it is NaN.
func (g *Group) GaugeFunc(name, help string, value func() float64) {
	metric(g, name, help, func() *gaugeFunc { return &gaugeFunc{value} })
}

// Meter returns a number that grows and its rate over the last 20 seconds, as
// NAME_total and NAME_per_second.
func (g *Group) Meter(name, help string) *Meter {
	return metric(g, name, help, func() *Meter { return newMeter(g.registry.now) })
}

// Histogram returns a distribution over buckets with these upper bounds, which
// rise; one more bucket is for all above. Its group must have no label "le".
func (g *Group) Histogram(name, help string, bounds ...float64) *Histogram {
	return metric(g, name, help, func() *Histogram { return newHistogram(bounds) })
}

// Duration returns a sum of times, as NAME_seconds_total.
func (g *Group) Duration(name, help string) *Duration {
	return metric(g, name, help, func() *Duration { return &Duration{} })
}

func (g *Group) full(name string) string {
	return strings.Join(append(slices.Clip(g.names), name), "_")
}

// labelText is {k="v",…}, or nothing.
func labelText(labels []Label) string {
	if len(labels) == 0 {
		return ""
	}
	parts := make([]string, len(labels))
	for i, l := range labels {
		parts[i] = l.Key + "=" + strconv.Quote(l.Value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// identity is a name with its labels in an order of their own: those of two groups
// that add the same labels one after the other and the other way round are one.
func identity(name string, labels []Label) string {
	labels = slices.Clone(labels)
	slices.SortFunc(labels, func(a, b Label) int { return strings.Compare(a.Key, b.Key) })
	return name + labelText(labels)
}
