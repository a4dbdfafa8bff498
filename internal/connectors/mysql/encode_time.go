package mysql

import (
	"github.com/leatdata/leat/batch/value"
)

// maxTime is the longest TIME; MariaDB has all of its last second, and MySQL
// judges that itself.
const maxTime = 839*value.Hour - 1

func appendDate(_ *encoder, dst, cell []byte) ([]byte, error) {
	if len(cell) == 10 && plainDate(cell) {
		return append(dst, cell...), nil
	}
	d, err := value.ParseDate(cell)
	if err == nil {
		err = checkDate(d)
	}
	return value.AppendDate(dst, d), err
}

// checkDate refuses the days that MySQL has no date for.
func checkDate(d value.Date) error {
	if d == value.DateZero {
		return nil
	}
	if d.IsSpecial() {
		return errNotFinite
	}
	if year, _, _ := d.Civil(); year < 1 || year > 9999 {
		return errDateRange
	}
	return nil
}

func appendTime(e *encoder, dst, cell []byte) ([]byte, error) {
	if e.plainClock(cell) {
		return append(dst, cell...), nil
	}
	t, err := value.ParseTime(cell)
	switch {
	case err != nil:
	case int64(t) > maxTime || int64(t) < -maxTime:
		err = errTimeRange
	case int64(t)%e.unit != 0:
		err = errRounded
	}
	return value.AppendTime(dst, t), err
}

func appendDatetime(e *encoder, dst, cell []byte) ([]byte, error) {
	if e.plainStamp(cell) {
		return append(dst, cell...), nil
	}
	t, err := value.ParseTimestamp(cell)
	if err == nil {
		err = e.checkMoment(t)
	}
	return value.AppendTimestamp(dst, t), err
}

// appendMoment is appendDatetime for a moment, told in UTC and without a zone.
func appendMoment(e *encoder, dst, cell []byte) ([]byte, error) {
	if bare, ok := cutUTC(cell); ok && e.last == 0 && e.plainStamp(bare) {
		return append(dst, bare...), nil
	}
	t, err := value.ParseInstant(cell)
	if err == nil {
		err = e.checkMoment(t)
	}
	return value.AppendTimestamp(dst, t), err
}

func cutUTC(cell []byte) ([]byte, bool) {
	n := len(cell)
	if n < 3 || string(cell[n-3:]) != "+00" {
		return cell, false
	}
	return cell[:n-3], true
}

// checkMoment refuses what a column would change; TIMESTAMP holds less than
// DATETIME does.
func (e *encoder) checkMoment(t value.Timestamp) error {
	if t == value.TimestampZero {
		return nil
	}
	if t == value.TimestampInfinity || t == value.TimestampNegInfinity {
		return errNotFinite
	}
	if int64(t)%e.unit != 0 {
		return errRounded
	}
	if e.last != 0 {
		if t < firstStamp || t > e.last {
			return errStampRange
		}
		return nil
	}
	if t < firstMoment || t >= endMoment {
		return errDateRange
	}
	return nil
}

// The bounds of DATETIME and TIMESTAMP, in microseconds since 2000-01-01.
const (
	firstMoment value.Timestamp = -63082281600 * value.Timestamp(value.Second) // 0001-01-01
	endMoment   value.Timestamp = 252455616000 * value.Timestamp(value.Second) // 10000-01-01
	firstStamp  value.Timestamp = value.Timestamp(value.Second) - value.Timestamp(value.UnixMicros)
	// lastStamp is 2038-01-19 03:14:07.999999, lastStamp64 2106-02-07 06:28:15.999999.
	lastStamp   value.Timestamp = (1<<31)*value.Timestamp(value.Second) - 1 - value.Timestamp(value.UnixMicros)
	lastStamp64 value.Timestamp = (1<<32)*value.Timestamp(value.Second) - 1 - value.Timestamp(value.UnixMicros)
)

// plainStamp reports whether a cell is a date, a space and a time of day as
// the column keeps it.
func (e *encoder) plainStamp(cell []byte) bool {
	return len(cell) >= 19 && cell[10] == ' ' && plainDate(cell[:10]) && e.plainClock(cell[11:])
}

// plainDate reports whether ten bytes are a date of a year from 1 on; February
// 29 is left to who knows of leap years.
func plainDate(cell []byte) bool {
	if cell[4] != '-' || cell[7] != '-' {
		return false
	}
	century, ok1 := twoDigits(cell[0:])
	year, ok2 := twoDigits(cell[2:])
	month, ok3 := twoDigits(cell[5:])
	day, ok4 := twoDigits(cell[8:])
	const longMonths = 1<<1 | 1<<3 | 1<<5 | 1<<7 | 1<<8 | 1<<10 | 1<<12
	last := 30 + uint(longMonths>>(month&15)&1)
	if month == 2 {
		last = 28
	}
	return ok1 && ok2 && ok3 && ok4 && century+year > 0 && month-1 < 12 && day-1 < last
}

// plainClock reports whether a cell is a time of day, with no more digits of a
// second's fraction than the column keeps.
func (e *encoder) plainClock(cell []byte) bool {
	if len(cell) < 8 || cell[2] != ':' || cell[5] != ':' {
		return false
	}
	hour, ok1 := twoDigits(cell[0:])
	minute, ok2 := twoDigits(cell[3:])
	second, ok3 := twoDigits(cell[6:])
	if !ok1 || !ok2 || !ok3 || hour > 23 || minute > 59 || second > 59 {
		return false
	}
	fraction := cell[8:]
	if len(fraction) == 0 {
		return true
	}
	if fraction[0] != '.' || len(fraction) == 1 || len(fraction)-1 > e.fraction {
		return false
	}
	for _, c := range fraction[1:] {
		if c-'0' > 9 {
			return false
		}
	}
	return true
}

func twoDigits(b []byte) (uint, bool) {
	tens, ones := uint(b[0]-'0'), uint(b[1]-'0')
	return tens*10 + ones, tens <= 9 && ones <= 9
}
