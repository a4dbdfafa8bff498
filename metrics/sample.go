package metrics

// Kind is the form in which a value is exported.
type Kind string

// The kinds.
const (
	KindCounter   Kind = "counter"
	KindGauge     Kind = "gauge"
	KindHistogram Kind = "histogram"
)

// Sample is a value as it is exported.
type Sample struct {
	Name   string
	Help   string
	Kind   Kind
	Labels []Label
	// Value is the number of values of a histogram.
	Value float64
	// Sum and UpTo are a histogram's: the sum of its values, and their number up
	// to each bound.
	Sum  float64
	UpTo map[float64]uint64
}

// What a metric's kind puts behind its name.
const (
	totalSuffix   = "_total"
	secondsSuffix = "_seconds_total"
	rateSuffix    = "_per_second"
)

// samples returns what the metric exports.
func (e *entry) samples() []Sample {
	s := Sample{Name: e.name, Help: e.help, Kind: KindGauge, Labels: e.labels}
	switch m := e.metric.(type) {
	case *Counter:
		s.Value = float64(m.Value())
		if !m.down {
			s.Kind, s.Name = KindCounter, e.name+totalSuffix
		}
	case *Gauge:
		s.Value = m.Value()
	case *gaugeFunc:
		s.Value = m.ask()
	case *Duration:
		s.Kind, s.Name, s.Value = KindCounter, e.name+secondsSuffix, m.Value().Seconds()
	case *Histogram:
		var count uint64
		s.Kind = KindHistogram
		s.UpTo, count, s.Sum = m.Snapshot()
		s.Value = float64(count)
	case *Meter:
		rate := s
		rate.Name, rate.Value = e.name+rateSuffix, m.Rate()
		rate.Help = e.help + ", per second over the last 20 seconds"
		s.Kind, s.Name, s.Value = KindCounter, e.name+totalSuffix, float64(m.Count())
		return []Sample{s, rate}
	}
	return []Sample{s}
}
