package sqlite

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// decoder adds the values of a result column to batches, as canonical texts
// of the column's type. SQLite keeps a value of any class in any column: what
// is not of the type is an error, never something else.
type decoder struct {
	typ batch.Type
	// hex says that the cells of an untyped column go into one of bytes, which
	// reads them as texts do bytes: \x and digits.
	hex bool
	// loose says that the column was declared without a type, and typ found in
	// its values: those of any class are read by their texts.
	loose     bool
	scratch   []byte
	canonical value.Converter
	// wrong are the errors for a value of a class, made once.
	wrongInteger, wrongFloat, wrongText, wrongBlob error
}

// newDecoder makes a column's decoder; target is what becomes of its cells
// where the column has no type.
func newDecoder(c column, target batch.Type) (decoder, error) {
	declared := c.declared
	if declared == "" {
		declared = "no type"
	}
	wrong := func(what string) error {
		if c.declared == "" {
			return fmt.Errorf("%s in a column of %s", what, declared)
		}
		return fmt.Errorf("%s in a column of %s: if it holds such as well, have all as text with the option types, such as {%q: text}", what, declared, c.name)
	}
	d := decoder{
		typ: c.typ, wrongInteger: wrong("an integer"), wrongFloat: wrong("a floating-point number"),
		wrongText: wrong("a text"), wrongBlob: wrong("a blob"),
	}
	d.hex = c.typ.Kind == batch.Untyped && target.Kind == batch.Bytes
	if k := c.typ.Kind; k == batch.Untyped || k == batch.Text {
		d.wrongBlob = fmt.Errorf("a blob in a column of %s, which would become a text: if the column holds blobs say so with the option types, such as {%q: bytes}", declared, c.name)
	}
	var err error
	d.canonical, err = value.Canonical(c.typ)
	return d, err
}

// append adds the value of column i of the row that s stands at.
func (d *decoder) append(b *batch.Batch, s *native.Stmt, i int) error {
	off := len(b.Buf)
	var err error
	switch s.Class(i) {
	case native.Null:
		b.AppendNull()
		return nil
	case native.Integer:
		b.Buf, err = d.integer(b.Buf, s.Int64(i))
	case native.Float:
		b.Buf, err = d.float(b.Buf, s.Float(i))
	case native.Text:
		b.Buf, err = d.text(b.Buf, s.Text(i))
	case native.Blob:
		b.Buf, err = d.blob(b.Buf, s.Blob(i))
	}
	if err != nil {
		return err
	}
	if b.Buf == nil {
		b.Buf = []byte{}
	}
	b.AppendFrom(off)
	return nil
}

func (d *decoder) integer(dst []byte, v int64) ([]byte, error) {
	if d.hex {
		return dst, d.wrongInteger
	}
	switch d.typ.Kind {
	case batch.Int64, batch.Text, batch.Untyped, batch.JSON:
		return strconv.AppendInt(dst, v, 10), nil
	case batch.Bool:
		if v == 0 || v == 1 {
			return value.AppendBool(dst, v == 1), nil
		}
	case batch.Float64:
		if f := float64(v); f < 1<<63 && int64(f) == v {
			return value.AppendFloat(dst, f, 64), nil
		}
	case batch.Decimal:
		return appendDecimalInt(dst, v, d.typ), nil
	}
	if d.loose && d.typ.Kind != batch.Bytes && d.typ.Kind != batch.Float64 {
		d.scratch = strconv.AppendInt(d.scratch[:0], v, 10)
		return d.canonical(dst, d.scratch)
	}
	return dst, d.wrongInteger
}

func (d *decoder) float(dst []byte, v float64) ([]byte, error) {
	if d.hex {
		return dst, d.wrongFloat
	}
	switch d.typ.Kind {
	case batch.Float64, batch.Text, batch.Untyped:
		return value.AppendFloat(dst, v, 64), nil
	case batch.JSON:
		if !math.IsInf(v, 0) {
			return value.AppendFloat(dst, v, 64), nil
		}
	case batch.Decimal:
		return appendDecimalFloat(dst, v, d.typ)
	}
	if d.loose && d.typ.Kind != batch.Bytes {
		d.scratch = value.AppendFloat(d.scratch[:0], v, 64)
		return d.canonical(dst, d.scratch)
	}
	return dst, d.wrongFloat
}

func (d *decoder) text(dst, v []byte) ([]byte, error) {
	if d.hex {
		return value.AppendHex(dst, v), nil
	}
	switch d.typ.Kind {
	case batch.Text, batch.Untyped:
		if !value.ValidUTF8(v) {
			return dst, errors.New("a text that is not UTF-8")
		}
		return append(dst, v...), nil
	case batch.Bytes:
		if !d.loose {
			return append(dst, v...), nil
		}
		return dst, d.wrongText
	case batch.Int64, batch.Float64:
		if !d.loose {
			return dst, d.wrongText
		}
	}
	return d.canonical(dst, v)
}

func (d *decoder) blob(dst, v []byte) ([]byte, error) {
	switch {
	case d.typ.Kind == batch.Bytes:
		return append(dst, v...), nil
	case d.hex:
		return value.AppendHex(dst, v), nil
	}
	return dst, d.wrongBlob
}

// plainText returns a value as text, or a blob's bytes, for a record that is
// told as it was.
func plainText(s *native.Stmt, i int) []byte {
	switch s.Class(i) {
	case native.Null:
		return nil
	case native.Integer:
		return strconv.AppendInt(nil, s.Int64(i), 10)
	case native.Float:
		return value.AppendFloat(nil, s.Float(i), 64)
	case native.Text:
		return append([]byte{}, s.Text(i)...)
	}
	return append([]byte{}, s.Blob(i)...)
}
