package value

// Special marks a number that has no digits.
type Special uint8

// The special numbers. Finite is none of them.
const (
	Finite Special = iota
	NaN
	PosInf
	NegInf
)

// maxDigits bounds the digits of a decimal written out plainly, so that a
// short text such as 1e999999999 cannot fill the memory. PostgreSQL's numeric
// has at most 131072 before and 16383 after the point.
const maxDigits = 131072 + 16383

// Decimal is a decimal number cut into its parts: Int.Frac × 10^Exp. Int and
// Frac are ranges of the text it was read from, of digits only; either may be
// empty and Int may have leading zeros.
type Decimal struct {
	Neg     bool
	Int     []byte
	Frac    []byte
	Exp     int
	Special Special
}

// SplitDecimal reads a decimal number: a sign, digits with or without a point,
// an exponent; or NaN, Infinity, inf. Spaces around are fine. It allocates
// nothing and loses nothing.
func SplitDecimal(b []byte) (Decimal, error) {
	var d Decimal
	b = trim(b)
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		d.Neg = b[0] == '-'
		b = b[1:]
	}
	n := digits(b)
	d.Int, b = b[:n:n], b[n:]
	if len(b) == 0 && n > 0 {
		return d, d.bounded()
	}
	if len(b) > 0 && b[0] == '.' {
		n = digits(b[1:])
		d.Frac, b = b[1:n+1:n+1], b[n+1:]
	}
	if len(d.Int)+len(d.Frac) == 0 {
		return special(d.Neg, b)
	}
	if len(b) > 0 {
		if b[0]|0x20 != 'e' {
			return Decimal{}, errNumber
		}
		exp, err := exponent(b[1:])
		if err != nil {
			return Decimal{}, err
		}
		d.Exp = exp
	}
	return d, d.bounded()
}

func special(neg bool, b []byte) (Decimal, error) {
	switch {
	case fold(b, "nan"):
		return Decimal{Special: NaN}, nil
	case !fold(b, "infinity") && !fold(b, "inf"):
		return Decimal{}, errNumber
	case neg:
		return Decimal{Special: NegInf}, nil
	}
	return Decimal{Special: PosInf}, nil
}

func exponent(b []byte) (int, error) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	if len(b) == 0 || digits(b) != len(b) {
		return 0, errNumber
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	if len(b) > 9 {
		return 0, errDecimalRange
	}
	if neg {
		return -small(b), nil
	}
	return small(b), nil
}

func (d *Decimal) bounded() error {
	if max(d.Exp, -d.Exp)+len(d.Int)+len(d.Frac) > maxDigits {
		return errDecimalRange
	}
	return nil
}

// Scale returns the number of digits after the point, written out plainly.
func (d *Decimal) Scale() int { return max(0, len(d.Frac)-d.Exp) }

// Zero reports whether the number is zero, of either sign.
func (d *Decimal) Zero() bool {
	return d.Special == Finite && zeros(d.Int) == len(d.Int) && zeros(d.Frac) == len(d.Frac)
}

// zeros returns how many zeros b begins with.
func zeros(b []byte) int {
	n := 0
	for n < len(b) && b[n] == '0' {
		n++
	}
	return n
}

// digit returns digit i of Int and Frac together; 0 outside of them.
func (d *Decimal) digit(i int) byte {
	switch {
	case i < 0:
	case i < len(d.Int):
		return d.Int[i]
	case i-len(d.Int) < len(d.Frac):
		return d.Frac[i-len(d.Int)]
	}
	return '0'
}

// point returns the index, as digit counts, of the first digit after the point.
func (d *Decimal) point() int { return len(d.Int) + d.Exp }

// first and last are the indexes of the outermost digits that are not zero;
// first > last for zero.
func (d *Decimal) first() int {
	if n := zeros(d.Int); n < len(d.Int) {
		return n
	}
	return len(d.Int) + zeros(d.Frac)
}

func (d *Decimal) last() int {
	i := len(d.Int) + len(d.Frac) - 1
	for i >= 0 && d.digit(i) == '0' {
		i--
	}
	return i
}

// Whole reports whether a finite number has no fraction.
func (d *Decimal) Whole() bool { return d.Special == Finite && d.last() < max(0, d.point()) }

// FitsDecimal returns nil when the number can be kept in decimal(precision,
// scale) without rounding: further digits after the point may only be zeros.
// Else ErrRange or ErrPrecision. Precision 0 keeps everything; NaN fits any
// precision and the infinities only precision 0, as in PostgreSQL. The scale
// may be negative.
func FitsDecimal(d *Decimal, precision, scale int) error {
	switch {
	case precision == 0, d.Special == NaN:
		return nil
	case d.Special != Finite:
		return errNotFinite
	}
	first, last, point := d.first(), d.last(), d.point()
	switch {
	case first > last:
		return nil
	case point-first > precision-scale:
		return errDecimalDigits
	case last-point >= scale:
		return errScale
	}
	return nil
}

// AppendDecimal appends the number plainly, without an exponent and leading
// zeros; digits after the point stay as many as they are. Zero has no sign.
func AppendDecimal(dst []byte, d *Decimal) []byte {
	return appendScaled(dst, d, d.Scale())
}

// AppendDecimalScale appends the number with exactly so many digits after the
// point; what FitsDecimal refuses for that scale is cut off. A negative scale
// is taken as 0.
func AppendDecimalScale(dst []byte, d *Decimal, scale int) []byte {
	return appendScaled(dst, d, max(0, scale))
}

func appendScaled(dst []byte, d *Decimal, scale int) []byte {
	switch d.Special {
	case NaN:
		return append(dst, "NaN"...)
	case PosInf:
		return append(dst, "Infinity"...)
	case NegInf:
		return append(dst, "-Infinity"...)
	}
	if d.Neg && !d.Zero() {
		dst = append(dst, '-')
	}
	if d.Exp == 0 && len(d.Frac) == scale {
		n := zeros(d.Int)
		if n == len(d.Int) {
			dst = append(dst, '0')
		}
		dst = append(dst, d.Int[n:]...)
		if scale == 0 {
			return dst
		}
		return append(append(dst, '.'), d.Frac...)
	}
	point := d.point()
	i := point - 1
	if first := d.first(); first < len(d.Int)+len(d.Frac) {
		i = min(i, first)
	}
	for ; i < point; i++ {
		dst = append(dst, d.digit(i))
	}
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; i < point+scale; i++ {
		dst = append(dst, d.digit(i))
	}
	return dst
}
