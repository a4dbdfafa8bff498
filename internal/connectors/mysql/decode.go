package mysql

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// conversions say how what the driver gives of a column becomes its canonical text.
type conversion uint8

const (
	asIs      conversion = iota
	toBool               // a number that is 0 or 1
	toFlag               // a BIT(1)
	toBits               // a BIT(n), in a text of n digits
	toNumber             // a BIT, as a number
	toFloat32            // the double that is equal
	toFloat64
	toUnfilled // ZEROFILL puts zeros before a number, and so does YEAR
	toDate     // days that the calendar lacks
	toTime     // zeros at the end of the fraction
	toDatetime // as toDate and toTime
	toInstant  // as toDatetime, without its zone
)

var (
	errNotBool = errors.New("neither 0 nor 1 in a column declared as BOOLEAN, which is TINYINT(1): read it with tinyint1: int")
	errNoDay   = errors.New("no day of the calendar")
)

// decoder makes the cells of one column.
type decoder struct {
	column *column
	how    conversion
}

func newDecoder(c *column, t batch.Type) decoder {
	return decoder{column: c, how: conversionOf(c, t)}
}

func conversionOf(c *column, t batch.Type) conversion {
	switch {
	case c.bits:
		return toNumber
	case c.dataType == "bit" && t.Kind == batch.Bool:
		return toFlag
	}
	switch t.Kind {
	case batch.Bool:
		return toBool
	case batch.Bit:
		return toBits
	case batch.Float32:
		return toFloat32
	case batch.Float64:
		return toFloat64
	case batch.Decimal, batch.Int8, batch.Int16, batch.Int32, batch.Int64, batch.Uint8, batch.Uint16, batch.Uint32, batch.Uint64:
		return toUnfilled
	case batch.Date:
		return toDate
	case batch.Time:
		return toTime
	case batch.Timestamp:
		return toDatetime
	case batch.Instant:
		return toInstant
	}
	return asIs
}

// exactFloat is the expression for a FLOAT, of which the server prints six
// digits: as a double it has all. A product keeps the sign of a zero.
func exactFloat(name string) string { return quoteName(name) + " * 1e0" }

// expression is what to select for the column.
func (d *decoder) expression() string {
	if d.how == toFloat32 {
		return exactFloat(d.column.name) + " AS " + quoteName(d.column.name)
	}
	return quoteName(d.column.name)
}

// append adds a value to the batch. An error is the record's.
func (d *decoder) append(b *batch.Batch, v []byte) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	off := len(b.Buf)
	buf, err := d.text(b.Buf, v)
	if err != nil {
		return err
	}
	b.Buf = buf
	b.AppendFrom(off)
	return nil
}

// text appends the canonical text of a value.
func (d *decoder) text(dst, v []byte) ([]byte, error) {
	switch d.how {
	case toBool:
		if len(v) != 1 || v[0] != '0' && v[0] != '1' {
			return dst, errNotBool
		}
		return value.AppendBool(dst, v[0] == '1'), nil
	case toFloat32, toFloat64:
		return d.float(dst, v)
	case toFlag:
		return value.AppendBool(dst, bitsValue(v) != 0), nil
	case toBits:
		return appendBitText(dst, v, d.column.precision), nil
	case toNumber:
		return strconv.AppendUint(dst, bitsValue(v), 10), nil
	case toUnfilled:
		return appendUnfilled(dst, v), nil
	case toDate:
		if _, err := value.ParseDate(v); err != nil {
			return dst, errNoDay
		}
	case toTime:
		v = cutZeros(v)
	case toDatetime, toInstant:
		if t, err := value.ParseTimestamp(v); err != nil {
			return dst, errNoDay
		} else if t == value.TimestampZero {
			v = []byte("0000-00-00 00:00:00")
		}
		dst = append(dst, cutZeros(v)...)
		if d.how == toInstant {
			dst = append(dst, "+00"...)
		}
		return dst, nil
	}
	return append(dst, v...), nil
}

// float appends the canonical text of a float.
func (d *decoder) float(dst, v []byte) ([]byte, error) {
	f, err := parseFloat(v)
	if err != nil {
		return dst, err
	}
	if d.how == toFloat32 {
		return value.AppendFloat(dst, float64(float32(f)), 32), nil
	}
	return value.AppendFloat(dst, f, 64), nil
}

// parseFloat reads a float as the servers print it, which have no infinities.
func parseFloat(v []byte) (float64, error) {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", v)
	}
	return f, nil
}

// cutZeros drops the zeros at the end of a second's fraction.
func cutZeros(v []byte) []byte {
	dot := len(v) - 7
	if dot < 0 || v[dot] != '.' {
		if dot = bytes.LastIndexByte(v, '.'); dot < 0 {
			return v
		}
	}
	n := len(v)
	for v[n-1] == '0' {
		n--
	}
	if n-1 == dot {
		n--
	}
	return v[:n]
}

// appendUnfilled appends a number without zeros before its first digit.
func appendUnfilled(dst, v []byte) []byte {
	for len(v) > 1 && v[0] == '0' && v[1] != '.' {
		v = v[1:]
	}
	return append(dst, v...)
}

// bitsValue is the number that the bytes of a BIT are.
func bitsValue(v []byte) uint64 {
	n := uint64(0)
	for _, c := range v {
		n = n<<8 | uint64(c)
	}
	return n
}

// appendBitText appends the last n bits, each a digit.
func appendBitText(dst, v []byte, n int) []byte {
	bits := bitsValue(v)
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, '0'+byte(bits>>i&1))
	}
	return dst
}
