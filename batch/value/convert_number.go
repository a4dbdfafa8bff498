package value

import (
	"math"
	"strconv"

	"github.com/leatdata/leat/batch"
)

func fromBool(to batch.Type) (Converter, bool) {
	if !to.Kind.IsInteger() && !to.Kind.IsFloat() && to.Kind != batch.Decimal && to.Kind != batch.Bit {
		return nil, false
	}
	scale := 0
	if to.Kind == batch.Decimal && to.Precision > 0 {
		scale = max(0, to.Scale)
	}
	zero, one := Decimal{Int: []byte("0")}, Decimal{Int: []byte("1")}
	return func(dst, cell []byte) ([]byte, error) {
		v, err := ParseBool(cell)
		switch {
		case err != nil:
			return dst, err
		case v:
			return AppendDecimalScale(dst, &one, scale), nil
		}
		return AppendDecimalScale(dst, &zero, scale), nil
	}, true
}

// numberBool takes exactly 0 and 1.
func numberBool(dst, cell []byte) ([]byte, error) {
	d, err := SplitDecimal(cell)
	if err != nil {
		return dst, err
	}
	one := d.first() == d.last() && d.first() == d.point()-1 && d.digit(d.first()) == '1' && !d.Neg
	if !d.Zero() && !(one && d.Special == Finite) {
		return dst, errBoolNumber
	}
	return AppendBool(dst, one), nil
}

func fromInteger(to batch.Type, cast bool) (Converter, bool) {
	switch k := to.Kind; {
	case k.IsInteger():
		return nil, true
	case k == batch.Decimal:
		return narrowed(to, cast)
	case k == batch.Bool:
		return numberBool, true
	case k == batch.Bit:
		return integerBit(to), true
	case k.IsFloat():
		return decimalFloat(bitsOf(k), cast), true
	}
	return nil, false
}

func fromDecimal(to batch.Type, cast bool) (Converter, bool) {
	switch k := to.Kind; {
	case k.IsInteger():
		return decimalInteger(k, cast), true
	case k == batch.Bool:
		return numberBool, true
	case k.IsFloat():
		return decimalFloat(bitsOf(k), cast), true
	}
	return nil, false
}

// decimalInteger keeps whole numbers; with cast it rounds others.
func decimalInteger(k batch.Kind, cast bool) Converter {
	check := integerCheck(k)
	return func(dst, cell []byte) ([]byte, error) {
		d, err := SplitDecimal(cell)
		switch {
		case err != nil:
			return dst, err
		case d.Special != Finite:
			return dst, errNotFinite
		case !cast && !d.Whole():
			return dst, errNotWhole
		}
		start := len(dst)
		dst = appendRounded(dst, &d, 0)
		if err := check(dst[start:]); err != nil {
			return dst[:start], err
		}
		return dst, nil
	}
}

func integerCheck(k batch.Kind) func(b []byte) error {
	bits := bitsOf(k)
	if k >= batch.Uint8 {
		return func(b []byte) error { _, err := ParseUint(b, bits); return err }
	}
	return func(b []byte) error { _, err := ParseInt(b, bits); return err }
}

// decimalFloat keeps numbers that are floats; with cast it takes the nearest.
func decimalFloat(bits int, cast bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		d, err := SplitDecimal(cell)
		if err != nil {
			return dst, err
		}
		if d.Special != Finite {
			return AppendDecimal(dst, &d), nil
		}
		f, err := d.float(trim(cell), bits)
		if err != nil {
			return dst, err
		}
		if !cast && !d.isFloat(f, bits) {
			return dst, notFloat(bits)
		}
		return AppendFloat(dst, f, bits), nil
	}
}

func notFloat(bits int) error {
	if bits == 32 {
		return errNotFloat32
	}
	return errNotFloat64
}

// isFloat reports whether a finite number is exactly f, the nearest float.
// With N the digits up to the last that is not zero, the number is N × 10^e;
// it is a float when it has a power of two as denominator and few enough bits.
func (d *Decimal) isFloat(f float64, bits int) bool {
	first, last := d.first(), d.last()
	if first > last {
		return true
	}
	if last-first >= 19 {
		return d.isExpansion(f)
	}
	var n uint64
	for i := first; i <= last; i++ {
		n = n*10 + uint64(d.digit(i)-'0')
	}
	for n&1 == 0 {
		n >>= 1
	}
	limit := uint64(1) << 53
	if bits == 32 {
		limit = 1 << 24
	}
	e := d.point() - 1 - last
	for ; e < 0; e++ {
		if n%5 != 0 {
			return false
		}
		n /= 5
	}
	for ; e > 0 && n < limit; e-- {
		n *= 5
	}
	return n < limit
}

// isExpansion compares all digits of f, of which a float64 has at most 767.
func (d *Decimal) isExpansion(f float64) bool {
	var buf [800]byte
	text := strconv.AppendFloat(buf[:0], math.Abs(f), 'e', 766, 64)
	full, err := SplitDecimal(text)
	if err != nil {
		return false
	}
	first, last := d.first(), d.last()
	if full.first()-full.point() != first-d.point() || full.last()-full.point() != last-d.point() {
		return false
	}
	for i := first; i <= last; i++ {
		if d.digit(i) != full.digit(i-d.point()+full.point()) {
			return false
		}
	}
	return true
}

func fromFloat(bits int, to batch.Type, cast bool) (Converter, bool) {
	switch k := to.Kind; {
	case k.IsFloat():
		return floatFloat(bits, bitsOf(k), cast), true
	case k.IsInteger():
		return floatInteger(bits, k, cast), true
	case k == batch.Decimal:
		return floatDecimal(bits, to, cast), true
	}
	return nil, false
}

// floatFloat keeps the value: the shortest text of a float32 means another
// value when it is read as a float64.
func floatFloat(from, to int, cast bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		f, err := ParseFloat(cell, from)
		if err != nil {
			return dst, err
		}
		if to == 32 && !math.IsNaN(f) && float64(float32(f)) != f {
			switch g := float64(float32(f)); {
			case math.IsInf(g, 0), g == 0:
				return dst, errFloat32
			case !cast:
				return dst, errNotFloat32
			}
		}
		return AppendFloat(dst, f, to), nil
	}
}

func floatInteger(from int, k batch.Kind, cast bool) Converter {
	bits := bitsOf(k)
	low, high := -math.Ldexp(1, bits-1), math.Ldexp(1, bits-1)
	rangeError := intRange(bits)
	if k >= batch.Uint8 {
		low, high = 0, math.Ldexp(1, bits)
		rangeError = uintRange(bits)
	}
	return func(dst, cell []byte) ([]byte, error) {
		f, err := ParseFloat(cell, from)
		if err != nil {
			return dst, err
		}
		whole := math.Round(f)
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			return dst, errNotFinite
		case whole != f && !cast:
			return dst, errNotWhole
		case whole < low || whole >= high:
			return dst, rangeError
		case whole < 0:
			return AppendInt(dst, int64(whole)), nil
		}
		return AppendUint(dst, uint64(whole)), nil
	}
}

// floatDecimal keeps floats that their shortest text or, being whole, their
// digits express exactly; with cast it takes the shortest text in any case.
func floatDecimal(from int, to batch.Type, cast bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		f, err := ParseFloat(cell, from)
		if err != nil {
			return dst, err
		}
		var buf [400]byte
		var text []byte
		switch {
		case math.IsNaN(f) || math.IsInf(f, 0):
			text = AppendFloat(buf[:0], f, from)
		case !cast && f == math.Trunc(f):
			text = strconv.AppendFloat(buf[:0], f, 'f', 0, 64)
		default:
			text = strconv.AppendFloat(buf[:0], f, 'f', -1, from)
		}
		d, err := SplitDecimal(text)
		switch {
		case err != nil:
			return dst, err
		case cast && to.Precision > 0:
			return roundTo(dst, &d, to.Precision, to.Scale)
		case !cast && d.Special == Finite && !d.isFloat(f, 64):
			return dst, errNotExact
		}
		return AppendDecimal(dst, &d), nil
	}
}
