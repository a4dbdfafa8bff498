package mysql

import (
	"bytes"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// conversions say how what the driver gives of a column becomes its canonical text.
type conversion uint8

const (
	asIs       conversion = iota
	toBool                // a number that is 0 or 1
	toFlag                // a BIT(1)
	toBits                // a BIT(n), in a text of n digits
	toNumber              // a BIT, as a number
	toFloat32             // the double that is equal
	toDecimal             // ZEROFILL puts zeros before it
	toDate                // days that the calendar lacks
	toTime                // zeros at the end of the fraction
	toDatetime            // as toDate and toTime
	toInstant             // as toDatetime, without its zone
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
	case batch.Decimal:
		return toDecimal
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

// append adds a value of the driver to the batch. An error is the record's.
func (d *decoder) append(b *batch.Batch, v sqldriver.Value) error {
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
func (d *decoder) text(dst []byte, v sqldriver.Value) ([]byte, error) {
	switch v := v.(type) {
	case []byte:
		return d.bytes(dst, v)
	case int64:
		if d.how != toBool {
			return strconv.AppendInt(dst, v, 10), nil
		}
		if v != 0 && v != 1 {
			return dst, errNotBool
		}
		return value.AppendBool(dst, v == 1), nil
	case uint64:
		return strconv.AppendUint(dst, v, 10), nil
	case float64:
		if d.how == toFloat32 {
			return value.AppendFloat(dst, float64(float32(v)), 32), nil
		}
		return value.AppendFloat(dst, v, 64), nil
	case float32:
		return value.AppendFloat(dst, float64(v), 32), nil
	}
	return dst, fmt.Errorf("the driver gives a %T", v)
}

// bytes appends the canonical text of what came as a string.
func (d *decoder) bytes(dst, v []byte) ([]byte, error) {
	switch d.how {
	case toFlag:
		return value.AppendBool(dst, bitsValue(v) != 0), nil
	case toBits:
		return appendBitText(dst, v, d.column.precision), nil
	case toNumber:
		return strconv.AppendUint(dst, bitsValue(v), 10), nil
	case toDecimal:
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

// plain is a value as a person would read it, for a record that is rejected.
func plain(v sqldriver.Value) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case []byte:
		return append([]byte{}, v...)
	}
	return fmt.Append(nil, v)
}
