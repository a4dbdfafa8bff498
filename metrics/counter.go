package metrics

import (
	"math"
	"sync/atomic"
	"time"
)

// Counter is a number of events.
type Counter struct {
	n atomic.Int64
	// down allows it to go down.
	down bool
}

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Dec takes one away; only UpDown's counters do.
func (c *Counter) Dec() { c.Add(-1) }

// Add adds n, which is less than 0 only for UpDown's counters.
func (c *Counter) Add(n int64) {
	if n < 0 && !c.down {
		panic("metrics: a counter goes down that may only grow: make it by UpDown")
	}
	c.n.Add(n)
}

// Value returns the number.
func (c *Counter) Value() int64 { return c.n.Load() }

// Gauge is a value.
type Gauge struct{ bits atomic.Uint64 }

// Set sets the value.
func (g *Gauge) Set(v float64) { g.bits.Store(math.Float64bits(v)) }

// Value returns the value.
func (g *Gauge) Value() float64 { return math.Float64frombits(g.bits.Load()) }

type gaugeFunc struct{ value func() float64 }

// ask returns the value, NaN where it cannot be told.
func (g *gaugeFunc) ask() (v float64) {
	defer func() {
		if recover() != nil {
			v = math.NaN()
		}
	}()
	return g.value()
}

// Duration is a sum of times.
type Duration struct{ n atomic.Int64 }

// Add adds a time, which is not negative.
func (d *Duration) Add(t time.Duration) { d.n.Add(int64(t)) }

// Value returns the sum.
func (d *Duration) Value() time.Duration { return time.Duration(d.n.Load()) }
