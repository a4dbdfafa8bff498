package mysql

import (
	"bytes"
	"errors"
	"math"
	"unicode/utf8"

	"github.com/leatdata/leat/batch/value"
)

// What only MySQL and MariaDB refuse of a cell. Static, so that a dirty record
// costs no more than its message.
var (
	errNotUTF8      = errors.New("not UTF-8")
	errTooLong      = errors.New("longer than the column")
	errTooShort     = errors.New("shorter than the column, whose values are filled up with zero bytes")
	errFourBytes    = errors.New("has a character that the column's character set utf8mb3 cannot hold")
	errNotASCII     = errors.New("has a character that the column's character set ascii cannot hold")
	errBitLength    = errors.New("not of the column's number of bits")
	errRounded      = errors.New("finer than the column: it would be rounded")
	errRange        = errors.New("out of the column's range")
	errNegative     = errors.New("negative, in a column that is UNSIGNED")
	errDateRange    = errors.New("out of the range of dates, 0001-01-01 to 9999-12-31")
	errStampRange   = errors.New("out of the range of TIMESTAMP")
	errTimeRange    = errors.New("not between -838:59:59 and 838:59:59")
	errYear         = errors.New("not a YEAR: 0, or 1901 to 2155")
	errLabel        = errors.New("not a label of the enum")
	errMember       = errors.New("has what is not a member of the set")
	errSignedZero   = errors.New("a zero below zero, whose sign the server drops")
	errNotFinite    = errors.New("MySQL has no NaN and no infinity")
	errNullRequired = errors.New("NULL in a column that is NOT NULL")
	errJSON         = errors.New("not JSON")
)

// encoder makes the fields of one column. Its append adds the cell's field to
// dst, escaped; dst may come back longer than it was when there is an error,
// and is then to be cut. Cells of a column with a check go as they are, once
// that has passed them.
type encoder struct {
	append func(e *encoder, dst, cell []byte) ([]byte, error)
	check  func(e *encoder, cell []byte) error
	// form says what the field is to the server.
	form fieldForm
	// min and max bound an integer.
	min int64
	max uint64
	// precision and scale bound a decimal, and a float that was declared with them.
	precision, scale int
	unsigned         bool
	bits             int
	// fraction is the number of digits that a time keeps, unit the microseconds
	// between two of its values.
	fraction int
	unit     int64
	// chars and octets bound a text; 0 is no bound.
	chars, octets int
	fixed         bool
	charset       charset
	members       map[string]struct{}
	// last is the last TIMESTAMP that the server has.
	last value.Timestamp
	// clean says that the batch's cells were judged as UTF-8 before.
	clean   bool
	scratch []byte
}

// field appends a cell's field.
func (e *encoder) field(dst, cell []byte) ([]byte, error) {
	if e.check == nil {
		return e.append(e, dst, cell)
	}
	if err := e.check(e, cell); err != nil {
		return dst, err
	}
	if e.chars > 0 && e.fixed && len(cell) > e.chars {
		// The server drops these too, but not without a warning.
		cell = trimSpaces(cell)
	}
	return appendEscaped(dst, cell), nil
}

// charset is what a column's character set can hold, as far as our side judges it.
type charset uint8

const (
	charsetFull  charset = iota // all of Unicode
	charsetThree                // characters of up to three bytes in UTF-8
	charsetASCII
	charsetOther // the server judges it
)

func appendBool(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseBool(cell)
	if v {
		return append(dst, '1'), err
	}
	return append(dst, '0'), err
}

// appendInt passes the usual number as it is.
func appendInt(e *encoder, dst, cell []byte) ([]byte, error) {
	if v, neg, ok := plainInt(cell); ok {
		if !neg && v <= e.max || neg && -int64(v) >= e.min {
			return append(dst, cell...), nil
		}
		return dst, errRange
	}
	if e.min >= 0 {
		v, err := value.ParseUint(cell, 64)
		if err == nil && v > e.max {
			err = errRange
		}
		return value.AppendUint(dst, v), err
	}
	v, err := value.ParseInt(cell, 64)
	if err == nil && (v < e.min || v > 0 && uint64(v) > e.max) {
		err = errRange
	}
	return value.AppendInt(dst, v), err
}

// plainInt reads a whole number of up to 18 digits that is written the usual way.
func plainInt(cell []byte) (v uint64, neg, ok bool) {
	digits := cell
	if len(digits) > 0 && digits[0] == '-' {
		neg, digits = true, digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && (len(digits) > 1 || neg) {
		return 0, neg, false
	}
	for _, c := range digits {
		d := c - '0'
		if d > 9 {
			return 0, neg, false
		}
		v = v*10 + uint64(d)
	}
	return v, neg, true
}

// appendYear takes a year as a number: 0 is 0000, and no other is short.
func appendYear(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseInt(cell, 64)
	switch {
	case err != nil:
		return dst, err
	case v == 0:
		return append(dst, "0000"...), nil
	case v < 1901 || v > 2155:
		return dst, errYear
	}
	return value.AppendInt(dst, v), nil
}

// appendFloat refuses a zero with a sign, of which the server drops the sign.
func appendFloat(e *encoder, dst, cell []byte) ([]byte, error) {
	signed := len(cell) > 0 && cell[0] == '-'
	if e.precision == 0 && !e.unsigned && plainFloat(cell) && !(signed && len(bytes.Trim(cell, "-0.")) == 0) {
		return append(dst, cell...), nil
	}
	v, err := value.ParseFloat(cell, e.bits)
	switch {
	case err != nil:
		return dst, err
	case math.IsNaN(v) || math.IsInf(v, 0):
		return dst, errNotFinite
	case v == 0 && math.Signbit(v):
		return dst, errSignedZero
	case e.unsigned && v < 0:
		return dst, errNegative
	}
	if e.precision > 0 {
		d, err := value.SplitDecimal(cell)
		if err == nil {
			err = value.FitsDecimal(&d, e.precision, e.scale)
		}
		if err != nil {
			return dst, err
		}
	}
	if math.Abs(v) == math.MaxFloat32 {
		// Its shortest text is more than it is, and out of range to the server.
		return value.AppendFloat(dst, v, 64), nil
	}
	return value.AppendFloat(dst, v, e.bits), nil
}

// plainFloat reports whether a cell is a number of up to 15 digits, with a
// point among them or none: all of its form are in the range of both floats.
func plainFloat(cell []byte) bool {
	digits := cell
	if len(digits) > 0 && digits[0] == '-' {
		digits = digits[1:]
	}
	whole, scale, ok := plainNumber(digits)
	return ok && whole+scale <= 15
}

// plainNumber counts the digits before and behind the point.
func plainNumber(digits []byte) (whole, scale int, ok bool) {
	point := -1
	for i, c := range digits {
		if c-'0' <= 9 {
			continue
		}
		if c != '.' || point >= 0 || i == 0 {
			return 0, 0, false
		}
		point = i
	}
	switch {
	case point < 0:
		return len(digits), 0, len(digits) > 0
	case point == len(digits)-1:
		return 0, 0, false
	}
	return point, len(digits) - point - 1, true
}

func appendDecimal(e *encoder, dst, cell []byte) ([]byte, error) {
	if whole, scale, ok := plainNumber(cell); ok && scale <= e.scale && whole <= e.precision-e.scale {
		return append(dst, cell...), nil
	}
	d, err := value.SplitDecimal(cell)
	if err != nil {
		return dst, err
	}
	switch {
	case d.Special != value.Finite:
		return dst, errNotFinite
	case e.unsigned && d.Neg && !d.Zero():
		return dst, errNegative
	}
	if err := value.FitsDecimal(&d, e.precision, e.scale); err != nil {
		return dst, err
	}
	return value.AppendDecimalScale(dst, &d, e.scale), nil
}

// appendBits sends the bits as a number's bytes, the highest first.
func appendBits(e *encoder, dst, cell []byte) ([]byte, error) {
	bits, err := value.ParseBit(cell)
	if err != nil {
		return dst, err
	}
	if len(bits) != e.bits {
		return dst, errBitLength
	}
	e.scratch = append(e.scratch[:0], make([]byte, (len(bits)+7)/8)...)
	for i, bit := range bits {
		if bit == '1' {
			place := len(bits) - 1 - i
			e.scratch[len(e.scratch)-1-place/8] |= 1 << (place % 8)
		}
	}
	return appendEscaped(dst, e.scratch), nil
}

// appendFlag is appendBits for a single bit that is a bool.
func appendFlag(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseBool(cell)
	if v {
		return append(dst, 1), err
	}
	return append(dst, '\\', '0'), err
}

func appendUUID(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseUUID(cell)
	return value.AppendUUID(dst, v), err
}

func checkText(e *encoder, cell []byte) error {
	if !e.clean && !utf8.Valid(cell) {
		return errNotUTF8
	}
	if e.octets > 0 && len(cell) > e.octets {
		return errTooLong
	}
	if e.chars > 0 && len(cell) > e.chars && e.tooLong(cell) {
		return errTooLong
	}
	switch e.charset {
	case charsetThree:
		for _, c := range cell {
			if c >= 0xf0 {
				return errFourBytes
			}
		}
	case charsetASCII:
		for _, c := range cell {
			if c >= utf8.RuneSelf {
				return errNotASCII
			}
		}
	}
	return nil
}

// tooLong counts characters. CHAR keeps no spaces at its end, so that surplus
// ones are no fault.
func (e *encoder) tooLong(cell []byte) bool {
	if e.fixed {
		cell = trimSpaces(cell)
	}
	return utf8.RuneCount(cell) > e.chars
}

// trimSpaces cuts off the spaces at a cell's end.
func trimSpaces(cell []byte) []byte {
	for len(cell) > 0 && cell[len(cell)-1] == ' ' {
		cell = cell[:len(cell)-1]
	}
	return cell
}

func checkBytes(e *encoder, cell []byte) error {
	switch {
	case e.octets > 0 && len(cell) > e.octets:
		return errTooLong
	case e.fixed && len(cell) < e.octets:
		return errTooShort
	}
	return nil
}

func checkJSON(e *encoder, cell []byte) error {
	if !value.ValidJSON(cell) {
		return errJSON
	}
	return checkText(e, cell)
}

// checkEnum wants a label to the letter: the server would also take one in
// other case, or a label's number.
func checkEnum(e *encoder, cell []byte) error {
	if _, ok := e.members[string(cell)]; !ok {
		return errLabel
	}
	return nil
}

func checkSet(e *encoder, cell []byte) error {
	for len(cell) > 0 {
		n := 0
		for n < len(cell) && cell[n] != ',' {
			n++
		}
		if _, ok := e.members[string(cell[:n])]; !ok || n == len(cell)-1 {
			return errMember
		}
		cell = cell[min(n+1, len(cell)):]
	}
	return nil
}
