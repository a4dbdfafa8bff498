package ratelimit_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/ratelimit"
)

// commits runs a job of n readers, each of which pauses for a while in every
// interval, all at the same times or each at its own, and returns the share of the
// limit that passed.
func commits(t *testing.T, n int, pause, interval time.Duration, together bool) (share float64) {
	const limit, end = 4_000_000, 20 * time.Second
	synctest.Test(t, func(t *testing.T) {
		s := newSim(t, ratelimit.Config{Parallelism: n, Limit: ratelimit.Amount{Bytes: limit}})
		for i := range n {
			first := time.Duration(0)
			if !together {
				first = -interval * time.Duration(i) / time.Duration(n)
			}
			for at := first; at < end; at += interval {
				s.read(i, 100, max(0, at), max(0, min(end, at+interval-pause)))
			}
		}
		s.end(end)
		sum := int64(0)
		for _, p := range s.passed {
			sum += p.bytes
		}
		share = float64(sum) / limit / end.Seconds()
	})
	return share
}

// TestCommits shows what the pauses of a reader while its writer commits cost of
// the limit, and writes the table of docs/rate.md: nothing where they are short, or
// others can use it.
func TestCommits(t *testing.T) {
	t.Parallel()
	var table bytes.Buffer
	fmt.Fprintf(&table, "| a commit takes | every | one subtask | 4, all at once | 4, each at its time |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range []struct{ pause, interval time.Duration }{
		{20 * time.Millisecond, 100 * time.Millisecond},
		{50 * time.Millisecond, time.Second},
		{150 * time.Millisecond, time.Second},
		{500 * time.Millisecond, 10 * time.Second},
		{2 * time.Second, 10 * time.Second},
	} {
		one, all, each := commits(t, 1, c.pause, c.interval, true), commits(t, 4, c.pause, c.interval, true), commits(t, 4, c.pause, c.interval, false)
		fmt.Fprintf(&table, "| %s | %s | %.2f | %.2f | %.2f |\n", c.pause, c.interval, one, all, each)
		// Two windows' worth is made up for; what is beyond that is lost.
		lost := max(0, c.pause-200*time.Millisecond).Seconds() / c.interval.Seconds()
		for _, share := range []float64{one, all} {
			if share > 1 || share < 0.97-lost {
				t.Errorf("%s every %s: %.3f and %.3f of the limit passed, %.3f are lost at most", c.pause, c.interval, one, all, lost)
				break
			}
		}
		if each < 0.98 || each > 1 {
			t.Errorf("%s every %s, each at its time: %.3f of the limit passed", c.pause, c.interval, each)
		}
	}
	checkTable(t, "Commits", table)
}
