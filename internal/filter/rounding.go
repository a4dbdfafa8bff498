package filter

import "math/big"

// abs returns the number without its sign.
func (a number) abs() (number, error) {
	if a.sign() < 0 {
		return a.negate()
	}
	return a, nil
}

// floor returns the largest whole number that is not larger.
func (a number) floor() (number, error) {
	if a.class != finite || (a.frac == nil && a.scale == 0) {
		return a, nil
	}
	if a.frac == nil {
		p := power(a.scale)
		q := a.coef / p
		if a.coef%p < 0 {
			q--
		}
		return number{coef: q}, nil
	}
	q, m := new(big.Int), new(big.Int)
	q.DivMod(a.frac.Num(), a.frac.Denom(), m) // Euclid's: the remainder is not negative
	return fraction(new(big.Rat).SetInt(q))
}

// ceil returns the smallest whole number that is not smaller.
func (a number) ceil() (number, error) {
	n, err := a.negate()
	if err != nil {
		return n, err
	}
	if n, err = n.floor(); err != nil {
		return n, err
	}
	return n.negate()
}

// round returns the nearest whole number, halves away from zero.
func (a number) round() (number, error) {
	if a.class != finite {
		return a, nil
	}
	half := number{coef: 5, scale: 1}
	if a.sign() < 0 {
		n, err := a.subtract(half)
		if err != nil {
			return n, err
		}
		return n.ceil()
	}
	n, err := a.add(half)
	if err != nil {
		return n, err
	}
	return n.floor()
}

// whole reports whether the number is finite and has no fraction.
func (a number) whole() bool {
	if a.class != finite {
		return false
	}
	if a.frac != nil {
		return a.frac.IsInt()
	}
	return a.coef%power(a.scale) == 0
}
