package value

import "github.com/leatdata/leat/batch"

// betweenTimes converts from one of the kinds of time to another kind.
func betweenTimes(from batch.Kind, to batch.Type, cast bool) (Converter, bool) {
	keep := func(nanos int64) int64 {
		if cast {
			return roundNanos(nanos, to.Fraction)
		}
		return nanos
	}
	switch from {
	case batch.Date, batch.Timestamp, batch.Instant:
		return fromMoment(from, to, cast, keep)
	case batch.Time:
		return fromTime(to, keep)
	case batch.TimeTZ:
		if to.Kind == batch.Time {
			return dropOffset(cast, keep), true
		}
	case batch.Interval:
		if to.Kind == batch.Time {
			return intervalTime(keep), true
		}
	}
	return nil, false
}

// fromMoment converts what has a day. A wall clock is taken as UTC's.
func fromMoment(from batch.Kind, to batch.Type, cast bool, keep func(int64) int64) (Converter, bool) {
	read := func(cell []byte) (moment, error) { return parseWall(cell, from == batch.Instant) }
	switch to.Kind {
	case batch.Timestamp, batch.Instant:
		return func(dst, cell []byte) ([]byte, error) {
			m, err := read(cell)
			if err == nil {
				m.nanos = keep(m.nanos)
				m, err = m.carry()
			}
			if err != nil {
				return dst, err
			}
			return m.append(dst, to.Kind == batch.Instant), nil
		}, true
	case batch.Date:
		return func(dst, cell []byte) ([]byte, error) {
			m, err := read(cell)
			switch {
			case err != nil:
				return dst, err
			case m.nanos != 0 && !cast:
				return dst, errHasTime
			}
			return AppendDate(dst, m.date), nil
		}, true
	case batch.Time, batch.TimeTZ:
		return func(dst, cell []byte) ([]byte, error) {
			m, err := read(cell)
			switch {
			case err != nil:
				return dst, err
			case m.date.IsSpecial():
				return dst, errNoSuchTime
			}
			dst = appendClock(dst, keep(m.nanos))
			if to.Kind == batch.TimeTZ {
				dst = append(dst, "+00:00"...)
			}
			return dst, nil
		}, cast && from != batch.Date && (to.Kind == batch.Time || from == batch.Instant)
	}
	return nil, false
}

func fromTime(to batch.Type, keep func(int64) int64) (Converter, bool) {
	switch to.Kind {
	case batch.TimeTZ:
		return func(dst, cell []byte) ([]byte, error) {
			nanos, _, err := parseTime(cell)
			switch {
			case err != nil:
				return dst, err
			case nanos < 0 || nanos > nanosPerDay:
				return dst, errNoSuchTime
			}
			return append(appendClock(dst, keep(nanos)), "+00:00"...), nil
		}, true
	case batch.Interval:
		return func(dst, cell []byte) ([]byte, error) {
			t, err := ParseTime(cell)
			if err != nil {
				return dst, err
			}
			return AppendInterval(dst, Interval{Micros: int64(t)}), nil
		}, true
	}
	return nil, false
}

// dropOffset takes times of offset zero; with cast any.
func dropOffset(cast bool, keep func(int64) int64) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		nanos, offset, err := parseTimeTZ(cell)
		switch {
		case err != nil:
			return dst, err
		case offset != 0 && !cast:
			return dst, errHasOffset
		}
		return appendClock(dst, keep(nanos)), nil
	}
}

func intervalTime(keep func(int64) int64) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		v, err := ParseInterval(cell)
		switch {
		case err != nil:
			return dst, err
		case v.Months != 0 || v.Days != 0:
			return dst, errHasDays
		case v.Micros/Hour > 999999 || v.Micros/Hour < -999999:
			return dst, errTimeRange
		}
		return appendClock(dst, keep(v.Micros*1000)), nil
	}
}
