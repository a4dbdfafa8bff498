package cli

import (
	"fmt"
	"strconv"
	"time"
)

// count prints a number with its thousands apart: 1,200,000.
func count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	out := ""
	for len(digits) > 3 {
		out = "," + digits[len(digits)-3:] + out
		digits = digits[:len(digits)-3]
	}
	return sign + digits + out
}

// size prints bytes in the unit that leaves up to three digits before the point.
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1000, 0
	for f >= 999.95 && unit < 4 {
		f /= 1000
		unit++
	}
	return fmt.Sprintf("%.1f %cB", f, "kMGTP"[unit])
}

// rate prints a number per second: with two digits where it is small, so that what
// is slow does not look as if it stood.
func rate(perSecond float64) string {
	if perSecond == 0 || perSecond >= 10 {
		return count(int64(perSecond))
	}
	return small(perSecond)
}

// byteRate is rate for bytes, in the unit of size.
func byteRate(perSecond float64) string {
	if perSecond == 0 || perSecond >= 10 {
		return size(int64(perSecond)) + "/s"
	}
	return small(perSecond) + " B/s"
}

func small(perSecond float64) string {
	if perSecond < 0.01 {
		return "under 0.01"
	}
	return fmt.Sprintf("%.2g", perSecond)
}

// span prints a duration as people say it: 0.12s, 45s, 3m20s, 2h05m.
func span(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.2gs", d.Round(10*time.Millisecond).Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
