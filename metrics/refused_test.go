package metrics_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leatdata/leat/metrics"
)

// What Prometheus would refuse is refused when it is made, with a text that says
// why, and all that was there before is served as before.
func TestWhatCannotBeServedIsRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*metrics.Group)
		want string
	}{
		{"a label's value that is no text", func(g *metrics.Group) { g.With("k", "a\xffb") }, "not UTF-8"},
		{"a label that is there", func(g *metrics.Group) { g.With("job", "b") }, "the label job stands in leat{job=\"a\"} already"},
		{"the label of buckets", func(g *metrics.Group) { g.With("le", "1") }, "histogram"},
		{"a label that is no name", func(g *metrics.Group) { g.With("a-b", "1") }, `"a-b" is no name of a label`},
		{"a label of Prometheus's own", func(g *metrics.Group) { g.With("__x", "1") }, "no name of a label"},
		{"a label without a name", func(g *metrics.Group) { g.With("", "1") }, "no name of a label"},
		{"a group that is no name", func(g *metrics.Group) { g.Group("a b") }, `"leat_a b" is no name of a metric`},
		{"a metric that is no name", func(g *metrics.Group) { g.Counter("é", "") }, `is no name of a metric`},
		{"help that is no text", func(g *metrics.Group) { g.Counter("x", "\xff") }, "the help of leat_x is not UTF-8"},
		{"another kind of the same scope", func(g *metrics.Group) { g.Gauge("n", "a number") }, "already"},
		{"another kind by its exported name", func(g *metrics.Group) { g.Gauge("n_total", "a number") }, "leat_n_total, a gauge, which is a counter of leat_n already"},
		{"another kind with other labels", func(g *metrics.Group) { g.With("k", "v").UpDown("h", "a size") }, "leat_h, a gauge, which is a histogram of leat_h already"},
		{"a histogram's sum", func(g *metrics.Group) { g.Gauge("h_sum", "") }, "leat_h_sum"},
		{"a meter's rate", func(g *metrics.Group) { g.Gauge("m_per_second", "") }, "leat_m_per_second"},
		{"another help", func(g *metrics.Group) { g.With("k", "v").Counter("n", "another") }, "one name has one help"},
		{"bounds that do not rise", func(g *metrics.Group) { g.Histogram("x", "", 1, 1) }, "bounds that rise"},
		{"bounds that are no numbers", func(g *metrics.Group) { g.Histogram("x", "", 1, math.NaN()) }, "bounds that rise"},
		{"no bounds", func(g *metrics.Group) { g.Histogram("x", "") }, "needs bounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := metrics.NewRegistry()
			g := r.Group("leat").With("job", "a")
			g.Counter("n", "a number").Inc()
			g.Meter("m", "a rate")
			g.Histogram("h", "a size", 1).Observe(0)
			before := lines(r)
			func() {
				defer func() {
					if said := fmt.Sprint(recover()); !strings.Contains(said, c.want) || !strings.HasPrefix(said, "metrics: ") {
						t.Errorf("it says %q, want %q", said, c.want)
					}
				}()
				c.make(g)
			}()
			same(t, lines(r), before...)
		})
	}
}

// A gauge that panics when it is asked is no number, and spoils nothing else.
func TestAPanickingGaugeSpoilsNothing(t *testing.T) {
	r := metrics.NewRegistry()
	g := r.Group("leat")
	g.Counter("n", "").Inc()
	g.GaugeFunc("broken", "", func() float64 { panic("no") })
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	same(t, lines(r), "leat_n_total 1", "leat_broken NaN")
}

// Two ways to one scope lead to one metric, and values that look like others do not.
func TestLabelsInAnyOrder(t *testing.T) {
	r := metrics.NewRegistry()
	g := r.Group("leat")
	g.With("a", "1").With("b", "2").Counter("n", "").Inc()
	g.With("b", "2").With("a", "1").Counter("n", "").Inc()
	g.With("a", `1",b="2`).Counter("n", "").Inc()
	same(t, lines(r), `leat_n_total{a="1",b="2"} 2`, `leat_n_total{a="1\",b=\"2"} 1`)
}

// A name is free again once its group is closed.
func TestNamesAreFreeAgain(t *testing.T) {
	r := metrics.NewRegistry()
	g, h := r.Group("leat").With("job", "a"), r.Group("leat").With("job", "b")
	g.Counter("n", "a").Inc()
	h.Counter("n", "a").Inc()
	g.Close()
	h.Close()
	g.UpDown("n_total", "b").Inc()
	same(t, lines(r), `leat_n_total{job="a"} 1`)
}
