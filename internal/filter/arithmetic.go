package filter

import (
	"math"
	"math/big"
	"math/bits"
)

// operation is an arithmetic operator; NULL is dealt with before it.
type operation struct {
	exact func(a, b number) (number, error)
	float func(a, b float64) (float64, error)
	// whole says that whole numbers give a whole number.
	whole bool
}

func operationOf(operator string) (operation, bool) {
	switch operator {
	case "+":
		return operation{exact: number.add, float: func(a, b float64) (float64, error) { return inRange(a+b, a, b) }, whole: true}, true
	case "-":
		return operation{exact: number.subtract, float: func(a, b float64) (float64, error) { return inRange(a-b, a, b) }, whole: true}, true
	case "*":
		return operation{exact: number.multiply, float: func(a, b float64) (float64, error) { return inRange(a*b, a, b) }, whole: true}, true
	case "/":
		return operation{exact: number.divide, float: divideFloats}, true
	case "%":
		return operation{exact: number.remainder, float: remainderOfFloats, whole: true}, true
	}
	return operation{}, false
}

// inRange refuses an infinity that finite operands made.
func inRange(result, a, b float64) (float64, error) {
	if math.IsInf(result, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		return 0, errTooLarge
	}
	return result, nil
}

func divideFloats(a, b float64) (float64, error) {
	if b == 0 && !math.IsNaN(a) {
		return 0, errDivision
	}
	return inRange(a/b, a, b)
}

func remainderOfFloats(a, b float64) (float64, error) {
	if b == 0 && !math.IsNaN(a) {
		return 0, errDivision
	}
	return math.Mod(a, b), nil
}

func (a number) add(b number) (number, error) {
	if a.class != finite || b.class != finite {
		return numberOfFloat(a.outline() + b.outline()), nil
	}
	if a.frac == nil && b.frac == nil {
		if x, y, scale, ok := align(a, b); ok {
			if sum := x + y; (sum > x) == (y > 0) {
				return number{coef: sum, scale: scale}, nil
			}
		}
	}
	return fraction(new(big.Rat).Add(a.rat(), b.rat()))
}

func (a number) subtract(b number) (number, error) {
	n, err := b.negate()
	if err != nil {
		return number{}, err
	}
	return a.add(n)
}

func (a number) negate() (number, error) {
	switch {
	case a.class == posInf:
		a.class = negInf
	case a.class == negInf:
		a.class = posInf
	case a.class != finite:
	case a.frac == nil && a.coef != math.MinInt64:
		a.coef = -a.coef
	default:
		return fraction(new(big.Rat).Neg(a.rat()))
	}
	return a, nil
}

func (a number) multiply(b number) (number, error) {
	if a.class != finite || b.class != finite {
		return numberOfFloat(a.outline() * b.outline()), nil
	}
	if a.frac == nil && b.frac == nil && a.scale+b.scale <= maxScale {
		hi, lo := bits.Mul64(magnitude(a.coef), magnitude(b.coef))
		if hi == 0 && lo <= math.MaxInt64 {
			product := int64(lo)
			if (a.coef < 0) != (b.coef < 0) {
				product = -product
			}
			return number{coef: product, scale: a.scale + b.scale}, nil
		}
	}
	return fraction(new(big.Rat).Mul(a.rat(), b.rat()))
}

// divide gives the exact quotient: 5 / 2 is 2.5, and 1 / 3 a third.
func (a number) divide(b number) (number, error) {
	if a.class == isNaN || b.class == isNaN {
		return number{class: isNaN}, nil
	}
	if b.sign() == 0 {
		return number{}, errDivision
	}
	if a.class != finite || b.class != finite {
		return numberOfFloat(a.outline() / b.outline()), nil
	}
	if a.frac == nil && b.frac == nil {
		if x, y, _, ok := align(a, b); ok {
			if n, ok := quotient(x, y); ok {
				return n, nil
			}
		}
	}
	return fraction(new(big.Rat).Quo(a.rat(), b.rat()))
}

// quotient finds a quotient that is a short number.
func quotient(x, y int64) (number, bool) {
	if x == math.MinInt64 {
		return number{}, false
	}
	for scale := range uint8(maxScale + 1) {
		if x%y == 0 {
			return number{coef: x / y, scale: scale}, true
		}
		var ok bool
		if x, ok = times(x, 10); !ok {
			break
		}
	}
	return number{}, false
}

// remainder has the sign of the dividend, as SQL's has.
func (a number) remainder(b number) (number, error) {
	if a.class == isNaN || b.class == isNaN {
		return number{class: isNaN}, nil
	}
	if b.sign() == 0 {
		return number{}, errDivision
	}
	if a.class != finite {
		return number{class: isNaN}, nil
	}
	if b.class != finite {
		return a, nil
	}
	if a.frac == nil && b.frac == nil {
		if x, y, scale, ok := align(a, b); ok {
			if y == -1 {
				return number{}, nil
			}
			return number{coef: x % y, scale: scale}, nil
		}
	}
	q := new(big.Rat).Quo(a.rat(), b.rat())
	whole := new(big.Rat).SetInt(new(big.Int).Quo(q.Num(), q.Denom()))
	return fraction(q.Sub(a.rat(), whole.Mul(whole, b.rat())))
}

// sign is -1, 0 or 1; 0 for NaN too.
func (a number) sign() int {
	switch {
	case a.class == posInf:
		return 1
	case a.class == negInf:
		return -1
	case a.class != finite:
		return 0
	case a.frac != nil:
		return a.frac.Sign()
	}
	return order(a.coef, 0)
}

// outline stands for the number where one of two is not finite: only classes
// and signs then matter.
func (a number) outline() float64 {
	if a.class == finite {
		return float64(a.sign())
	}
	return a.float()
}

// align brings two short numbers to one scale.
func align(a, b number) (x, y int64, scale uint8, ok bool) {
	x, y = a.coef, b.coef
	switch {
	case a.scale < b.scale:
		x, ok = times(x, power(b.scale-a.scale))
		return x, y, b.scale, ok
	case a.scale > b.scale:
		y, ok = times(y, power(a.scale-b.scale))
		return x, y, a.scale, ok
	}
	return x, y, a.scale, true
}

func times(a, p int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), uint64(p))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if a < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

// fraction makes a number of a fraction, bounded.
func fraction(f *big.Rat) (number, error) {
	if f.IsInt() && f.Num().IsInt64() {
		return number{coef: f.Num().Int64()}, nil
	}
	if f.Num().BitLen()+f.Denom().BitLen() > maxBits {
		return number{}, errTooLarge
	}
	return number{frac: f}, nil
}
