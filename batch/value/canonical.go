package value

import (
	"fmt"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
)

// Canonical returns the check of a cell against a type: it reads what the
// parser of the type's kind reads, checks the bounds of the type, and appends
// the canonical text. What is canonical already stays as it is. A decimal with
// a precision gets exactly the digits of its scale, a text of fixed length is
// filled up with spaces, of which surplus ones are no fault. Cells of Bytes
// are the bytes themselves; a text that stands for bytes has to go through
// Convert first.
func Canonical(to batch.Type) (Converter, error) { return canonical(to, false) }

// canonical makes Canonical's converter. With round it rounds what has more
// digits than the type keeps, as ConvertCast describes, instead of refusing it.
func canonical(to batch.Type, round bool) (Converter, error) {
	switch k := to.Kind; {
	case k == batch.Untyped, k == batch.Named:
		return copyCell, nil
	case k.IsInteger():
		return canonicalInteger(k), nil
	case k.IsFloat():
		return canonicalFloat(k), nil
	case k == batch.Decimal && round:
		return roundedDecimal(to.Precision, to.Scale), nil
	case k == batch.Decimal:
		return canonicalDecimal(to.Precision, to.Scale), nil
	case k == batch.Text:
		return canonicalText(to.Length, to.Fixed), nil
	case k == batch.Bytes:
		return canonicalBytes(to.Length, to.Fixed), nil
	case k == batch.Bit:
		return canonicalBit(to.Length, to.Fixed), nil
	case k == batch.Time, k == batch.TimeTZ, k == batch.Timestamp, k == batch.Instant:
		return canonicalClock(k, to.Fraction, round), nil
	case k == batch.Array:
		return canonicalArray(to, round)
	}
	switch to.Kind {
	case batch.Bool:
		return canonicalBool, nil
	case batch.Date:
		return canonicalDate, nil
	case batch.Interval:
		return canonicalInterval(to.Fraction, round), nil
	case batch.UUID:
		return canonicalUUID, nil
	case batch.JSON:
		return canonicalJSON, nil
	}
	return nil, fmt.Errorf("no kind of values: %s", to)
}

func copyCell(dst, cell []byte) ([]byte, error) { return append(dst, cell...), nil }

func canonicalBool(dst, cell []byte) ([]byte, error) {
	v, err := ParseBool(cell)
	if err != nil {
		return dst, err
	}
	return AppendBool(dst, v), nil
}

// bitsOf returns the size of an integer or float kind.
func bitsOf(k batch.Kind) int {
	switch k {
	case batch.Int8, batch.Uint8:
		return 8
	case batch.Int16, batch.Uint16:
		return 16
	case batch.Int32, batch.Uint32, batch.Float32:
		return 32
	}
	return 64
}

func canonicalInteger(k batch.Kind) Converter {
	bits := bitsOf(k)
	if k >= batch.Uint8 {
		return func(dst, cell []byte) ([]byte, error) {
			v, err := ParseUint(cell, bits)
			if err != nil {
				return dst, err
			}
			return AppendUint(dst, v), nil
		}
	}
	return func(dst, cell []byte) ([]byte, error) {
		v, err := ParseInt(cell, bits)
		if err != nil {
			return dst, err
		}
		return AppendInt(dst, v), nil
	}
}

func canonicalFloat(k batch.Kind) Converter {
	bits := bitsOf(k)
	return func(dst, cell []byte) ([]byte, error) {
		v, err := ParseFloat(cell, bits)
		if err != nil {
			return dst, err
		}
		return AppendFloat(dst, v, bits), nil
	}
}

func canonicalDecimal(precision, scale int) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		d, err := SplitDecimal(cell)
		if err != nil {
			return dst, err
		}
		if precision == 0 {
			return AppendDecimal(dst, &d), nil
		}
		if err := FitsDecimal(&d, precision, scale); err != nil {
			return dst, err
		}
		return AppendDecimalScale(dst, &d, scale), nil
	}
}

// CheckText returns nil for UTF-8 of at most length characters; length 0 is
// no bound. A fixed length does not count spaces at the end.
func CheckText(cell []byte, length int, fixed bool) error {
	if !utf8.Valid(cell) {
		return errUTF8
	}
	if length == 0 || len(cell) <= length {
		return nil
	}
	if fixed {
		for len(cell) > length && cell[len(cell)-1] == ' ' {
			cell = cell[:len(cell)-1]
		}
	}
	if len(cell) > length && utf8.RuneCount(cell) > length {
		return errTextLength
	}
	return nil
}

func canonicalText(length int, fixed bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		if err := CheckText(cell, length, fixed); err != nil {
			return dst, err
		}
		if !fixed || length == 0 {
			return append(dst, cell...), nil
		}
		n := utf8.RuneCount(cell)
		for ; n > length; n-- {
			cell = cell[:len(cell)-1]
		}
		dst = append(dst, cell...)
		for ; n < length; n++ {
			dst = append(dst, ' ')
		}
		return dst, nil
	}
}

func canonicalBytes(length int, fixed bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		if length > 0 && (len(cell) > length || fixed && len(cell) != length) {
			return dst, errBytesLength
		}
		return append(dst, cell...), nil
	}
}

func canonicalBit(length int, fixed bool) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		bits, err := ParseBit(cell)
		if err != nil {
			return dst, err
		}
		if length > 0 && (len(bits) > length || fixed && len(bits) != length) {
			return dst, errBitLength
		}
		return append(dst, bits...), nil
	}
}

func canonicalDate(dst, cell []byte) ([]byte, error) {
	d, err := ParseDate(cell)
	if err != nil {
		return dst, err
	}
	return AppendDate(dst, d), nil
}

func canonicalUUID(dst, cell []byte) ([]byte, error) {
	id, err := ParseUUID(cell)
	if err != nil {
		return dst, err
	}
	return AppendUUID(dst, id), nil
}

func canonicalJSON(dst, cell []byte) ([]byte, error) {
	if !ValidJSON(cell) {
		return dst, errJSON
	}
	return append(dst, cell...), nil
}
