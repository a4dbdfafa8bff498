package postgres

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/leatdata/leat/batch/value"
)

// wireDecoder appends the canonical text of a value in its binary wire form.
type wireDecoder func(dst, wire []byte) ([]byte, error)

var errWire = errors.New("not the binary form of its type")

// wireDecoderOf returns the decoder of a type, nil for one that has none here.
func wireDecoderOf(t *typeInfo) wireDecoder {
	t, _ = t.under(-1)
	if t.kind == 'e' {
		return wireText
	}
	switch t.oid {
	case oidText, oidVarchar, oidBpchar, oidJSON, oidBytea:
		return wireText
	case oidJSONB:
		return wireJSONB
	case oidBool:
		return fixed(1, func(dst, w []byte) []byte { return value.AppendBool(dst, w[0] != 0) })
	case oidInt2:
		return fixed(2, func(dst, w []byte) []byte { return value.AppendInt(dst, int64(int16(binary.BigEndian.Uint16(w)))) })
	case oidInt4:
		return fixed(4, func(dst, w []byte) []byte { return value.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(w)))) })
	case oidInt8:
		return fixed(8, func(dst, w []byte) []byte { return value.AppendInt(dst, int64(binary.BigEndian.Uint64(w))) })
	case oidFloat4:
		return fixed(4, func(dst, w []byte) []byte {
			return value.AppendFloat(dst, float64(math.Float32frombits(binary.BigEndian.Uint32(w))), 32)
		})
	case oidFloat8:
		return fixed(8, func(dst, w []byte) []byte {
			return value.AppendFloat(dst, math.Float64frombits(binary.BigEndian.Uint64(w)), 64)
		})
	case oidNumeric:
		return wireNumeric
	case oidUUID:
		return fixed(16, func(dst, w []byte) []byte { return value.AppendUUID(dst, [16]byte(w)) })
	}
	return wireTime(t.oid)
}

// wireTime returns the decoders of dates and times.
func wireTime(o oid) wireDecoder {
	switch o {
	case oidDate:
		return fixed(4, func(dst, w []byte) []byte { return value.AppendDate(dst, value.Date(binary.BigEndian.Uint32(w))) })
	case oidTime:
		return fixed(8, func(dst, w []byte) []byte { return value.AppendTime(dst, value.Time(binary.BigEndian.Uint64(w))) })
	case oidTimeTZ:
		return fixed(12, func(dst, w []byte) []byte {
			t := value.TimeTZ{Time: value.Time(binary.BigEndian.Uint64(w)), Offset: -int32(binary.BigEndian.Uint32(w[8:]))}
			return value.AppendTimeTZ(dst, t)
		})
	case oidTimestamp:
		return fixed(8, func(dst, w []byte) []byte {
			return value.AppendTimestamp(dst, value.Timestamp(binary.BigEndian.Uint64(w)))
		})
	case oidTimestampTZ:
		return fixed(8, func(dst, w []byte) []byte {
			return value.AppendInstant(dst, value.Timestamp(binary.BigEndian.Uint64(w)))
		})
	}
	return nil
}

// fixed makes a decoder of values that have one length.
func fixed(length int, decode func(dst, wire []byte) []byte) wireDecoder {
	return func(dst, wire []byte) ([]byte, error) {
		if len(wire) != length {
			return dst, errWire
		}
		return decode(dst, wire), nil
	}
}

func wireText(dst, wire []byte) ([]byte, error) { return append(dst, wire...), nil }

// wireJSONB leaves the version away.
func wireJSONB(dst, wire []byte) ([]byte, error) {
	if len(wire) == 0 || wire[0] != 1 {
		return dst, errWire
	}
	return append(dst, wire[1:]...), nil
}

// numericHead is the length of what stands before a numeric's digits.
const numericHead = 8

// wireNumeric decodes a numeric: the number of its digits to the base 10000,
// the exponent of the first, the sign, the digits behind the point, the digits.
func wireNumeric(dst, wire []byte) ([]byte, error) {
	if len(wire) < numericHead {
		return dst, errWire
	}
	count, weight := int(binary.BigEndian.Uint16(wire)), int(int16(binary.BigEndian.Uint16(wire[2:])))
	sign, scale := binary.BigEndian.Uint16(wire[4:]), int(binary.BigEndian.Uint16(wire[6:]))
	digits := wire[numericHead:]
	if len(digits) != 2*count {
		return dst, errWire
	}
	switch sign {
	case 0:
	case numericNegative:
		dst = append(dst, '-')
	default:
		return wireSpecial(dst, sign)
	}
	// group returns the digits with the exponent e.
	group := func(e int) uint64 {
		if i := weight - e; i >= 0 && i < count {
			return uint64(binary.BigEndian.Uint16(digits[2*i:]))
		}
		return 0
	}
	dst = strconv.AppendUint(dst, group(max(weight, 0)), 10)
	for e := max(weight, 0) - 1; e >= 0; e-- {
		dst = append4(dst, group(e))
	}
	if scale == 0 {
		return dst, nil
	}
	dst = append(dst, '.')
	end := len(dst) + scale
	for e := -1; len(dst) < end; e-- {
		dst = append4(dst, group(e))
	}
	return dst[:end], nil
}

func wireSpecial(dst []byte, sign uint16) ([]byte, error) {
	switch sign {
	case numericNaN:
		return append(dst, "NaN"...), nil
	case numericPosInf:
		return append(dst, "Infinity"...), nil
	case numericNegInf:
		return append(dst, "-Infinity"...), nil
	}
	return dst, errWire
}

// append4 appends four digits.
func append4(dst []byte, n uint64) []byte {
	return append(dst, byte('0'+n/1000), byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}
