package value

import "math"

// Interval is a length of time in PostgreSQL's three parts, which may differ
// in sign: a month has no fixed number of days, nor a day of hours.
type Interval struct {
	Months int32
	Days   int32
	Micros int64
}

// InfiniteInterval returns the infinite interval of PostgreSQL 17 in its own
// representation; the negative one for a sign below zero.
func InfiniteInterval(sign int) Interval {
	if sign < 0 {
		return Interval{math.MinInt32, math.MinInt32, math.MinInt64}
	}
	return Interval{math.MaxInt32, math.MaxInt32, math.MaxInt64}
}

// IsSpecial reports whether v is infinite.
func (v Interval) IsSpecial() bool { return v == InfiniteInterval(1) || v == InfiniteInterval(-1) }

// AppendInterval appends the interval as ISO 8601: P1Y2M3DT4H5M6.7S; parts that
// are zero are left out, each other has its own sign, nothing at all is PT0S.
func AppendInterval(dst []byte, v Interval) []byte {
	switch v {
	case Interval{}:
		return append(dst, "PT0S"...)
	case InfiniteInterval(1):
		return append(dst, "infinity"...)
	case InfiniteInterval(-1):
		return append(dst, "-infinity"...)
	}
	dst = append(dst, 'P')
	dst = appendPart(dst, int64(v.Months/12), 'Y')
	dst = appendPart(dst, int64(v.Months%12), 'M')
	dst = appendPart(dst, int64(v.Days), 'D')
	if v.Micros == 0 {
		return dst
	}
	dst = append(dst, 'T')
	dst = appendPart(dst, v.Micros/Hour, 'H')
	dst = appendPart(dst, v.Micros/Minute%60, 'M')
	rest := v.Micros % Minute
	if rest == 0 {
		return dst
	}
	if rest < 0 {
		dst = append(dst, '-')
		rest = -rest
	}
	dst = AppendInt(dst, rest/Second)
	dst = appendFraction(dst, uint32(rest%Second)*1000)
	return append(dst, 'S')
}

func appendPart(dst []byte, n int64, unit byte) []byte {
	if n == 0 {
		return dst
	}
	return append(AppendInt(dst, n), unit)
}
