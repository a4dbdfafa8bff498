package report

import (
	"fmt"
	"time"
)

// Limits bound every run of leat, whatever the table.
type Limits struct {
	// Start is for the median, start to exit, of jobs of at most SmallRows rows.
	Start     time.Duration
	SmallRows int
	// MaxRSS is for each single run, in bytes; MaxRSSParquet for those that read or
	// write Parquet.
	MaxRSS, MaxRSSParquet int64
}

// bound is a limit and what was measured of it.
type bound struct {
	what, measured, goal string
	ok                   bool
}

func (r Report) bounds() []bound {
	var bounds []bound
	var peak, peakParquet int64
	for _, result := range r.Results {
		for i, c := range result.Case.Contenders {
			if !c.Ours() {
				continue
			}
			u := result.Median(i)
			if result.Case.Parquet {
				peakParquet = max(peakParquet, u.MaxRSS)
			} else {
				peak = max(peak, u.MaxRSS)
			}
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
	if peak > 0 {
		bounds = append(bounds, memory("peak memory of leat, the largest of all runs without parquet", peak, r.Limits.MaxRSS))
	}
	if peakParquet > 0 {
		bounds = append(bounds, memory("peak memory of leat, the largest of all runs with parquet", peakParquet, r.Limits.MaxRSSParquet))
	}
	return bounds
}

func memory(what string, peak, limit int64) bound {
	return bound{
		what:     what,
		measured: fmt.Sprintf("%.0f MB", float64(peak)/1e6),
		goal:     fmt.Sprintf("under %.0f MB", float64(limit)/1e6),
		ok:       peak < limit,
	}
}
