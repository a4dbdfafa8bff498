package report

import (
	"fmt"
	"strings"

	"github.com/leatdata/leat/bench/suite"
)

// Report is what a run of the suite has found.
type Report struct {
	Results []suite.Result
	Limits  Limits
	Machine Machine
	// Software names servers and peers with their versions, Settings how the
	// servers are set.
	Software, Settings []string
	// Command is what made the report, for whoever wants to make it again.
	Command string
	Rounds  int
}

// Markdown is the report as text.
func (r Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `%s` on %s; medians of %d rounds.\n\n%s Measured beside: %s.\n",
		r.Command, r.Machine.Date, r.Rounds, r.Machine, strings.Join(r.Software, ", "))
	for _, settings := range r.Settings {
		fmt.Fprintf(&b, "Settings of %s.\n", settings)
	}
	group := ""
	for _, result := range r.Results {
		if result.Case.Group != group {
			group = result.Case.Group
			fmt.Fprintf(&b, "\n### %s\n\n%s", group, head)
		}
		for i := range result.Case.Contenders {
			writeRow(&b, result, i)
		}
	}
	bounds := r.bounds()
	if len(bounds) > 0 {
		b.WriteString("\n### Limits\n\n| limit | measured | goal |\n| --- | --: | --- |\n")
	}
	for _, v := range bounds {
		fmt.Fprintf(&b, "| %s | %s | %s: %s |\n", v.what, v.measured, v.goal, passed(v.ok))
	}
	return b.String()
}

// head is the head of a group's table.
const head = "| copy | rows | MB | by | streams | wall s | rows/s | MB/s | cpu s, client + server | peak MB | times the peer (rounds) | goal |\n" +
	"| --- | --: | --: | --- | --: | --: | --: | --: | --: | --: | --: | --- |\n"

func writeRow(b *strings.Builder, result suite.Result, i int) {
	c := result.Case.Contenders[i]
	u := result.Median(i)
	wall, rows := u.Wall.Seconds(), result.Case.RowsOf(c)
	fmt.Fprintf(b, "| %s | %d | %.0f | %s | %d | %.2f | %.0fk | %.0f | %.2f + %.2f | %.0f | ",
		result.Case.Name, rows, float64(result.Case.Bytes)/1e6, escape(c.Name), c.Streams, wall,
		float64(rows)/wall/1e3, float64(result.Case.Bytes)/wall/1e6,
		u.Client.Seconds(), u.Server.Seconds(), float64(u.MaxRSS)/1e6)
	if i == 0 {
		b.WriteString("1 | |\n")
		return
	}
	var ratios, goals []string
	for _, v := range verdicts(result, i) {
		ratios = append(ratios, v.String())
		goals = append(goals, v.goals()...)
	}
	fmt.Fprintf(b, "%s | %s |\n", escape(strings.Join(ratios, "; ")), strings.Join(goals, "; "))
}

// escape keeps a "|" from ending a cell.
func escape(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

func passed(ok bool) string {
	if ok {
		return "passed"
	}
	return "**missed**"
}

// Missed names the goals and limits that were missed.
func (r Report) Missed() []string {
	var missed []string
	for _, result := range r.Results {
		for i, c := range result.Case.Contenders {
			for _, v := range verdicts(result, i) {
				for _, what := range v.missed() {
					missed = append(missed, fmt.Sprintf("%s: %s, streams %d: %s", result.Case.Name, c.Name, c.Streams, what))
				}
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
