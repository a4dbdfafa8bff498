package metrics

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves the registry's metrics in the forms that Prometheus reads.
func (r *Registry) Handler() http.Handler {
	p := prometheus.NewRegistry()
	p.MustRegister(exporter{r})
	// What is wrong all the same does not take the rest with it.
	return promhttp.HandlerFor(p, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// exporter is the registry as a collector of Prometheus, which may have other
// metrics at each look.
type exporter struct{ registry *Registry }

// Describe implements prometheus.Collector; that nothing is sent says that the
// metrics are not known in advance.
func (exporter) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (e exporter) Collect(out chan<- prometheus.Metric) {
	for s := range e.registry.Each {
		keys, values := make([]string, len(s.Labels)), make([]string, len(s.Labels))
		for i, l := range s.Labels {
			keys[i], values[i] = l.Key, l.Value
		}
		desc := prometheus.NewDesc(s.Name, s.Help, keys, nil)
		m, err := constMetric(desc, s, values)
		if err != nil {
			m = prometheus.NewInvalidMetric(desc, err)
		}
		out <- m
	}
}

func constMetric(desc *prometheus.Desc, s Sample, labels []string) (prometheus.Metric, error) {
	switch s.Kind {
	case KindHistogram:
		return prometheus.NewConstHistogram(desc, uint64(s.Value), s.Sum, s.UpTo, labels...)
	case KindCounter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, s.Value, labels...)
	}
	return prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.Value, labels...)
}
