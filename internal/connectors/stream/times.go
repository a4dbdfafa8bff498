package stream

import (
	"strconv"

	"github.com/leatdata/leat/batch"
)

const (
	firstDay = -25567 // 1900-01-01, in days from 1970-01-01
	days     = 73049  // up to 2099-12-31
)

// appendDate makes a date from 1900 to 2099. The calendar is computed as in
// Howard Hinnant's civil_from_days.
func appendDate(dst []byte, r *random, _ *batch.Type) []byte {
	z := firstDay + int64(r.below(days)) + 719468
	era := z / 146097
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	year := yoe + era*400
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day := doy - (153*mp+2)/5 + 1
	month := mp + 3
	if month > 12 {
		month -= 12
		year++
	}
	dst = strconv.AppendInt(dst, year, 10)
	dst = append(dst, '-')
	dst = appendTwo(dst, uint64(month))
	dst = append(dst, '-')
	return appendTwo(dst, uint64(day))
}

func appendTwo(dst []byte, n uint64) []byte {
	return append(dst, '0'+byte(n/10), '0'+byte(n%10))
}

// appendTime makes a time of day; a TimeTZ has its offset behind it.
func appendTime(dst []byte, r *random, t *batch.Type) []byte {
	dst = appendTwo(dst, r.below(24))
	dst = append(dst, ':')
	dst = appendTwo(dst, r.below(60))
	dst = append(dst, ':')
	dst = appendTwo(dst, r.below(60))
	dst = appendFraction(dst, r, t)
	if t.Kind == batch.TimeTZ {
		dst = append(dst, "+-"[r.next()&1])
		dst = appendTwo(dst, 1+r.below(12))
		dst = append(dst, ":00"...)
	}
	return dst
}

// appendFraction makes up to the type's digits (6 when unknown), without
// zeros at the end, and nothing at all for one value in four.
func appendFraction(dst []byte, r *random, t *batch.Type) []byte {
	digits := 6
	if t.Fraction > 0 {
		digits = t.Fraction - 1
	}
	if digits == 0 || r.next()&3 == 0 {
		return dst
	}
	dst = append(dst, '.')
	dst = appendDigits(dst, r, digits)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	if dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendTimestamp makes a date and time; an Instant says that it is in UTC.
func appendTimestamp(dst []byte, r *random, t *batch.Type) []byte {
	dst = appendDate(dst, r, t)
	dst = append(dst, ' ')
	dst = appendTime(dst, r, t)
	if t.Kind == batch.Instant {
		dst = append(dst, "+00"...)
	}
	return dst
}

func appendInterval(dst []byte, r *random, _ *batch.Type) []byte {
	dst = append(dst, 'P')
	dst = strconv.AppendUint(dst, 1+r.below(9), 10)
	dst = append(dst, 'Y')
	dst = strconv.AppendUint(dst, 1+r.below(11), 10)
	dst = append(dst, 'M')
	dst = strconv.AppendUint(dst, 1+r.below(28), 10)
	dst = append(dst, "DT"...)
	dst = strconv.AppendUint(dst, 1+r.below(23), 10)
	dst = append(dst, 'H')
	dst = strconv.AppendUint(dst, 1+r.below(59), 10)
	return append(dst, 'M')
}
