package filter

import (
	"errors"
	"math"
	"math/big"
	"math/bits"

	"github.com/leatdata/leat/batch/value"
)

// class tells numbers that have digits from those that have none. Numbers of
// different classes are ordered by them.
type class int8

const (
	negInf class = iota - 1
	finite
	posInf
	isNaN
)

// number is an exact number: coef × 10^-scale, or a fraction where that has
// no room. Its zero value is 0.
type number struct {
	coef  int64
	scale uint8
	class class
	// frac holds the value when it is not nil. It is never changed.
	frac *big.Rat
}

const (
	// maxScale is the largest scale of a number without a fraction.
	maxScale = 18
	// maxBits bounds what arithmetic may make of long decimals.
	maxBits = 1 << 20
)

var (
	errDivision = errors.New("division by zero")
	errTooLarge = errors.New("the number has grown too large")
)

// power is ten to the scale.
func power(scale uint8) int64 {
	p := int64(1)
	for range scale {
		p *= 10
	}
	return p
}

func numberOfInt(i int64) number { return number{coef: i} }

func numberOfUint(u uint64) number {
	if u <= math.MaxInt64 {
		return number{coef: int64(u)}
	}
	return number{frac: new(big.Rat).SetUint64(u)}
}

// numberOfDecimal reads a decimal's text.
func numberOfDecimal(text []byte) (number, error) {
	d, err := value.SplitDecimal(text)
	if err != nil {
		return number{}, err
	}
	switch d.Special {
	case value.NaN:
		return number{class: isNaN}, nil
	case value.PosInf:
		return number{class: posInf}, nil
	case value.NegInf:
		return number{class: negInf}, nil
	}
	if n, ok := short(&d); ok {
		return n, nil
	}
	f, ok := new(big.Rat).SetString(string(value.AppendDecimal(nil, &d)))
	if !ok {
		return number{}, errTooLarge
	}
	return number{frac: f}, nil
}

// short reads a decimal that needs no fraction.
func short(d *value.Decimal) (number, bool) {
	frac := d.Frac
	for len(frac) > 0 && frac[len(frac)-1] == '0' {
		frac = frac[:len(frac)-1]
	}
	if d.Exp != 0 || len(frac) > maxScale {
		return number{}, false
	}
	var c uint64
	for _, part := range [2][]byte{d.Int, frac} {
		for _, digit := range part {
			if c > (math.MaxInt64-9)/10 {
				return number{}, false
			}
			c = c*10 + uint64(digit-'0')
		}
	}
	n := number{coef: int64(c), scale: uint8(len(frac))}
	if d.Neg {
		n.coef = -n.coef
	}
	return n, true
}

// numberOfFloat is the exact value of a float.
func numberOfFloat(f float64) number {
	switch {
	case math.IsNaN(f):
		return number{class: isNaN}
	case math.IsInf(f, 1):
		return number{class: posInf}
	case math.IsInf(f, -1):
		return number{class: negInf}
	case f == math.Trunc(f) && math.Abs(f) < 1<<62:
		return number{coef: int64(f)}
	}
	return number{frac: new(big.Rat).SetFloat64(f)}
}

// float is the float nearest to the number.
func (a number) float() float64 {
	switch a.class {
	case isNaN:
		return math.NaN()
	case posInf:
		return math.Inf(1)
	case negInf:
		return math.Inf(-1)
	}
	const exact = 1 << 53
	if a.frac == nil && a.scale == 0 {
		return float64(a.coef)
	}
	if a.frac == nil && a.scale <= 15 && a.coef < exact && a.coef > -exact {
		return float64(a.coef) / float64(power(a.scale))
	}
	f, _ := a.rat().Float64()
	return f
}

// rat returns the finite number as a fraction, which must not be changed.
func (a number) rat() *big.Rat {
	if a.frac != nil {
		return a.frac
	}
	return big.NewRat(a.coef, power(a.scale))
}

// compare orders two numbers: -1, 0, 1. NaN equals NaN and is larger than
// everything else, as in PostgreSQL.
func (a number) compare(b number) int {
	switch {
	case a.class != finite || b.class != finite:
		return order(a.class, b.class)
	case a.frac != nil || b.frac != nil:
		return a.rat().Cmp(b.rat())
	case a.scale == b.scale:
		return order(a.coef, b.coef)
	case a.scale < b.scale:
		return compareScaled(a.coef, power(b.scale-a.scale), b.coef)
	}
	return -compareScaled(b.coef, power(a.scale-b.scale), a.coef)
}

// compareFloat orders a number and the exact value of a float.
func (a number) compareFloat(f float64) int {
	if a.class != finite || a.frac != nil || a.scale != 0 || f >= 1<<63 || f < -1<<63 || f != f {
		return a.compare(numberOfFloat(f))
	}
	floor := math.Floor(f)
	if c := order(a.coef, int64(floor)); c != 0 || f == floor {
		return c
	}
	return -1
}

// compareScaled compares a × p with b.
func compareScaled(a, p, b int64) int {
	if (a < 0) != (b < 0) {
		return order(a, b)
	}
	hi, lo := bits.Mul64(magnitude(a), uint64(p))
	m := magnitude(b)
	c := order(lo, m)
	if hi != 0 {
		c = 1
	}
	if a < 0 {
		return -c
	}
	return c
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func order[T class | int64 | uint64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
