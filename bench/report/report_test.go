package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/bench/process"
	"github.com/leatdata/leat/bench/suite"
)

// runs are a contender and what its rounds have taken.
type runs struct {
	contender suite.Contender
	walls     []float64
	rss       int64
}

func result(name string, rows int, all ...runs) suite.Result {
	r := suite.Result{Case: suite.Case{Group: "group", Name: name, Rows: rows}}
	for _, one := range all {
		var usages []process.Usage
		for _, wall := range one.walls {
			usages = append(usages, process.Usage{Wall: time.Duration(wall * float64(time.Second)), MaxRSS: one.rss})
		}
		r.Case.Contenders = append(r.Case.Contenders, one.contender)
		r.Rounds = append(r.Rounds, usages)
	}
	return r
}

func leat(goals ...suite.Goal) suite.Contender {
	return suite.Contender{Name: "leat", Streams: 1, Goals: goals}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	psql := runs{suite.Contender{Name: "a | b", Streams: 1}, []float64{3, 9, 2}, 9e6}
	other := runs{suite.Contender{Name: "other", Streams: 1}, []float64{6, 6, 6}, 100e6}
	small := runs{suite.Contender{Name: "a | b", Streams: 1}, []float64{0.1, 0.1, 0.1}, 9e6}
	// The medians are 3 and 2, whatever the outliers.
	walls := []float64{2, 1, 9}
	parquet := result("parquet", 1000, psql, other,
		runs{leat(suite.Goal{Against: "other", Speed: 2.5, Memory: 0.6}), walls, 60e6},
		runs{leat(suite.Goal{Against: "a | b", Speed: 1.5}, suite.Goal{Against: "other", Speed: 3.5, Memory: 0.6}), walls, 251e6})
	parquet.Case.Parquet = true
	parquet.Case.Group = "another"
	r := Report{
		Software: []string{"psql 15"}, Settings: []string{"PostgreSQL fsync=on"},
		Limits: Limits{Start: 300 * time.Millisecond, SmallRows: 10, MaxRSS: 100e6, MaxRSSParquet: 250e6},
		Results: []suite.Result{
			result("good", 1000, psql, runs{leat(suite.Goal{Against: "a | b", Speed: 1.5}), walls, 50e6}),
			result("slow", 1000, psql, runs{leat(suite.Goal{Against: "a | b", Speed: 1.6}), walls, 50e6}),
			result("any", 1000, psql, runs{leat(), walls, 101e6}),
			result("start", 10, small, runs{leat(), []float64{0.4, 0.3, 0.2}, 50e6}),
			parquet,
		},
	}
	want := []string{
		"slow: leat, streams 1: 1.50 times as fast as a | b, goal 1.60",
		"parquet: leat, streams 1: 3.00 times as fast as other, goal 3.50",
		"parquet: leat, streams 1: 2.51 times the memory of other, goal 0.60",
		"start to exit, start: 0.300 s, goal under 0.3 s",
		"peak memory of leat, the largest of all runs without parquet: 101 MB, goal under 100 MB",
		"peak memory of leat, the largest of all runs with parquet: 251 MB, goal under 250 MB",
	}
	if got := r.Missed(); !slices.Equal(got, want) {
		t.Errorf("missed %q, want %q", got, want)
	}
	text := r.Markdown()
	for _, part := range []string{
		"Measured beside: psql 15.\nSettings of PostgreSQL fsync=on.\n\n### group\n\n| copy |",
		"| good | 1000 | 0 | a \\| b | 1 | 3.00 | 0k | 0 | 0.00 + 0.00 | 9 | 1 | |\n",
		"| good | 1000 | 0 | leat | 1 | 2.00 | 0k | 0 | 0.00 + 0.00 | 50 | 1.50 (0.22–9.00) | 1.50: passed |\n",
		"| 1.60: **missed** |\n",
		"\n\n### another\n\n| copy |",
		"| 3.00 (0.67–6.00) × other | 2.50: passed; memory at most 0.60, is 0.60: passed |\n",
		"| 1.50 (0.22–9.00) × a \\| b; 3.00 (0.67–6.00) × other | 1.50: passed; 3.50: **missed**; memory at most 0.60, is 2.51: **missed** |\n",
		"| start to exit, start | 0.300 s | under 0.3 s: **missed** |\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
