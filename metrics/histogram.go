package metrics

import (
	"math"
	"sort"
	"sync/atomic"
)

// Histogram is a distribution of values.
type Histogram struct {
	bounds []float64
	counts []atomic.Uint64 // per bucket, the last is for all above
	sum    atomic.Uint64   // the bits of a float64
}

func newHistogram(bounds []float64) *Histogram {
	if len(bounds) == 0 || math.IsNaN(bounds[0]) || math.IsInf(bounds[len(bounds)-1], 0) {
		panic("metrics: a histogram needs bounds, which are numbers")
	}
	for i := 1; i < len(bounds); i++ {
		if bounds[i] <= bounds[i-1] || math.IsNaN(bounds[i]) {
			panic("metrics: a histogram needs bounds that rise")
		}
	}
	return &Histogram{bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1)}
}

// Observe adds a value.
func (h *Histogram) Observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)].Add(1)
	for {
		old := h.sum.Load()
		if h.sum.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+v)) {
			return
		}
	}
}

// Snapshot returns the number of values up to each bound, of all values, and
// their sum.
func (h *Histogram) Snapshot() (upTo map[float64]uint64, count uint64, sum float64) {
	upTo = make(map[float64]uint64, len(h.bounds))
	for i, b := range h.bounds {
		count += h.counts[i].Load()
		upTo[b] = count
	}
	count += h.counts[len(h.bounds)].Load()
	return upTo, count, math.Float64frombits(h.sum.Load())
}
