package value

import "errors"

// Time is a time of day in microseconds since midnight. MySQL's may pass 24
// hours and be negative; PostgreSQL's reach from 0 to Day.
type Time int64

// Lengths of time in microseconds.
const (
	Second int64 = 1000000
	Minute       = 60 * Second
	Hour         = 60 * Minute
	Day          = 24 * Hour
)

const (
	nanosPerSecond = 1000000000
	nanosPerDay    = 86400 * nanosPerSecond
)

// maxOffset is the largest offset from UTC in seconds that PostgreSQL takes.
const maxOffset = 15*3600 + 59*60 + 59

// TimeTZ is a time of day with its offset from UTC, in seconds to the east.
type TimeTZ struct {
	Time   Time
	Offset int32
}

// ParseTime reads hours:minutes, :seconds and .fraction where given, and a
// minus sign before; the hours may pass 24. A fraction finer than a
// microsecond is ErrPrecision, and the time returned is cut towards zero.
func ParseTime(b []byte) (Time, error) {
	t, fine, err := parseTime(b)
	if err == nil && fine {
		return Time(t / 1000), errFraction
	}
	return Time(t / 1000), err
}

// parseTime returns nanoseconds, and whether they are no whole microseconds.
func parseTime(b []byte) (nanos int64, fine bool, err error) {
	b = trim(b)
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	h := digits(b)
	if h == 0 {
		return 0, false, errTime
	}
	if h > 6 {
		return 0, false, errTimeRange
	}
	rest, n, err := scanMinutes(b[h:])
	if err != nil {
		return 0, false, err
	}
	if n != len(b)-h {
		return 0, false, errTime
	}
	rest += int64(small(b[:h])) * 3600 * nanosPerSecond
	if neg {
		rest = -rest
	}
	return rest, rest%1000 != 0, nil
}

// AppendTime appends HH:MM:SS and the fraction without trailing zeros.
func AppendTime(dst []byte, t Time) []byte { return appendClock(dst, int64(t)*1000) }

// appendClock appends nanoseconds as a time.
func appendClock(dst []byte, nanos int64) []byte {
	if nanos < 0 {
		dst = append(dst, '-')
		nanos = -nanos
	}
	seconds := uint64(nanos) / nanosPerSecond
	fraction := uint32(uint64(nanos) - seconds*nanosPerSecond)
	hours := seconds / 3600
	if hours > 99 {
		dst = AppendUint(dst, hours/100)
	}
	h, rest := uint32(hours%100), uint32(seconds-hours*3600)
	m, s := rest/60, rest%60
	dst = append(dst, '0'+byte(h/10), '0'+byte(h%10), ':', '0'+byte(m/10), '0'+byte(m%10), ':', '0'+byte(s/10), '0'+byte(s%10))
	return appendFraction(dst, fraction)
}

// appendFraction appends the point and the digits of billionths, without zeros
// at the end.
func appendFraction(dst []byte, nanos uint32) []byte {
	if nanos == 0 {
		return dst
	}
	n := 9
	if micros := nanos / 1000; micros*1000 == nanos {
		nanos, n = micros, 6
	}
	var buf [10]byte
	for i := n; i > 0; i-- {
		buf[i] = '0' + byte(nanos%10)
		nanos /= 10
	}
	buf[0] = '.'
	for buf[n] == '0' {
		n--
	}
	return append(dst, buf[:n+1]...)
}

// scanClock reads a time of one day at the beginning of b: hours of one or
// two digits, then what scanMinutes reads. It returns nanoseconds and length.
func scanClock(b []byte) (nanos int64, n int, err error) {
	h := digits(b)
	if h == 0 || h > 2 {
		return 0, 0, errTime
	}
	nanos, n, err = scanMinutes(b[h:])
	nanos += int64(small(b[:h])) * 3600 * nanosPerSecond
	if err == nil && nanos > nanosPerDay {
		err = errNoSuchTime
	}
	return nanos, n + h, err
}

// scanMinutes reads :MM, then :SS and .fraction where they are there.
func scanMinutes(b []byte) (nanos int64, n int, err error) {
	if len(b) < 3 || b[0] != ':' || digits(b[1:]) != 2 {
		return 0, 0, errTime
	}
	minutes, seconds := small(b[1:3]), 0
	n = 3
	if len(b) > 3 && b[3] == ':' {
		if len(b) < 6 || digits(b[4:]) != 2 {
			return 0, 0, errTime
		}
		seconds = small(b[4:6])
		n = 6
	}
	if minutes > 59 || seconds > 59 {
		return 0, 0, errNoSuchTime
	}
	fraction := 0
	if n == 6 && len(b) > 7 && b[6] == '.' && isDigit(b[7]) {
		m := digits(b[7:])
		fraction, err = nanosOf(b[7 : 7+m])
		n = 7 + m
	}
	return int64(minutes*60+seconds)*nanosPerSecond + int64(fraction), n, err
}

// nanosOf reads the digits of a fraction of a second.
func nanosOf(b []byte) (int, error) {
	if len(b) > 9 {
		if zeros(b[9:]) != len(b)-9 {
			return 0, errFinest
		}
		b = b[:9]
	}
	n := small(b)
	for i := len(b); i < 9; i++ {
		n *= 10
	}
	return n, nil
}

// scanOffset reads an offset from UTC that is the whole of b: Z, UTC, ±HH,
// ±HHMM, ±HH:MM, ±HH:MM:SS. It returns seconds to the east.
func scanOffset(b []byte) (int32, error) {
	if fold(b, "z") || fold(b, "utc") {
		return 0, nil
	}
	if len(b) < 3 || (b[0] != '+' && b[0] != '-') || !isDigit(b[1]) || !isDigit(b[2]) {
		return 0, errOffsetForm
	}
	seconds := small(b[1:3]) * 3600
	rest := b[3:]
	for unit := 60; len(rest) > 0; unit /= 60 {
		if rest[0] == ':' {
			rest = rest[1:]
		}
		if unit == 0 || len(rest) < 2 || !isDigit(rest[0]) || !isDigit(rest[1]) {
			return 0, errOffsetForm
		}
		if small(rest[:2]) > 59 {
			return 0, errOffsetRange
		}
		seconds += small(rest[:2]) * unit
		rest = rest[2:]
	}
	if seconds > maxOffset {
		return 0, errOffsetRange
	}
	if b[0] == '-' {
		seconds = -seconds
	}
	return int32(seconds), nil
}

// appendOffset appends +HH, with :MM and :SS only where they are not zero,
// or always with :MM when minutes is set.
func appendOffset(dst []byte, offset int32, minutes bool) []byte {
	sign := byte('+')
	n := int(offset)
	if n < 0 {
		sign, n = '-', -n
	}
	dst = append2(append(dst, sign), n/3600)
	if minutes || n%3600 != 0 {
		dst = append2(append(dst, ':'), n/60%60)
	}
	if n%60 != 0 {
		dst = append2(append(dst, ':'), n%60)
	}
	return dst
}

// ParseTimeTZ reads a time of one day, up to 24:00:00, and its offset from UTC:
// Z, +05, +05:30, +0530, +05:30:15, with a space before or none. A fraction
// finer than a microsecond is ErrPrecision, the time returned is cut.
func ParseTimeTZ(b []byte) (TimeTZ, error) {
	nanos, offset, err := parseTimeTZ(b)
	t := TimeTZ{Time(nanos / 1000), offset}
	if err == nil && nanos%1000 != 0 {
		err = errFraction
	}
	return t, err
}

func parseTimeTZ(b []byte) (nanos int64, offset int32, err error) {
	b = trim(b)
	nanos, n, err := scanClock(b)
	if err != nil {
		if errors.Is(err, errTime) {
			err = errTimeTZ
		}
		return 0, 0, err
	}
	offset, err = scanOffset(trim(b[n:]))
	if errors.Is(err, errOffsetForm) {
		err = errTimeTZ
	}
	return nanos, offset, err
}

// AppendTimeTZ appends the time and +HH:MM, with seconds where the offset has some.
func AppendTimeTZ(dst []byte, t TimeTZ) []byte {
	return appendOffset(AppendTime(dst, t.Time), t.Offset, true)
}
