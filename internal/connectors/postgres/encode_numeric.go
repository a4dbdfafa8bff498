package postgres

import (
	"encoding/binary"

	"github.com/leatdata/leat/batch/value"
)

// The signs of numeric's wire form, and its bounds.
const (
	numericNegative = 0x4000
	numericNaN      = 0xC000
	numericPosInf   = 0xD000
	numericNegInf   = 0xF000

	numericMaxWhole = 131072
	numericMaxScale = 16383
)

// appendNumeric sends digits of base 10000, those before the point and those
// behind it aligned at the point; zeros at either end are left out, and the
// number of decimal digits behind the point is told beside them.
func appendNumeric(e *encoder, dst, cell []byte) ([]byte, error) {
	if dst, ok := e.appendPlain(dst, cell); ok {
		return dst, nil
	}
	d, err := value.SplitDecimal(cell)
	if err != nil {
		return dst, err
	}
	if err := value.FitsDecimal(&d, e.precision, e.scale); err != nil {
		return dst, err
	}
	if d.Exp != 0 {
		e.scratch = value.AppendDecimal(e.scratch[:0], &d)
		if d, err = value.SplitDecimal(e.scratch); err != nil {
			return dst, err
		}
	}
	switch d.Special {
	case value.NaN:
		return numericHeader(dst, 0, 0, numericNaN, 0), nil
	case value.PosInf:
		return numericHeader(dst, 0, 0, numericPosInf, 0), nil
	case value.NegInf:
		return numericHeader(dst, 0, 0, numericNegInf, 0), nil
	}
	return appendDigits(dst, &d)
}

// plainDigits is how many digits of a number fit a uint64 with three zeros
// behind them.
const plainDigits = 16

// plainNumber reads a number that is written the usual way: a minus sign or
// none, up to so many digits, a point behind one of them or none. v is all
// digits as a whole number; whole and scale say how many stand before and
// behind the point.
func plainNumber(cell []byte, most int) (v uint64, whole, scale int, neg, ok bool) {
	digits := cell
	if len(digits) > 0 && digits[0] == '-' {
		neg, digits = true, digits[1:]
	}
	if len(digits) == 0 || len(digits) > most+1 {
		return 0, 0, 0, neg, false
	}
	point := -1
	for i, c := range digits {
		if d := c - '0'; d <= 9 {
			v = v*10 + uint64(d)
		} else if c == '.' && point < 0 && i > 0 {
			point = i
		} else {
			return 0, 0, 0, neg, false
		}
	}
	whole = len(digits)
	if point >= 0 {
		whole, scale = point, len(digits)-point-1
	}
	return v, whole, scale, neg, whole+scale <= most
}

// appendPlain is appendNumeric for the usual number; others are left to it.
func (e *encoder) appendPlain(dst, cell []byte) ([]byte, bool) {
	v, whole, scale, neg, ok := plainNumber(cell, plainDigits)
	if !ok || e.precision > 0 && (scale > e.scale || whole > e.precision-e.scale) {
		return dst, false
	}
	sign := uint64(0)
	if neg {
		sign = numericNegative
	}
	if v == 0 {
		return append(dst, 0, 0, 0, 0, 0, 0, byte(scale>>8), byte(scale)), true
	}
	weight := -1
	switch scale & 3 {
	case 1:
		v *= 1000
	case 2:
		v *= 100
	case 3:
		v *= 10
	}
	weight -= (scale + 3) >> 2
	// At most five groups of four digits, from the last; zeros at the end go.
	var groups [5]uint16
	first := len(groups)
	last := first
	for ; v > 0; weight++ {
		g := uint16(v % 10000)
		v /= 10000
		if g == 0 && first == last {
			continue
		}
		first--
		groups[first] = g
	}
	n := last - first
	dst = binary.BigEndian.AppendUint64(dst, uint64(n)<<48|uint64(uint16(weight))<<32|sign<<16|uint64(scale))
	for _, g := range groups[first:] {
		dst = append(dst, byte(g>>8), byte(g))
	}
	return dst, true
}

func appendDigits(dst []byte, d *value.Decimal) ([]byte, error) {
	whole, frac := d.Int, d.Frac
	for len(whole) > 0 && whole[0] == '0' {
		whole = whole[1:]
	}
	if len(whole) > numericMaxWhole || len(frac) > numericMaxScale {
		return dst, errDigits
	}
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	digits := len(dst)
	weight := (len(whole)+3)/4 - 1
	// The first group may be short: 1|2345.
	for n := (len(whole)-1)%4 + 1; len(whole) > 0; n = 4 {
		dst = appendGroup(dst, whole[:n], 0)
		whole = whole[n:]
	}
	for f := frac; len(f) > 0; {
		n := min(4, len(f))
		dst = appendGroup(dst, f[:n], 4-n)
		f = f[n:]
	}
	for len(dst) > digits && dst[len(dst)-1] == 0 && dst[len(dst)-2] == 0 {
		dst = dst[:len(dst)-2]
	}
	lead := digits
	for lead < len(dst) && dst[lead] == 0 && dst[lead+1] == 0 {
		lead += 2
		weight--
	}
	if lead > digits {
		dst = append(dst[:digits], dst[lead:]...)
	}
	count, sign := (len(dst)-digits)/2, 0
	switch {
	case count == 0:
		weight = 0
	case d.Neg:
		sign = numericNegative
	}
	numericHeader(dst[:start], count, weight, sign, len(frac))
	return dst, nil
}

// appendGroup appends one digit of base 10000: digits, then so many zeros.
func appendGroup(dst, digits []byte, zeros int) []byte {
	n := 0
	for _, c := range digits {
		n = n*10 + int(c-'0')
	}
	for range zeros {
		n *= 10
	}
	return append(dst, byte(n>>8), byte(n))
}

func numericHeader(dst []byte, count, weight, sign, scale int) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(count))
	dst = binary.BigEndian.AppendUint16(dst, uint16(weight))
	dst = binary.BigEndian.AppendUint16(dst, uint16(sign))
	return binary.BigEndian.AppendUint16(dst, uint16(scale))
}
