package value

import "errors"

// Timestamp is microseconds since 2000-01-01 00:00:00, PostgreSQL's own count:
// for the kind Timestamp on the wall clock of no zone, for Instant in UTC.
type Timestamp int64

// Timestamps that are no moments. TimestampZero is MySQL's 0000-00-00
// 00:00:00. The infinities are PostgreSQL's own.
const (
	TimestampInfinity    Timestamp = 1<<63 - 1
	TimestampNegInfinity Timestamp = -1 << 63
	TimestampZero        Timestamp = -1<<63 + 1
)

// UnixMicros is the number of microseconds from 1970-01-01 to 2000-01-01: a
// Timestamp plus UnixMicros counts from 1970, where that does not overflow.
const UnixMicros = UnixDays * Day

// Days that a Timestamp can express, whole.
const (
	minTimestampDay = -106751991
	maxTimestampDay = 106751990
)

// IsSpecial reports whether t is an infinity or TimestampZero.
func (t Timestamp) IsSpecial() bool { return t <= TimestampZero || t == TimestampInfinity }

// Split returns the day and the microseconds of that day; not for specials.
func (t Timestamp) Split() (Date, Time) {
	day := floorDiv(int64(t), Day)
	return Date(day), Time(int64(t) - day*Day)
}

// At returns the timestamp of a day, which may be special, and a time of it.
func (d Date) At(t Time) (Timestamp, error) {
	switch d {
	case DateInfinity:
		return TimestampInfinity, nil
	case DateNegInfinity:
		return TimestampNegInfinity, nil
	case DateZero:
		return TimestampZero, nil
	}
	if d < minTimestampDay || d > maxTimestampDay {
		return 0, errTimestampRng
	}
	return Timestamp(int64(d)*Day + int64(t)), nil
}

// ParseTimestamp reads a date as ParseDate does, alone (midnight) or followed by a
// space or T and the time HH:MM, HH:MM:SS or HH:MM:SS.fraction; 24:00:00 is
// the next midnight. An offset is refused. Also infinity and MySQL's zero. A
// fraction finer than a microsecond is ErrPrecision, and the timestamp
// returned is then cut towards the past.
func ParseTimestamp(b []byte) (Timestamp, error) {
	if len(b) >= 19 {
		if t, ok := plainTimestamp(b); ok {
			return t, nil
		}
	}
	m, err := parseWall(b, false)
	if err != nil {
		return 0, err
	}
	return m.timestamp()
}

// plainTimestamp is the short way for YYYY-MM-DD HH:MM:SS with up to six
// digits of a fraction; what is out of the ordinary goes the long way.
func plainTimestamp(b []byte) (Timestamp, bool) {
	_ = b[18]
	h0, h1, m0, m1, s0, s1 := b[11]-'0', b[12]-'0', b[14]-'0', b[15]-'0', b[17]-'0', b[18]-'0'
	if b[13] != ':' || b[16] != ':' || h0 > 2 || h1 > 9 || m0 > 5 || m1 > 9 || s0 > 5 || s1 > 9 || (b[10] != ' ' && b[10] != 'T') {
		return 0, false
	}
	hour := int64(h0)*10 + int64(h1)
	d, ok := plainDate(b)
	if !ok || hour > 23 {
		return 0, false
	}
	fraction := int64(0)
	if len(b) > 19 {
		if b[19] != '.' || len(b) < 21 || len(b) > 26 {
			return 0, false
		}
		for i := 20; i < 26; i++ {
			digit := byte(0)
			if i < len(b) {
				digit = b[i] - '0'
			}
			if digit > 9 {
				return 0, false
			}
			fraction = fraction*10 + int64(digit)
		}
	}
	minute, second := int64(m0)*10+int64(m1), int64(s0)*10+int64(s1)
	return Timestamp(int64(d)*Day + hour*Hour + minute*Minute + second*Second + fraction), true
}

// ParseInstant reads as ParseTimestamp does a date and a time, and then, with or
// without a space before, the offset from UTC that is needed: Z, UTC, +05,
// +05:30, +0530, +05:30:15. The result is in UTC.
func ParseInstant(b []byte) (Timestamp, error) {
	if n := len(b) - 3; n >= 19 && string(b[n:]) == "+00" {
		if t, ok := plainTimestamp(b[:n]); ok {
			return t, nil
		}
	}
	m, err := parseWall(b, true)
	if err != nil {
		return 0, err
	}
	return m.timestamp()
}

// parseWall reads a timestamp, or an instant, to the nanosecond.
func parseWall(b []byte, instant bool) (moment, error) {
	m, err := parseMoment(b)
	switch {
	case errors.Is(err, errTimestamp) && instant:
		return m, errInstant
	case err != nil:
		return m, err
	case m.offset && !instant:
		return m, errOffset
	case !m.offset && instant && !m.date.IsSpecial():
		return m, errNoOffset
	}
	return m, nil
}

// AppendTimestamp appends 2024-01-31 13:05:00.123456, trailing zeros of the
// fraction dropped, and " BC" behind where it is.
func AppendTimestamp(dst []byte, t Timestamp) []byte { return momentOf(t).append(dst, false) }

// AppendInstant appends as AppendTimestamp does, with +00 after the time.
func AppendInstant(dst []byte, t Timestamp) []byte { return momentOf(t).append(dst, true) }

// moment is a timestamp to the nanosecond.
type moment struct {
	date  Date  // may be special
	nanos int64 // of the day
	// offset says that the text had an offset; the moment is then in UTC.
	offset bool
}

func momentOf(t Timestamp) moment {
	switch t {
	case TimestampInfinity:
		return moment{date: DateInfinity}
	case TimestampNegInfinity:
		return moment{date: DateNegInfinity}
	case TimestampZero:
		return moment{date: DateZero}
	}
	d, clock := t.Split()
	return moment{date: d, nanos: int64(clock) * 1000}
}

func (m moment) timestamp() (Timestamp, error) {
	t, err := m.date.At(Time(m.nanos / 1000))
	if err == nil && m.nanos%1000 != 0 {
		err = errFraction
	}
	return t, err
}

func (m moment) append(dst []byte, instant bool) []byte {
	if m.date.IsSpecial() {
		dst = AppendDate(dst, m.date)
		if m.date != DateZero {
			return dst
		}
		dst = append(dst, " 00:00:00"...)
		if instant {
			dst = append(dst, "+00"...)
		}
		return dst
	}
	dst, bc := appendDay(dst, int64(m.date))
	dst = appendClock(append(dst, ' '), m.nanos)
	if instant {
		dst = append(dst, "+00"...)
	}
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// parseMoment reads a date, and a time and an offset where they follow.
func parseMoment(b []byte) (moment, error) {
	b = trim(b)
	if v := infinity(b); v > 0 {
		return moment{date: DateInfinity}, nil
	} else if v < 0 {
		return moment{date: DateNegInfinity}, nil
	}
	b, bc := cutBC(b)
	n, d, err := scanDate(b, bc)
	if err != nil {
		if errors.Is(err, errDate) {
			err = errTimestamp
		}
		return moment{}, err
	}
	m := moment{date: d}
	b = b[n:]
	if len(b) == 0 {
		return m, nil
	}
	if b[0] != ' ' && b[0]|0x20 != 't' {
		return moment{}, errTimestamp
	}
	m.nanos, n, err = scanClock(b[1:])
	if err != nil {
		if errors.Is(err, errTime) {
			err = errTimestamp
		}
		return moment{}, err
	}
	return m.shift(trim(b[n+1:]))
}

// shift takes the offset, which may be empty, into account.
func (m moment) shift(offset []byte) (moment, error) {
	if len(offset) > 0 {
		east, err := scanOffset(offset)
		if err != nil {
			if errors.Is(err, errOffsetForm) {
				err = errTimestamp
			}
			return moment{}, err
		}
		m.offset = true
		m.nanos -= int64(east) * nanosPerSecond
	}
	if m.date == DateZero {
		if m.nanos != 0 {
			return moment{}, errNoSuchDay
		}
		return m, nil
	}
	return m.carry()
}

// carry brings nanos into the day again.
func (m moment) carry() (moment, error) {
	if uint64(m.nanos) < nanosPerDay || m.date.IsSpecial() {
		return m, nil
	}
	days := floorDiv(m.nanos, nanosPerDay)
	date := int64(m.date) + days
	if date <= int64(DateZero) || date >= int64(DateInfinity) {
		return moment{}, errTimestampRng
	}
	m.date = Date(date)
	m.nanos -= days * nanosPerDay
	return m, nil
}
