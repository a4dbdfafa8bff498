package value

// appendRounded appends the number with exactly so many digits after the
// point, rounded to the nearest, halves away from zero. The scale may be
// negative: then the last places before the point become zeros.
func appendRounded(dst []byte, d *Decimal, scale int) []byte {
	point := d.point()
	if d.Special != Finite || d.last()-point < scale {
		return AppendDecimalScale(dst, d, scale)
	}
	start := len(dst)
	cut := point + scale // the index of the first digit that goes
	i := min(d.first(), point-1, cut-1)
	end := start + 2 + cut - i
	dst = append(dst, '-', '0')
	for ; i < point; i++ {
		dst = append(dst, d.kept(i, cut))
	}
	if scale > 0 {
		dst = append(dst, '.')
		end++
	}
	for ; i < cut; i++ {
		dst = append(dst, d.digit(i))
	}
	if d.digit(cut) >= '5' {
		increment(dst[start+1 : end])
	}
	return tidy(dst, start, d.Neg)
}

func (d *Decimal) kept(i, cut int) byte {
	if i >= cut {
		return '0'
	}
	return d.digit(i)
}

// increment adds one to the last digit, carrying over a point; the first
// digit is a spare zero.
func increment(b []byte) {
	for i := len(b) - 1; i >= 0; i-- {
		switch b[i] {
		case '.':
		case '9':
			b[i] = '0'
		default:
			b[i]++
			return
		}
	}
}

// tidy drops the sign at start and zeros after it where they do not belong.
func tidy(dst []byte, start int, neg bool) []byte {
	text := dst[start+1:]
	for len(text) > 1 && text[0] == '0' && text[1] != '.' {
		text = text[1:]
	}
	zero := true
	for _, c := range text {
		zero = zero && (c == '0' || c == '.')
	}
	if neg && !zero {
		return append(dst[:start+1], text...)
	}
	return append(dst[:start], text...)
}

// roundedDecimal makes the converter to decimal(precision, scale) that rounds.
func roundedDecimal(precision, scale int) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		d, err := SplitDecimal(cell)
		if err != nil {
			return dst, err
		}
		if precision == 0 {
			return AppendDecimal(dst, &d), nil
		}
		return roundTo(dst, &d, precision, scale)
	}
}

func roundTo(dst []byte, d *Decimal, precision, scale int) ([]byte, error) {
	start := len(dst)
	dst = appendRounded(dst, d, scale)
	rounded, err := SplitDecimal(dst[start:])
	if err == nil {
		err = FitsDecimal(&rounded, precision, scale)
	}
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}
