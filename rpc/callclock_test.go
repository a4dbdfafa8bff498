package rpc

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestCallClockStops holds that the clock ticks only while an ask waits that has
// no deadline of its own, and starts again with the next.
func TestCallClockStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{AskTimeout: 4 * time.Second})
		for range 2 {
			other := env.newCall("other", false)
			limited := env.newCall("limited", true)
			if !env.clock.ticking.Load() {
				t.Fatal("an ask without a deadline waits, and no clock ticks")
			}
			<-time.NewTimer(6 * time.Second).C
			<-limited.done
			if limited.err == nil || other.state.Load()&callSettled != 0 {
				t.Fatalf("after the timeout: %v; one with a deadline of its own settled: %v", limited.err, other.state.Load()&callSettled != 0)
			}
			limited.recycle()
			<-time.NewTimer(2 * time.Second).C
			synctest.Wait()
			if env.clock.ticking.Load() {
				t.Fatal("the clock ticks for nobody")
			}
		}
	})
}

// TestCallClockForgets holds that calls which the pool has let go leave nothing
// behind.
func TestCallClockForgets(t *testing.T) {
	env := newEnv(t, Config{})
	kept := makeCall(env)
	for range 10_000 {
		makeCall(env)
	}
	runtime.GC()
	for range 10_000 {
		makeCall(env)
	}
	if n := len(env.clock.calls); n > 12_000 {
		t.Errorf("the clock knows %d calls, of which one is in use", n)
	}
	runtime.KeepAlive(kept)
}
