package metrics_test

import (
	"testing"
	"time"

	"github.com/leatdata/leat/metrics"
)

func TestAllocNothingPerBatch(t *testing.T) {
	g := metrics.NewRegistry().Group("x")
	c, m, h, d := g.Counter("c", ""), g.Meter("m", ""), g.Histogram("h", "", 1, 10, 100), g.Duration("d", "")
	if n := testing.AllocsPerRun(1000, func() {
		c.Add(100)
		m.Mark(100)
		h.Observe(50)
		d.Add(time.Millisecond)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkCounterAdd(b *testing.B) {
	c := metrics.NewRegistry().Group("x").Counter("c", "")
	for b.Loop() {
		c.Add(8192)
	}
}

func BenchmarkMeterMark(b *testing.B) {
	m := metrics.NewRegistry().Group("x").Meter("m", "")
	for b.Loop() {
		m.Mark(8192)
	}
}

func BenchmarkHistogramObserve(b *testing.B) {
	h := metrics.NewRegistry().Group("x").Histogram("h", "", 1, 10, 100, 1000)
	for b.Loop() {
		h.Observe(50)
	}
}
