package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

var (
	errDigits  = errors.New("has more digits than its column's type")
	errInteger = errors.New("is out of the range of its column's type")
	errBytes   = errors.New("is a number of more than 64 bytes")
)

// textOfInteger appends the canonical text of a value that is stored in four
// or eight bytes, which v holds with their sign; bits for floats.
type textOfInteger func(dst []byte, v int64) ([]byte, error)

// textOfBytes appends the canonical text of a value that is stored in bytes.
type textOfBytes func(dst, v []byte) ([]byte, error)

// integerText returns how the values of a leaf are told, which typeOf knows.
func integerText(e *format.Element) textOfInteger {
	l := &e.Logical
	switch {
	case e.Type == format.Boolean:
		return func(dst []byte, v int64) ([]byte, error) { return value.AppendBool(dst, v != 0), nil }
	case e.Type == format.Float:
		return func(dst []byte, v int64) ([]byte, error) {
			return value.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 32), nil
		}
	case e.Type == format.Double:
		return func(dst []byte, v int64) ([]byte, error) {
			return value.AppendFloat(dst, math.Float64frombits(uint64(v)), 64), nil
		}
	}
	switch l.Kind {
	case format.Integer:
		return wholeText(l)
	case format.Decimal:
		return decimalText(int(l.Precision), int(l.Scale))
	case format.Date:
		return dateText
	case format.Time:
		unit := nanosOf(l.Unit)
		return func(dst []byte, v int64) ([]byte, error) {
			if v < 0 || v >= value.Day*1000/unit {
				return dst, errTimeOfDay
			}
			return value.AppendTimeNanos(dst, v*unit), nil
		}
	case format.Timestamp:
		return momentText(l)
	}
	return func(dst []byte, v int64) ([]byte, error) { return strconv.AppendInt(dst, v, 10), nil }
}

func nanosOf(u format.Unit) int64 {
	switch u {
	case format.Millis:
		return 1e6
	case format.Micros:
		return 1e3
	}
	return 1
}

func wholeText(l *format.Logical) textOfInteger {
	if l.Signed {
		shift := 64 - uint(l.Bits)
		return func(dst []byte, v int64) ([]byte, error) {
			if v<<shift>>shift != v {
				return dst, errInteger
			}
			return strconv.AppendInt(dst, v, 10), nil
		}
	}
	if l.Bits == 64 {
		return func(dst []byte, v int64) ([]byte, error) { return strconv.AppendUint(dst, uint64(v), 10), nil }
	}
	return func(dst []byte, v int64) ([]byte, error) {
		u := uint64(uint32(v))
		if u>>l.Bits != 0 {
			return dst, errInteger
		}
		return strconv.AppendUint(dst, u, 10), nil
	}
}

func dateText(dst []byte, v int64) ([]byte, error) {
	d := v - value.UnixDays
	if d <= int64(value.DateZero) {
		return dst, errInteger
	}
	return value.AppendDate(dst, value.Date(d)), nil
}

// momentText tells timestamps of any unit that 64 bits hold.
func momentText(l *format.Logical) textOfInteger {
	unit := nanosOf(l.Unit)
	perDay := value.Day * 1000 / unit
	utc := l.UTC
	return func(dst []byte, v int64) ([]byte, error) {
		day := v / perDay
		rest := v - day*perDay
		if rest < 0 {
			day--
			rest += perDay
		}
		day -= value.UnixDays
		if day <= int64(value.DateZero) || day >= int64(value.DateInfinity) {
			return dst, errInteger
		}
		return value.AppendMoment(dst, value.Date(day), rest*unit, utc), nil
	}
}

// decimalText puts the point where the scale has it.
func decimalText(precision, scale int) textOfInteger {
	limit := uint64(math.MaxUint64)
	if precision < 20 {
		limit = 1
		for range precision {
			limit *= 10
		}
	}
	return func(dst []byte, v int64) ([]byte, error) {
		u := uint64(v)
		if v < 0 {
			u = -u
		}
		if u >= limit {
			return dst, errDigits
		}
		if v < 0 {
			dst = append(dst, '-')
		}
		var room [24]byte
		return appendPoint(dst, strconv.AppendUint(room[:0], u, 10), scale), nil
	}
}

func appendPoint(dst, digits []byte, scale int) []byte {
	if scale == 0 {
		return append(dst, digits...)
	}
	if len(digits) <= scale {
		dst = append(dst, '0', '.')
		for range scale - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	whole := len(digits) - scale
	dst = append(dst, digits[:whole]...)
	dst = append(dst, '.')
	return append(dst, digits[whole:]...)
}

// bytesText returns how the values of a leaf are told that are stored in
// bytes; nil when they are their own text.
func bytesText(e *format.Element) textOfBytes {
	switch {
	case e.Type == format.Int96:
		return int96Text
	case e.Logical.Kind == format.Decimal:
		return longDecimalText(int(e.Logical.Precision), int(e.Logical.Scale))
	case e.Type == format.ByteArray:
		switch e.Logical.Kind {
		case format.String, format.Enum, format.JSON:
			return checkedText
		}
		return nil
	}
	switch e.Logical.Kind {
	case format.UUID:
		return func(dst, v []byte) ([]byte, error) { return value.AppendUUID(dst, [16]byte(v)), nil }
	case format.Float16:
		return func(dst, v []byte) ([]byte, error) {
			return value.AppendFloat(dst, float64(halfFloat(binary.LittleEndian.Uint16(v))), 32), nil
		}
	case format.Interval:
		return intervalText
	}
	return nil
}

// isChecked reports whether the values of a leaf are their own text once they
// are found to be UTF-8.
func isChecked(e *format.Element) bool {
	k := e.Logical.Kind
	return e.Type == format.ByteArray && (k == format.String || k == format.Enum || k == format.JSON)
}

func checkedText(dst, v []byte) ([]byte, error) {
	if !value.ValidUTF8(v) {
		return dst, errUTF8
	}
	return append(dst, v...), nil
}

// int96Text tells the timestamps of older files: nanoseconds of a day, and the
// day's Julian number.
func int96Text(dst, v []byte) ([]byte, error) {
	const julian = 2451545 // 2000-01-01
	nanos := int64(binary.LittleEndian.Uint64(v))
	day := int64(int32(binary.LittleEndian.Uint32(v[8:]))) - julian
	if nanos < 0 || nanos >= value.Day*1000 || day <= int64(value.DateZero) {
		return dst, errInteger
	}
	return value.AppendMoment(dst, value.Date(day), nanos, false), nil
}

// intervalText tells months, days and milliseconds.
func intervalText(dst, v []byte) ([]byte, error) {
	months, days, millis := binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:]), binary.LittleEndian.Uint32(v[8:])
	if months > math.MaxInt32 || days > math.MaxInt32 {
		return dst, errInteger
	}
	return value.AppendInterval(dst, value.Interval{Months: int32(months), Days: int32(days), Micros: int64(millis) * 1000}), nil
}

// longDecimalText tells whole numbers of any length, highest byte first.
func longDecimalText(precision, scale int) textOfBytes {
	short := decimalText(min(precision, 19), scale)
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	var n, two big.Int
	var digits []byte
	return func(dst, v []byte) ([]byte, error) {
		switch {
		case len(v) > 64:
			return dst, errBytes
		case len(v) == 0:
			return dst, fmt.Errorf("has no bytes")
		}
		if low, ok := fits64(v); ok {
			return short(dst, low)
		}
		n.SetBytes(v)
		if v[0] >= 0x80 {
			n.Sub(&n, two.Lsh(big.NewInt(1), uint(8*len(v))))
			dst = append(dst, '-')
			n.Neg(&n)
		}
		if n.Cmp(limit) >= 0 {
			return dst, errDigits
		}
		digits = n.Append(digits[:0], 10)
		return appendPoint(dst, digits, scale), nil
	}
}

// fits64 returns a number that eight bytes hold.
func fits64(v []byte) (int64, bool) {
	sign := byte(0)
	if v[0] >= 0x80 {
		sign = 0xff
	}
	for len(v) > 8 {
		if v[0] != sign || (v[1] >= 0x80) != (sign != 0) {
			return 0, false
		}
		v = v[1:]
	}
	n := int64(int8(sign))
	for _, b := range v {
		n = n<<8 | int64(b)
	}
	return n, true
}

// halfFloat returns the value of a float of 16 bits.
func halfFloat(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10&31), uint32(h&1023)
	switch exponent {
	case 0:
		f := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
