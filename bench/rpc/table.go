package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

// table gathers results by workload and contender, in the order they came.
type table struct {
	rounds int
	d      time.Duration
	order  []cell
	cells  map[cell][]result
}

type cell struct{ work, name string }

func newTable(rounds int, d time.Duration) *table {
	return &table{rounds: rounds, d: d, cells: map[cell][]result{}}
}

func (t *table) add(work, name string, r result) {
	c := cell{work, name}
	if t.cells[c] == nil {
		t.order = append(t.order, c)
	}
	t.cells[c] = append(t.cells[c], r)
}

// goal is one ratio that has to be reached: of rates, or of the peer's median
// time or CPU to ours.
type goal struct {
	work, ours, peer, text string
	at                     func(ours, peer result) float64
	least                  float64
}

func rates(ours, peer result) float64 { return ours.Rate / peer.Rate }
func times(ours, peer result) float64 { return float64(peer.P50) / float64(ours.P50) }
func cpus(ours, peer result) float64  { return float64(peer.CPU) / float64(ours.CPU) }

func goals() []goal {
	one, many, large, tell := workloads()[0].name, workloads()[1].name, workloads()[2].name, workloads()[3].name
	l := locals()
	return []goal{
		{l[0].name, "leat", "channel", "rate ≥ 1.0 ×", rates, 1},
		{l[0].name, "leat", "hollywood", "rate ≥ 1.5 ×", rates, 1.5},
		{l[1].name, "leat", "channel", "rate ≥ 0.65 ×", rates, 0.65},
		{l[1].name, "leat", "hollywood", "rate ≥ 1.5 ×", rates, 1.5},
		{l[2].name, "leat", "channel", "time ≤ 1.4 ×", rates, 1 / 1.4},
		{one, "leat", "raw", "p50 ≤ 1.9 ×", times, 1 / 1.9},
		{one, "leat", "grpc-stream", "p50 ≤ 1.0 ×", times, 1},
		{many, "leat", "raw", "rate ≥ 0.42 ×", rates, 0.42},
		{many, "leat", "raw-callers", "rate ≥ 0.42 ×", rates, 0.42},
		{many, "leat", "grpc-stream", "rate ≥ 2.2 ×", rates, 2.2},
		{many, "leat", "grpc-unary", "rate ≥ 8 ×", rates, 8},
		{many, "leat", "grpc-stream", "CPU per ask ≤ 0.5 ×", cpus, 2},
		{many, "leat-typed", "grpc-typed", "rate ≥ 1.0 ×", rates, 1},
		{large, "leat", "grpc-stream", "rate ≥ 1.9 ×", rates, 1.9},
		{tell, "leat", "raw", "rate ≥ 0.33 ×", rates, 0.33},
		{tell, "leat", "nats", "rate ≥ 4.3 ×", rates, 4.3},
	}
}

func (t *table) median(c cell) (r result, ok bool) {
	list := t.cells[c]
	if len(list) == 0 {
		return r, false
	}
	pick := func(f func(result) float64) float64 {
		var all []float64
		for _, r := range list {
			all = append(all, f(r))
		}
		return median(all)
	}
	return result{
		Rate:   pick(func(r result) float64 { return r.Rate }),
		P50:    time.Duration(pick(func(r result) float64 { return float64(r.P50) })),
		CPU:    time.Duration(pick(func(r result) float64 { return float64(r.CPU) })),
		Allocs: pick(func(r result) float64 { return r.Allocs }),
	}, true
}

// ratio is the median over the rounds of the ratio within one round: both sides
// have then met the same moment.
func (t *table) ratio(g goal) (float64, bool) {
	ours, peer := t.cells[cell{g.work, g.ours}], t.cells[cell{g.work, g.peer}]
	var all []float64
	for i := range min(len(ours), len(peer)) {
		all = append(all, g.at(ours[i], peer[i]))
	}
	if len(all) == 0 {
		return 0, false
	}
	return median(all), true
}

func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "%d processors, %s, medians of %d rounds of %s each, interleaved\n\n", runtime.NumCPU(), runtime.Version(), t.rounds, t.d)
	fmt.Fprint(w, "| what | who | messages/s | p50 | CPU per message, both | allocations, client |\n| --- | --- | ---: | ---: | ---: | ---: |\n")
	for _, c := range t.order {
		r, _ := t.median(c)
		p50, cpu, allocs := "", "", ""
		if r.P50 > 0 {
			p50 = r.P50.Round(100 * time.Nanosecond).String()
		}
		if r.CPU > 0 {
			cpu, allocs = r.CPU.String(), fmt.Sprintf("%.2f", r.Allocs)
		}
		fmt.Fprintf(w, "| %s | %s | %.0f | %s | %s | %s |\n", c.work, c.name, r.Rate, p50, cpu, allocs)
	}
	fmt.Fprint(w, "\n| what | goal | reached | |\n| --- | --- | ---: | --- |\n")
	for _, g := range goals() {
		r, ok := t.ratio(g)
		if !ok {
			continue
		}
		verdict := "yes"
		if r < g.least {
			verdict = "**no**"
		}
		if strings.Contains(g.text, "≤") {
			r = 1 / r
		}
		fmt.Fprintf(w, "| %s: %s | %s %s | %.2f | %s |\n", g.work, g.ours, g.text, g.peer, r, verdict)
	}
}
