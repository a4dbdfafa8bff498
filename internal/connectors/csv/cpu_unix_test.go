//go:build unix

package csv

import (
	"syscall"
	"testing"
	"time"
)

// reportCPU adds the rate by the processor time that a benchmark used, which
// other work on the machine disturbs less than its wall time. The function it
// returns is called after the loop.
func reportCPU(b *testing.B, size int) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	start := used()
	return func() {
		b.ReportMetric(float64(size)*float64(b.N)/(used()-start).Seconds()/1e6, "cpu-MB/s")
	}
}
