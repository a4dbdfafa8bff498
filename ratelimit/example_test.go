package ratelimit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// A ledger and a limiter, side by side: what travels between them are values.
func Example() {
	ledger := ratelimit.NewLedger(ratelimit.Config{Limit: ratelimit.Amount{Records: 1000}})
	limiter := ratelimit.NewLimiter(true)
	ledger.Join(0)

	passed := make(chan error)
	go func() {
		passed <- limiter.Wait(context.Background(), ratelimit.Amount{Bytes: 500, Records: 5})
	}()
	start := time.Now()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if r, due := limiter.Report(); due {
			ledger.Report(time.Since(start), 0, r)
		}
		ledger.Tick(time.Since(start))
		for _, g := range ledger.Grants() {
			limiter.Grant(g.Lease)
		}
		select {
		case err := <-passed:
			fmt.Println("passed:", err == nil, limiter.State().Passed)
			return
		case <-ticker.C:
		}
	}
	// Output: passed: true 500 B, 5 records
}
