package heartbeat

import (
	"testing"
	"time"
)

// The clock that counts a suspended machine advances, and is at least as far as the
// one that does not; services run on it.
func TestBootClock(t *testing.T) {
	t.Parallel()
	first := BootClock()
	if first <= 0 {
		t.Fatalf("booted %s ago", first)
	}
	s := start(t, Config{Interval: 10 * time.Millisecond, Timeout: time.Hour, SuspectLimit: time.Hour, Clock: BootClock})
	o := newOwner(t)
	m, err := NewManager(s, "worker", Listener[string, string](o), o.run)
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	monitor(t, m, "master", nowhere()).Heard()
	last, ok := m.LastHeartbeatFrom("master")
	if d := last.Sub(before); !ok || d < -time.Second || d > time.Minute {
		t.Errorf("heard %s after the call", d)
	}
	if s.Now() < first {
		t.Errorf("the clock went back from %s to %s", first, s.Now())
	}
}
