package parquet

import (
	"encoding/binary"
	"math/bits"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// decimalValue writes decimals as whole numbers of their last digit: in four
// or eight bytes, or in as many as their precision asks for, highest first.
func decimalValue(t batch.Type) appendValue {
	precision, scale := t.Precision, t.Scale
	if precision > 18 {
		return longDecimalValue(precision, scale)
	}
	return func(dst, cell []byte) ([]byte, error) {
		v, ok := shortDecimal(cell, precision, scale)
		if !ok {
			_, low, err := unscaled(cell, precision, scale)
			if err != nil {
				return dst, err
			}
			v = int64(low)
		}
		if precision <= 9 {
			return append32(dst, int32(v)), nil
		}
		return append64(dst, v), nil
	}
}

// shortDecimal is the short way for a canonical text of all digits of the
// scale; what is out of the ordinary goes the long way.
func shortDecimal(cell []byte, precision, scale int) (v int64, ok bool) {
	neg := len(cell) > 0 && cell[0] == '-'
	if neg {
		cell = cell[1:]
	}
	whole := len(cell)
	if scale > 0 {
		whole -= scale + 1
		if whole < 1 || cell[whole] != '.' {
			return 0, false
		}
	}
	if whole < 1 || whole > precision-scale {
		return 0, false
	}
	for _, c := range cell[:whole] {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + int64(d)
	}
	for _, c := range cell[min(whole+1, len(cell)):] {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		v = v*10 + int64(d)
	}
	if neg {
		v = -v
	}
	return v, true
}

func longDecimalValue(precision, scale int) appendValue {
	size := int(decimalLength(precision))
	return func(dst, cell []byte) ([]byte, error) {
		high, low, err := unscaled(cell, precision, scale)
		if err != nil {
			return dst, err
		}
		var b [16]byte
		binary.BigEndian.PutUint64(b[:8], high)
		binary.BigEndian.PutUint64(b[8:], low)
		return append(dst, b[16-size:]...), nil
	}
}

// unscaled reads a decimal as a whole number of 128 bits.
func unscaled(cell []byte, precision, scale int) (high, low uint64, err error) {
	d, err := value.SplitDecimal(cell)
	if err != nil {
		return 0, 0, err
	}
	if d.Special != 0 {
		return 0, 0, errSpecial
	}
	if err := value.FitsDecimal(&d, precision, scale); err != nil {
		return 0, 0, err
	}
	var room [64]byte
	for _, c := range value.AppendDecimalScale(room[:0], &d, scale) {
		if c < '0' || c > '9' {
			continue
		}
		over, product := bits.Mul64(low, 10)
		high = high*10 + over
		var carry uint64
		low, carry = bits.Add64(product, uint64(c-'0'), 0)
		high += carry
	}
	if d.Neg {
		var borrow uint64
		low, borrow = bits.Sub64(0, low, 0)
		high, _ = bits.Sub64(0, high, borrow)
	}
	return high, low, nil
}
