package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/bench/process"
	"github.com/leatdata/leat/bench/suite"
)

func result(name string, rows int, ours suite.Contender, peer, own []float64, rss int64) suite.Result {
	usages := func(walls []float64, rss int64) []process.Usage {
		var all []process.Usage
		for _, wall := range walls {
			all = append(all, process.Usage{Wall: time.Duration(wall * float64(time.Second)), MaxRSS: rss})
		}
		return all
	}
	return suite.Result{
		Case:   suite.Case{Name: name, Rows: rows, Contenders: []suite.Contender{{Name: "psql"}, ours}},
		Rounds: [][]process.Usage{usages(peer, 9e6), usages(own, rss)},
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	leat := func(goal float64, aim bool) suite.Contender {
		return suite.Contender{Name: "leat", Streams: 1, Goal: goal, Aim: aim}
	}
	r := Report{
		Limits: Limits{Start: 300 * time.Millisecond, SmallRows: 10, MaxRSS: 100e6},
		Results: []suite.Result{
			// The medians are 3 and 2, whatever the outliers.
			result("good", 1000, leat(1.5, false), []float64{3, 9, 2}, []float64{2, 1, 9}, 50e6),
			result("slow", 1000, leat(1.6, false), []float64{3, 9, 2}, []float64{2, 1, 9}, 50e6),
			result("later", 1000, leat(1.6, true), []float64{3, 9, 2}, []float64{2, 1, 9}, 101e6),
			result("start", 10, leat(0, false), []float64{0.1, 0.1, 0.1}, []float64{0.4, 0.3, 0.2}, 50e6),
		},
	}
	want := []string{
		"slow: leat, streams 1: 1.50, goal 1.6",
		"start to exit, start: 0.300 s, goal under 0.3 s",
		"peak memory of leat, the largest of all runs: 101 MB, goal under 100 MB",
	}
	if got := r.Missed(); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
	text := r.Markdown()
	for _, part := range []string{
		"| good | 1000 | 0 | leat | 1 | 2.00 | 0k | 0 | 0.00 + 0.00 | 50 | 1.50 (0.22–9.00) | 1.5: passed |\n",
		"| 1.6: **missed** |\n", "| aim 1.6: not yet |\n",
		"| start to exit, start | 0.300 s | under 0.3 s: **missed** |\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
