package ratelimit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// chaos is a network between a ledger and its limiters in which messages come
// late, twice, out of their order or never, and a master that looks when it can.
type chaos struct {
	*sim
	rand *rand.Rand
	// masters says that masters change too.
	masters bool
}

// later delivers after a while, perhaps twice, perhaps never.
func (c *chaos) later(deliver func()) {
	for n := c.rand.IntN(20); n > 0; n = 0 {
		if n == 1 {
			c.post(deliver)
		}
		c.post(deliver)
	}
}

func (c *chaos) post(deliver func()) {
	late := time.Duration(c.rand.ExpFloat64() * float64(10*time.Millisecond))
	c.work.Go(func() {
		if c.until(c.now() + late) {
			c.with(deliver)
		}
	})
}

// run exchanges messages at odd times until the end.
func (c *chaos) run() {
	for c.ctx.Err() == nil {
		c.with(func() {
			ledger, born := c.ledger, c.born
			for i, l := range c.limiters {
				if r, due := l.Report(); due && !c.cut[i] {
					c.later(func() {
						if c.ledger == ledger {
							ledger.Report(c.now()-born, i, r)
						}
					})
				}
			}
			ledger.Tick(c.now() - born)
			for _, g := range ledger.Grants() {
				if !c.cut[g.Worker] {
					c.later(func() { c.limiters[g.Worker].Grant(g.Lease) })
				}
			}
			if c.rand.IntN(300) == 0 {
				c.cut[c.rand.IntN(len(c.limiters))] = true
			}
			if c.rand.IntN(100) == 0 {
				clear(c.cut)
			}
		})
		if c.masters && c.rand.IntN(300) == 0 {
			c.until(c.now() + time.Duration(c.rand.IntN(2000))*time.Millisecond)
			c.newMaster()
		}
		c.until(c.now() + time.Duration(1+c.rand.IntN(25))*time.Millisecond)
	}
}

// TestLimitHoldsInChaos shows that the upper bound rests on nothing but the
// workers' clocks: not on when messages come, nor whether.
func TestLimitHoldsInChaos(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	for i := range uint64(8) {
		t.Run(fmt.Sprintf("%d,%d", seed, i), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, i))
				n := 1 + r.IntN(8)
				size := []int64{100, 3000, 100_000, 2_000_000}[r.IntN(4)]
				b := bound{of: bytesOf, limit: 1_000_000, record: size}
				c := &chaos{rand: r, sim: idleSim(t, ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: b.limit}})}
				if c.masters = i%2 == 1; c.masters {
					b.record *= 2 // doc.go says why
				}
				for w := range n {
					for at := time.Duration(0); at < 20*time.Second; {
						to := at + time.Duration(r.IntN(4000))*time.Millisecond
						c.read(w, size, at, to)
						at = to + time.Duration(r.IntN(600))*time.Millisecond
					}
				}
				c.work.Go(c.run)
				c.end(20 * time.Second)
				one, err := b.atMost(c.passed, time.Second)
				if err != nil {
					t.Error(err)
				}
				ten, err := b.atMost(c.passed, 10*time.Second)
				if err != nil {
					t.Error(err)
				}
				sum := int64(0)
				for _, p := range c.passed {
					sum += p.bytes
				}
				t.Logf("%d workers, records of %d B: at most %.3f in 1 s, %.3f in 10 s; %.3f over all", n, size, one, ten, float64(sum)/float64(b.limit)/20)
			})
		})
	}
}
