package value

import (
	"errors"
	"strconv"
)

// ParseInt reads a whole decimal number of that many bits, 1 to 64. A sign,
// leading zeros and spaces around are fine; a point or an exponent is not.
func ParseInt(b []byte, bits int) (int64, error) {
	neg, u, err := magnitude(b)
	if err != nil {
		if errors.Is(err, errInt64) {
			err = intRange(bits)
		}
		return 0, err
	}
	limit := uint64(1) << (bits - 1)
	if neg {
		if u > limit {
			return 0, intRange(bits)
		}
		return -int64(u), nil
	}
	if u >= limit {
		return 0, intRange(bits)
	}
	return int64(u), nil
}

// ParseUint reads a whole decimal number from 0 of that many bits, as
// ParseInt does. A negative number is out of range.
func ParseUint(b []byte, bits int) (uint64, error) {
	neg, u, err := magnitude(b)
	if err != nil {
		if errors.Is(err, errInt64) {
			err = uintRange(bits)
		}
		return 0, err
	}
	if (neg && u != 0) || (bits < 64 && u>>bits != 0) {
		return 0, uintRange(bits)
	}
	return u, nil
}

// AppendInt appends v in decimal.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// AppendUint appends v in decimal.
func AppendUint(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) }

// magnitude reads sign and digits; more than a uint64 is errInt64.
func magnitude(b []byte) (neg bool, u uint64, err error) {
	b = trim(b)
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 {
		return false, 0, errInteger
	}
	if len(b) > 19 {
		return long(neg, b)
	}
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return false, 0, errInteger
		}
		u = u*10 + uint64(d)
	}
	return neg, u, nil
}

// long is magnitude for more than the 19 digits that cannot overflow.
func long(neg bool, b []byte) (bool, uint64, error) {
	if digits(b) != len(b) {
		return false, 0, errInteger
	}
	for len(b) > 0 && b[0] == '0' {
		b = b[1:]
	}
	if len(b) > 20 {
		return false, 0, errInt64
	}
	var u uint64
	for i, c := range b {
		d := uint64(c - '0')
		if i == 19 && (u > (1<<64-1)/10 || u*10 > 1<<64-1-d) {
			return false, 0, errInt64
		}
		u = u*10 + d
	}
	return neg, u, nil
}

func intRange(bits int) error {
	switch bits {
	case 8:
		return errInt8
	case 16:
		return errInt16
	case 32:
		return errInt32
	case 64:
		return errInt64
	}
	return errRange
}

func uintRange(bits int) error {
	switch bits {
	case 8:
		return errUint8
	case 16:
		return errUint16
	case 32:
		return errUint32
	case 64:
		return errUint64
	}
	return errRange
}
