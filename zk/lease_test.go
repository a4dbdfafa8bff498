package zk

import (
	"testing"
	"time"
)

func TestTrustEndsAQuarterEarly(t *testing.T) {
	t.Parallel()
	l := lease{start: 100 * time.Second, timeout: 8 * time.Second}
	if got, want := l.end(), 106*time.Second; got != want {
		t.Errorf("trust ends at %s, want %s", got, want)
	}
	for _, c := range []struct{ now, want time.Duration }{
		{100 * time.Second, 6 * time.Second},
		{105 * time.Second, time.Second},
		{106 * time.Second, 0},
		{200 * time.Second, 0},
	} {
		if got := l.left(c.now); got != c.want {
			t.Errorf("at %s %s are left, want %s", c.now, got, c.want)
		}
	}
}

func TestTrustCountsFromTheStartOfARenewal(t *testing.T) {
	t.Parallel()
	l := lease{start: 10 * time.Second, timeout: 4 * time.Second}
	l.renewed(11 * time.Second)
	if got := l.end(); got != 14*time.Second {
		t.Errorf("trust ends at %s, want 14s", got)
	}
	// A renewal that was started before the last one proves nothing more.
	l.renewed(9 * time.Second)
	if got := l.end(); got != 14*time.Second {
		t.Errorf("an older renewal moved the end of trust to %s", got)
	}
}

func TestALossShorterThanHalfLeavesTimeToRenew(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, 40 * time.Second} {
		l := lease{timeout: timeout}
		p := l.pace()
		// The last renewal was just before the loss: it is as old as the next one's
		// turn when that fails.
		noticed := p.every + p.within
		longest := p.every + timeout/2
		attempt := min(time.Second, timeout/24)
		if noticed > longest {
			t.Errorf("timeout %s: a cut is noticed after %s, later than a loss that ends after %s", timeout, noticed, longest)
		}
		if back := longest + attempt; back >= l.end() {
			t.Errorf("timeout %s: the next attempt is at %s, trust ends at %s", timeout, back, l.end())
		}
	}
}
