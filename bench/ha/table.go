package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"
)

// table gathers times by the way of the leader's end and the group.
type table struct {
	rounds  int
	timeout time.Duration
	order   []row
	times   map[row][]time.Duration
}

type row struct{ end, who string }

func (t *table) add(end, who string, took time.Duration) {
	r := row{end, who}
	if t.times == nil {
		t.times = map[row][]time.Duration{}
	}
	if t.times[r] == nil {
		t.order = append(t.order, r)
	}
	t.times[r] = append(t.times[r], took)
}

// peer is who the goals are about.
const peer = "Curator LeaderLatch"

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "%d processors, %s, ensemble of three with a tick of 200 ms, session timeout %s, %d of each\n\n",
		runtime.NumCPU(), runtime.Version(), t.timeout, t.rounds)
	fmt.Fprintln(w, "| from | who | p50 | p99 | max |")
	fmt.Fprintln(w, "| --- | --- | ---: | ---: | ---: |")
	for _, r := range t.order {
		all := t.times[r]
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", r.end, r.who, milli(quantile(all, 0.5)), milli(quantile(all, 0.99)), milli(quantile(all, 1)))
	}
	fmt.Fprintf(w, "\n| goal | reached | |\n| --- | ---: | --- |\n")
	for _, r := range t.order {
		if r.who == peer {
			continue
		}
		ours, theirs := t.times[r], t.times[row{r.end, peer}]
		ratio := float64(quantile(ours, 0.5)) / float64(quantile(theirs, 0.5))
		fmt.Fprintf(w, "| %s: %s p50 ≤ %s | %.2f | %s |\n", r.end, r.who, peer, ratio, verdict(ratio <= 1))
		if r.end == graceful {
			p99 := quantile(ours, 0.99)
			fmt.Fprintf(w, "| %s: %s p99 ≤ 200 ms | %s | %s |\n", r.end, r.who, milli(p99), verdict(p99 <= 200*time.Millisecond))
		}
	}
	fmt.Fprintln(w)
}

// quantile is the smallest time that a part of all does not exceed.
func quantile(all []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[max(0, int(math.Ceil(part*float64(len(sorted))))-1)]
}

func verdict(reached bool) string {
	if reached {
		return "yes"
	}
	return "**no**"
}

func milli(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
