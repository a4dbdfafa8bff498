package heartbeat

import (
	"strings"
	"testing"
	"time"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	c := Config{}.WithDefaults()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	if c.Interval != 10*time.Second || c.Timeout != 50*time.Second || c.FailureThreshold != 2 ||
		c.SuspectLimit != 150*time.Second || c.OrphanGrace != time.Minute ||
		c.Counter != (CounterConfig{Interval: 5 * time.Second, CheckPeriod: 5 * time.Second, MaxMisses: 4, MaxWrites: 200}) {
		t.Errorf("defaults %+v", c)
	}
	own := Config{Interval: time.Second, Timeout: 3 * time.Second, FailureThreshold: -1, Counter: CounterConfig{MaxMisses: 9}}
	if c := own.WithDefaults(); c.Interval != time.Second || c.Timeout != 3*time.Second || c.FailureThreshold != -1 || c.Counter.MaxMisses != 9 {
		t.Errorf("values that are set were replaced: %+v", c)
	}
}

// All problems are reported at once, each by the key that is wrong.
func TestValidateReportsAllProblems(t *testing.T) {
	t.Parallel()
	c := Config{
		Interval: -1, Timeout: -2, FailureThreshold: -5, SuspectLimit: -10 * time.Second, OrphanGrace: time.Microsecond,
		Counter: CounterConfig{Interval: -1, CheckPeriod: -1, MaxMisses: -1, MaxWrites: -1},
	}
	err := c.Validate()
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	for _, key := range []string{
		"heartbeat.interval", "heartbeat.timeout", "heartbeat.rpc-failure-threshold", "heartbeat.suspect-limit",
		"heartbeat.counter.interval", "heartbeat.counter.check-period", "heartbeat.counter.max-misses", "heartbeat.counter.max-writes",
	} {
		found := 0
		for _, line := range lines {
			if strings.HasPrefix(line, key+" is ") {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s is reported %d times in\n%s", key, found, err)
		}
	}
	for name, c := range map[string]Config{
		"heartbeat.orphan-grace": {OrphanGrace: time.Second},
		"a worker that writes on time would be lost": {
			Counter: CounterConfig{Interval: time.Minute},
		},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
