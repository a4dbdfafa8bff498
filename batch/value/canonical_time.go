package value

import (
	"math"

	"github.com/leatdata/leat/batch"
)

// FitsFraction returns nil when microseconds have no more digits of a
// second's fraction than a type with that batch.Type.Fraction keeps: digits
// plus one, 0 when unknown. Else ErrPrecision.
func FitsFraction(micros int64, fraction int) error {
	return fitsNanos(micros%Second*1000, fraction)
}

func fitsNanos(nanos int64, fraction int) error {
	if unit := fractionUnit(fraction); unit > 1 && nanos%unit != 0 {
		return errSeconds
	}
	return nil
}

// fractionUnit returns the nanoseconds of the last digit kept.
func fractionUnit(fraction int) int64 {
	if fraction == 0 {
		return 1
	}
	unit := int64(1)
	for i := fraction - 1; i < 9; i++ {
		unit *= 10
	}
	return unit
}

// roundNanos rounds to the nearest that is kept, halves to the later.
func roundNanos(nanos int64, fraction int) int64 {
	unit := fractionUnit(fraction)
	if unit == 1 {
		return nanos
	}
	return floorDiv(nanos+unit/2, unit) * unit
}

// canonicalClock makes the converter of the kinds that have a time.
func canonicalClock(k batch.Kind, fraction int, round bool) Converter {
	keep := func(nanos int64) (int64, error) {
		if round {
			return roundNanos(nanos, fraction), nil
		}
		return nanos, fitsNanos(nanos, fraction)
	}
	switch k {
	case batch.Time:
		return func(dst, cell []byte) ([]byte, error) {
			nanos, _, err := parseTime(cell)
			if err == nil {
				nanos, err = keep(nanos)
			}
			if err != nil {
				return dst, err
			}
			return appendClock(dst, nanos), nil
		}
	case batch.TimeTZ:
		return func(dst, cell []byte) ([]byte, error) {
			nanos, offset, err := parseTimeTZ(cell)
			if err == nil {
				nanos, err = keep(nanos)
			}
			if err != nil {
				return dst, err
			}
			return appendOffset(appendClock(dst, nanos), offset, true), nil
		}
	}
	instant := k == batch.Instant
	return func(dst, cell []byte) ([]byte, error) {
		m, err := parseWall(cell, instant)
		if err == nil {
			m.nanos, err = keep(m.nanos)
		}
		if err == nil {
			m, err = m.carry()
		}
		if err != nil {
			return dst, err
		}
		return m.append(dst, instant), nil
	}
}

func canonicalInterval(fraction int, round bool) Converter {
	unit := fractionUnit(fraction) / 1000
	return func(dst, cell []byte) ([]byte, error) {
		v, err := ParseInterval(cell)
		if err != nil {
			return dst, err
		}
		if unit > 1 && v.Micros%unit != 0 && !v.IsSpecial() {
			if !round {
				return dst, errSeconds
			}
			if v.Micros > math.MaxInt64-unit {
				return dst, errIntervalRange
			}
			v.Micros = floorDiv(v.Micros+unit/2, unit) * unit
		}
		return AppendInterval(dst, v), nil
	}
}
