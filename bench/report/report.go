package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/leatdata/leat/bench/suite"
)

// Limits bound every run of leat, whatever the table.
type Limits struct {
	// Start is for the median, start to exit, of jobs of at most SmallRows rows.
	Start     time.Duration
	SmallRows int
	// MaxRSS is for each single run, in bytes.
	MaxRSS int64
}

// Report is what a run of the suite has found.
type Report struct {
	Results []suite.Result
	Limits  Limits
	Machine Machine
	// Command is what made the report, for whoever wants to make it again.
	Command string
	Rounds  int
}

// Markdown is the report as text.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `%s` on %s; medians of %d rounds.\n\n%s\n",
		r.Command, r.Machine.Date, r.Rounds, r.Machine)
	b.WriteString("| copy | rows | MB | by | streams | wall s | rows/s | MB/s | cpu s, client + server | peak MB | times psql (rounds) | goal |\n")
	b.WriteString("| --- | --: | --: | --- | --: | --: | --: | --: | --: | --: | --: | --- |\n")
	for _, result := range r.Results {
		for i := range result.Case.Contenders {
			writeRow(&b, result, i)
		}
	}
	b.WriteString("\n| limit | measured | goal |\n| --- | --: | --- |\n")
	for _, v := range r.bounds() {
		fmt.Fprintf(&b, "| %s | %s | %s: %s |\n", v.what, v.measured, v.goal, passed(v.ok))
	}
	return b.String()
}

func writeRow(b *strings.Builder, result suite.Result, i int) {
	c := result.Case.Contenders[i]
	u := result.Median(i)
	wall := u.Wall.Seconds()
	fmt.Fprintf(b, "| %s | %d | %.0f | %s | %d | %.2f | %.0fk | %.0f | %.2f + %.2f | %.0f | ",
		result.Case.Name, result.Case.Rows, float64(result.Case.Bytes)/1e6, c.Name, c.Streams, wall,
		float64(result.Case.Rows)/wall/1e3, float64(result.Case.Bytes)/wall/1e6,
		u.Client.Seconds(), u.Server.Seconds(), float64(u.MaxRSS)/1e6)
	if i == 0 {
		b.WriteString("1 | |\n")
		return
	}
	ratio, low, high := result.Ratio(i)
	fmt.Fprintf(b, "%.2f (%.2f–%.2f) | %s |\n", ratio, low, high, goal(c, ratio))
}

func goal(c suite.Contender, ratio float64) string {
	switch {
	case c.Goal == 0:
		return ""
	case c.Aim && ratio < c.Goal:
		return fmt.Sprintf("aim %.1f: not yet", c.Goal)
	case c.Aim:
		return fmt.Sprintf("aim %.1f: reached", c.Goal)
	}
	return fmt.Sprintf("%.1f: %s", c.Goal, passed(ratio >= c.Goal))
}

func passed(ok bool) string {
	if ok {
		return "passed"
	}
	return "**missed**"
}

// bound is a limit and what was measured of it.
type bound struct {
	what, measured, goal string
	ok                   bool
}

func (r Report) bounds() []bound {
	var bounds []bound
	var peak int64
	for _, result := range r.Results {
		for i, c := range result.Case.Contenders {
			if !c.Ours() {
				continue
			}
			u := result.Median(i)
			peak = max(peak, u.MaxRSS)
			if result.Case.Rows <= r.Limits.SmallRows {
				bounds = append(bounds, bound{
					what:     "start to exit, " + result.Case.Name,
					measured: fmt.Sprintf("%.3f s", u.Wall.Seconds()),
					goal:     fmt.Sprintf("under %.1f s", r.Limits.Start.Seconds()),
					ok:       u.Wall < r.Limits.Start,
				})
			}
		}
	}
	return append(bounds, bound{
		what:     "peak memory of leat, the largest of all runs",
		measured: fmt.Sprintf("%.0f MB", float64(peak)/1e6),
		goal:     fmt.Sprintf("under %.0f MB", float64(r.Limits.MaxRSS)/1e6),
		ok:       peak < r.Limits.MaxRSS,
	})
}

// Missed names the goals and limits that were missed.
func (r Report) Missed() []string {
	var missed []string
	for _, result := range r.Results {
		for i, c := range result.Case.Contenders {
			if ratio, _, _ := result.Ratio(i); c.Goal > 0 && !c.Aim && ratio < c.Goal {
				missed = append(missed, fmt.Sprintf("%s: %s, streams %d: %.2f, goal %.1f",
					result.Case.Name, c.Name, c.Streams, ratio, c.Goal))
			}
		}
	}
	for _, v := range r.bounds() {
		if !v.ok {
			missed = append(missed, fmt.Sprintf("%s: %s, goal %s", v.what, v.measured, v.goal))
		}
	}
	return missed
}
