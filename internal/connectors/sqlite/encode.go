package sqlite

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// encoder binds a cell, which is not NULL and stands in SQLite's memory at p,
// as parameter i. An error is the record's fault; making one allocates nothing.
type encoder func(s *native.Stmt, i int, cell []byte, p uintptr) error

// What a column cannot hold.
func errNaN() error {
	return errors.New("SQLite has no NaN, and would store NULL")
}

func errMinusZero() error {
	return errors.New("SQLite has no minus zero, and would store zero")
}

func errTurned() error {
	return errors.New("the column has numeric affinity and would turn this text into a number that reads otherwise; declare it TEXT to keep it")
}

func errInexact() error {
	return errors.New("the column keeps decimals as floating point, and this one would not read back the same; declare it TEXT to keep it")
}

// encoderOf returns the encoder for cells of a column.
func encoderOf(c column) (encoder, error) {
	switch c.typ.Kind {
	case batch.Int64:
		return encodeInt, nil
	case batch.Bool:
		return encodeBool, nil
	case batch.Float64:
		return floatEncoder(), nil
	case batch.Bytes:
		return encodeBlob, nil
	case batch.Decimal:
		return decimalEncoder(c.typ), nil
	case batch.Text:
		if c.affinity == textAffinity || c.affinity == blobAffinity {
			return encodeText, nil
		}
		return guardedEncoder(), nil
	}
	return canonicalEncoder(c)
}

func encodeInt(s *native.Stmt, i int, cell []byte, _ uintptr) error {
	v, err := value.ParseInt(cell, 64)
	if err != nil {
		return err
	}
	s.BindInt64(i, v)
	return nil
}

func encodeBool(s *native.Stmt, i int, cell []byte, _ uintptr) error {
	v, err := value.ParseBool(cell)
	if err != nil {
		return err
	}
	n := int64(0)
	if v {
		n = 1
	}
	s.BindInt64(i, n)
	return nil
}

func floatEncoder() encoder {
	nan, minusZero := errNaN(), errMinusZero()
	return func(s *native.Stmt, i int, cell []byte, _ uintptr) error {
		v, err := value.ParseFloat(cell, 64)
		switch {
		case err != nil:
			return err
		case math.IsNaN(v):
			return nan
		case v == 0 && math.Signbit(v):
			return minusZero
		}
		s.BindFloat(i, v)
		return nil
	}
}

func encodeBlob(s *native.Stmt, i int, cell []byte, p uintptr) error {
	s.BindBlob(i, p, len(cell))
	return nil
}

func encodeText(s *native.Stmt, i int, cell []byte, p uintptr) error {
	if err := value.CheckText(cell, 0, false); err != nil {
		return err
	}
	s.BindText(i, p, len(cell))
	return nil
}

// guardedEncoder is for texts in a column that turns texts into numbers: what
// looks like a number has to be the text that the number reads back as.
func guardedEncoder() encoder {
	turned := errTurned()
	var scratch []byte
	return func(s *native.Stmt, i int, cell []byte, p uintptr) error {
		if !looksNumeric(cell) {
			return encodeText(s, i, cell, p)
		}
		if v, err := value.ParseInt(cell, 64); err == nil {
			if scratch = strconv.AppendInt(scratch[:0], v, 10); !bytes.Equal(scratch, cell) {
				return turned
			}
			s.BindInt64(i, v)
			return nil
		}
		v, err := value.ParseFloat(cell, 64)
		if err != nil {
			return turned
		}
		if scratch = appendStored(scratch[:0], v); !bytes.Equal(scratch, cell) {
			return turned
		}
		s.BindFloat(i, v)
		return nil
	}
}

// appendStored appends what a float reads back as from a numeric column, which
// keeps whole ones as integers.
func appendStored(dst []byte, v float64) []byte {
	if n, ok := wholeFloat(v); ok {
		return strconv.AppendInt(dst, n, 10)
	}
	return value.AppendFloat(dst, v, 64)
}

// wholeFloat returns the integer that numeric affinity makes of a float.
func wholeFloat(v float64) (int64, bool) {
	if v != math.Trunc(v) || v < -1<<63 || v >= 1<<63 {
		return 0, false
	}
	return int64(v), true
}

// decimalEncoder is for a column of numeric affinity: the number is stored as
// an integer or float that reads back as the same digits, or not at all.
func decimalEncoder(t batch.Type) encoder {
	inexact := errInexact()
	var want, got []byte
	return func(s *native.Stmt, i int, cell []byte, _ uintptr) error {
		d, err := value.SplitDecimal(cell)
		if err != nil {
			return err
		}
		if err := value.FitsDecimal(&d, t.Precision, t.Scale); err != nil {
			return err
		}
		if d.Special != value.Finite {
			return inexact
		}
		want = appendDecimal(want[:0], &d, t)
		if d.Whole() {
			// Whole digits within 64 bits are kept as an integer.
			if v, err := value.ParseInt(value.AppendDecimalScale(got[:0], &d, 0), 64); err == nil {
				if got = appendDecimalInt(got[:0], v, t); !bytes.Equal(want, got) {
					return inexact
				}
				s.BindInt64(i, v)
				return nil
			}
		}
		v, err := value.ParseFloat(cell, 64)
		if err != nil {
			return inexact
		}
		if got, err = appendDecimalFloat(got[:0], v, t); err != nil || !bytes.Equal(want, got) {
			return inexact
		}
		s.BindFloat(i, v)
		return nil
	}
}

// appendDecimal appends a decimal with the digits of its column's scale.
func appendDecimal(dst []byte, d *value.Decimal, t batch.Type) []byte {
	if t.Precision > 0 && d.Scale() <= t.Scale {
		return value.AppendDecimalScale(dst, d, t.Scale)
	}
	return value.AppendDecimal(dst, d)
}

// appendDecimalInt appends what an integer in a decimal column stands for.
func appendDecimalInt(dst []byte, v int64, t batch.Type) []byte {
	dst = strconv.AppendInt(dst, v, 10)
	if t.Precision > 0 && t.Scale > 0 {
		dst = append(dst, '.')
		for range t.Scale {
			dst = append(dst, '0')
		}
	}
	return dst
}

// appendDecimalFloat appends what a float in a decimal column stands for: the
// shortest decimal that it is the nearest float of.
func appendDecimalFloat(dst []byte, v float64, t batch.Type) ([]byte, error) {
	var text [32]byte
	d, err := value.SplitDecimal(value.AppendFloat(text[:0], v, 64))
	if err != nil {
		return dst, err
	}
	return appendDecimal(dst, &d, t), nil
}

// canonicalEncoder is for the kinds that SQLite keeps as text in a column of
// numeric affinity: dates, times, uuids, json.
func canonicalEncoder(c column) (encoder, error) {
	canonical, err := value.Canonical(c.typ)
	if err != nil {
		return nil, err
	}
	guarded := guardedEncoder()
	turned := errTurned()
	var scratch []byte
	return func(s *native.Stmt, i int, cell []byte, p uintptr) error {
		var err error
		if scratch, err = canonical(scratch[:0], cell); err != nil {
			return err
		}
		if bytes.Equal(scratch, cell) {
			return guarded(s, i, cell, p)
		}
		if looksNumeric(scratch) {
			return turned
		}
		s.BindTextCopy(i, scratch)
		return nil
	}, nil
}
