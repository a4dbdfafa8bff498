package ratelimit_test

import (
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/ratelimit"
)

// plenty returns a limiter whose lease covers whatever a test passes on in 100 ms,
// from now on.
func plenty() *ratelimit.Limiter {
	l := ratelimit.NewLimiter(true)
	renew(l, 1)
	return l
}

// renew gives the limiter a lease of far more than it will need.
func renew(l *ratelimit.Limiter, seq uint64) {
	steps := make([]ratelimit.Amount, 20)
	for i := range steps {
		steps[i] = ratelimit.Amount{Bytes: 1 << 50, Records: 1 << 50}
	}
	l.Grant(ratelimit.Lease{
		Epoch: 1, Seq: seq, Limit: ratelimit.Amount{Bytes: 1 << 60, Records: 1 << 60}, Parallelism: 1,
		Window: time.Hour, Steps: steps,
	})
}

func TestAllocNothingPerLimitedBatch(t *testing.T) {
	l, ctx := plenty(), t.Context()
	if n := testing.AllocsPerRun(1000, func() {
		if l.Wait(ctx, ratelimit.Amount{Bytes: 26_000, Records: 200}) != nil {
			t.Fatal("it did not pass")
		}
	}); n > 0 {
		t.Errorf("%g allocations per batch", n)
	}
}

// Waiting for a lease takes no memory either.
func TestAllocNothingPerWait(t *testing.T) {
	l, ctx := ratelimit.NewLimiter(true), t.Context()
	begin := time.Now()
	steps := make([]ratelimit.Amount, 20)
	for i := range steps {
		steps[i] = ratelimit.Amount{Bytes: 100}
	}
	l.Grant(ratelimit.Lease{Epoch: 1, Seq: 1, Limit: ratelimit.Amount{Bytes: 20_000}, Parallelism: 1, Window: 100 * time.Millisecond, Steps: steps})
	if n := testing.AllocsPerRun(10, func() {
		if l.Wait(ctx, ratelimit.Amount{Bytes: 100}) != nil {
			t.Fatal("it did not pass")
		}
	}); n > 0 {
		t.Errorf("%g allocations per batch that waits", n)
	}
	if took := time.Since(begin); took < 45*time.Millisecond {
		t.Errorf("11 steps opened in %s", took)
	}
}

// BenchmarkWait is what a batch costs: without a limiter's call, with one that is
// off, and with one that is on and has a lease. cpu-ns/op is the time that the
// processor took, whatever else the machine does.
func BenchmarkWait(b *testing.B) {
	batch, ctx := ratelimit.Amount{Bytes: 26_000, Records: 200}, b.Context()
	for name, l := range map[string]*ratelimit.Limiter{"none": nil, "off": ratelimit.NewLimiter(false), "on": plenty()} {
		b.Run(name, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			began := threadTime(b)
			for b.Loop() {
				if l != nil && l.Wait(ctx, batch) != nil {
					b.Fatal("it did not pass")
				}
			}
			b.ReportMetric(float64(threadTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

func threadTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
