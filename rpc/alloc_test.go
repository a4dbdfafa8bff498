//go:build !race

package rpc

import (
	"context"
	"testing"
)

// allocations is what one of many calls of f allocates in the whole process, on
// average.
func allocations(t *testing.T, n int, f func()) float64 {
	t.Helper()
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range n {
				f()
			}
		}
	})
	return float64(r.MemAllocs) / float64(r.N) / float64(n)
}

func TestAllocNothingPerMessage(t *testing.T) {
	server, client := overTCP(t, nil)
	sinkOf(t, server, 0)
	ctx := context.Background()
	msg := make(Bytes, 64)
	for name, ref := range map[string]Ref{"local": server.Ref("sink"), "remote": client.RefAt(server.Addr(), "sink")} {
		tells := allocations(t, 1000, func() {
			if err := SendWait(ctx, ref, msg); err != nil {
				t.Fatal(err)
			}
		})
		asks := allocations(t, 100, func() {
			if _, err := Ask[Bytes](ctx, ref, msg); err != nil {
				t.Fatal(err)
			}
		})
		t.Logf("%s: %.4f per tell, %.4f per ask", name, tells, asks)
		// What is left is chunks, one for hundreds of messages.
		if tells > 0.05 || asks > 0.1 {
			t.Errorf("%s: %.3f allocations per tell, %.3f per ask", name, tells, asks)
		}
	}
}
