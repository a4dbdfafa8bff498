package value

import (
	"math"
	"strconv"
	"unsafe"
)

// ParseFloat reads a decimal number, with or without an exponent, as the
// nearest float of that many bits (32 or 64); also NaN, Infinity, inf in any
// case and with a sign. A finite number that only infinity or, not being
// zero, only zero could stand for is out of range.
func ParseFloat(b []byte, bits int) (float64, error) {
	d, err := SplitDecimal(b)
	if err != nil {
		return 0, err
	}
	switch d.Special {
	case NaN:
		return math.NaN(), nil
	case PosInf:
		return math.Inf(1), nil
	case NegInf:
		return math.Inf(-1), nil
	}
	return d.float(trim(b), bits)
}

// float returns the value of d, whose text is b, as the nearest float.
func (d *Decimal) float(b []byte, bits int) (float64, error) {
	if bits == 64 && len(d.Int)+len(d.Frac) <= 15 {
		if f, ok := d.short(); ok {
			return f, nil
		}
	}
	f, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), bits)
	if err != nil || (f == 0 && !d.Zero()) {
		if bits == 32 {
			return 0, errFloat32
		}
		return 0, errFloat64
	}
	return f, nil
}

// short divides or multiplies two numbers that are exact floats, which rounds
// once and so is right: at most 15 digits, and a power of ten up to 1e22.
func (d *Decimal) short() (float64, bool) {
	powers := [...]float64{
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
		1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
	}
	n := int64(0)
	for _, c := range d.Int {
		n = n*10 + int64(c-'0')
	}
	for _, c := range d.Frac {
		n = n*10 + int64(c-'0')
	}
	f := float64(n)
	if d.Neg {
		f = -f // of zero too
	}
	e := d.Exp - len(d.Frac)
	switch {
	case e < -22 || e > 22:
		return 0, false
	case e < 0:
		return f / powers[-e], true
	}
	return f * powers[e], true
}

// AppendFloat appends the shortest text that reads back to the same float of
// that many bits: plain where the first digit stands for 1e-4 to 1e+14 (1e+5
// for 32 bits), else with an exponent of at least two digits: 1e+20, 1e-05.
// Also NaN, Infinity, -Infinity and -0. So do PostgreSQL's float8out and
// float4out, but that they add a digit where the shortest text lies just half
// way to the next float (8.3192930700316e+17).
func AppendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	}
	low, high := 1e-4, 1e15
	if bits == 32 {
		low, high = float64(float32(1e-4)), 1e6
	}
	if a := math.Abs(v); a == 0 || (a >= low && a < high) {
		return strconv.AppendFloat(dst, v, 'f', -1, bits)
	}
	return strconv.AppendFloat(dst, v, 'e', -1, bits)
}
