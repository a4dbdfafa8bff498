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
	const limit = 4_000_000
	end := max(10*time.Second, 2*interval)
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

// TestCommits shows how much of the limit passes at least where readers pause while
// their writers commit, and writes the table of docs/rate.md: nearly all of it where
// that is short, or others can use it.
func TestCommits(t *testing.T) {
	t.Parallel()
	var table bytes.Buffer
	fmt.Fprintf(&table, "| a commit takes | every | all subtasks at once | each at its time |\n| --- | --- | --- | --- |\n")
	for _, c := range []struct{ pause, interval time.Duration }{
		{20 * time.Millisecond, 100 * time.Millisecond},
		{50 * time.Millisecond, time.Second},
		{150 * time.Millisecond, time.Second},
		{500 * time.Millisecond, 10 * time.Second},
		{2 * time.Second, 10 * time.Second},
	} {
		one, all, each := commits(t, 1, c.pause, c.interval, true), commits(t, 4, c.pause, c.interval, true), commits(t, 4, c.pause, c.interval, false)
		// Two windows' worth is made up for; what is beyond that is lost.
		const nearlyAll = 0.97
		least := nearlyAll - max(0, c.pause-200*time.Millisecond).Seconds()/c.interval.Seconds()
		fmt.Fprintf(&table, "| %s | %s | %.2f | %.2f |\n", c.pause, c.interval, least, nearlyAll)
		if min(one, all) < least || each < nearlyAll || max(one, all, each) > 1 {
			t.Errorf("%s every %s: %.3f of the limit passed with one subtask, %.3f with 4 at once, %.3f with each at its time", c.pause, c.interval, one, all, each)
		}
	}
	checkTable(t, "Commits", table)
}
