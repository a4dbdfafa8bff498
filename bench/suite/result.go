package suite

import (
	"slices"
	"time"

	"github.com/leatdata/leat/bench/process"
)

// Result is what a case has taken: per contender, in the case's order, a usage
// for each round.
type Result struct {
	Case   Case
	Rounds [][]process.Usage
}

// Median is the median of each figure of a contender, taken apart, and the
// largest peak of memory.
func (r Result) Median(contender int) process.Usage {
	all := r.Rounds[contender]
	return process.Usage{
		Wall:   median(all, func(u process.Usage) time.Duration { return u.Wall }),
		Client: median(all, func(u process.Usage) time.Duration { return u.Client }),
		Server: median(all, func(u process.Usage) time.Duration { return u.Server }),
		MaxRSS: slices.MaxFunc(all, func(a, b process.Usage) int { return int(a.MaxRSS - b.MaxRSS) }).MaxRSS,
	}
}

// Ratio is how many times as fast as a peer a contender is: the ratio of their
// median wall times. Low and High are the extremes of the rounds' own ratios.
func (r Result) Ratio(contender, peer int) (ratio, low, high float64) {
	ratio = float64(r.Median(peer).Wall) / float64(r.Median(contender).Wall)
	for i, u := range r.Rounds[contender] {
		round := float64(r.Rounds[peer][i].Wall) / float64(u.Wall)
		if i == 0 {
			low, high = round, round
		}
		low, high = min(low, round), max(high, round)
	}
	return ratio, low, high
}

// Memory is how many times the peak of a peer a contender's is.
func (r Result) Memory(contender, peer int) float64 {
	return float64(r.Median(contender).MaxRSS) / float64(r.Median(peer).MaxRSS)
}

func median(all []process.Usage, figure func(process.Usage) time.Duration) time.Duration {
	figures := make([]time.Duration, len(all))
	for i, u := range all {
		figures[i] = figure(u)
	}
	slices.Sort(figures)
	middle := len(figures) / 2
	if len(figures)%2 == 1 {
		return figures[middle]
	}
	return (figures[middle-1] + figures[middle]) / 2
}
