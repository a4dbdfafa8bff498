package filter

import (
	"errors"
	"fmt"
	"math"

	"github.com/expr-lang/expr/ast"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

var errFraction = errors.New("has a fraction: say floor, ceil or round")

func numberFunctionOf(name string) (func(number) (number, error), func(float64) float64) {
	switch name {
	case "abs":
		return number.abs, math.Abs
	case "floor":
		return number.floor, math.Floor
	case "ceil":
		return number.ceil, math.Ceil
	default:
		return number.round, math.Round
	}
}

// conversion is a function named after the kind that it gives.
func (c *compiler) conversion(n ast.Node, name string, t *term) (*term, error) {
	switch name {
	case "bool":
		return c.toBool(n, t)
	case "int":
		return c.toExact(n, t, wholeNumber, true)
	case "decimal":
		return c.toExact(n, t, func(a number) (number, error) { return a, nil }, false)
	case "float":
		return c.toFloatBy(n, t)
	case "string":
		return c.toText(n, t)
	case "uuid":
		return c.toUUID(n, t)
	case "date":
		return c.toMoment(n, t, dateKind)
	case "timestamp":
		return c.toMoment(n, t, timestampKind)
	case "instant":
		return c.toMoment(n, t, instantKind)
	default:
		return c.toMoment(n, t, timeKind)
	}
}

// parsed reads a text as a value; a text in quotes is read at once.
func parsed[T any](c *compiler, t *term, parse func([]byte) (T, error)) (eval[T], error) {
	if t.literal != nil {
		v, err := parse([]byte(*t.literal))
		if err != nil {
			return nil, c.errorf(t.node, "%s: %v", value.Quote([]byte(*t.literal)), err)
		}
		return constant(v), nil
	}
	name := ""
	if t.column != nil {
		name = t.column.Name
	}
	return convert(t.text, func(b []byte) (T, error) {
		v, err := parse(b)
		if err != nil {
			return v, &CellError{Column: name, Err: fmt.Errorf("%s: %w", value.Quote(b), err)}
		}
		return v, nil
	}), nil
}

func (c *compiler) noConversion(n ast.Node, t *term, to kind) error {
	return c.errorf(n, "there is no way to make %s of %s", kindWords[to], c.words(t))
}

func (c *compiler) toBool(n ast.Node, t *term) (u *term, err error) {
	switch t.kind {
	case nullKind:
		return nullOf(n, boolKind), nil
	case boolKind:
		return c.computed(t, n), nil
	case textKind:
		u = &term{kind: boolKind, node: n}
		u.boolean, err = parsed(c, t, value.ParseBool)
		return u, err
	}
	return nil, c.noConversion(n, t, boolKind)
}

func wholeNumber(a number) (number, error) {
	if !a.whole() {
		return a, errFraction
	}
	return a, nil
}

// toExact makes an exact number, which check may refuse.
func (c *compiler) toExact(n ast.Node, t *term, check func(number) (number, error), whole bool) (*term, error) {
	u := &term{kind: exactKind, node: n, whole: whole || t.whole}
	var from eval[number]
	var err error
	switch {
	case t.kind == nullKind:
		return nullOf(n, exactKind), nil
	case t.kind == exactKind:
		from = t.number
	case t.kind == floatKind:
		bits := 64
		if t.column != nil && t.column.Type.Kind == batch.Float32 {
			bits = 32
		}
		from = convert(t.float, func(f float64) (number, error) { return numberOfDecimal(value.AppendFloat(nil, f, bits)) })
	case t.kind == textKind:
		from, err = parsed(c, t, func(b []byte) (number, error) {
			a, err := numberOfDecimal(b)
			if err != nil {
				return a, err
			}
			return check(a)
		})
	default:
		err = c.noConversion(n, t, exactKind)
	}
	if err != nil {
		return nil, err
	}
	if t.literal != nil {
		v, _ := from(row{})
		return exactTerm(n, v.v), nil
	}
	u.number = convert(from, check)
	return u, nil
}

func (c *compiler) toFloatBy(n ast.Node, t *term) (u *term, err error) {
	u = &term{kind: floatKind, node: n}
	switch t.kind {
	case nullKind:
		return nullOf(n, floatKind), nil
	case floatKind:
		u.float = t.float
	case exactKind:
		u.float = convert(t.number, asFloat)
	case textKind:
		u.float, err = parsed(c, t, floatParser(batch.Float64))
	default:
		err = c.noConversion(n, t, floatKind)
	}
	return u, err
}

// toText gives a column's text as the source has it.
func (c *compiler) toText(n ast.Node, t *term) (*term, error) {
	switch {
	case t.kind == nullKind:
		return nullOf(n, textKind), nil
	case t.column != nil:
		return &term{kind: textKind, node: n, text: raw(c.schema.Index(t.column.Name))}, nil
	case t.kind == textKind:
		return c.computed(t, n), nil
	}
	return nil, c.errorf(n, "string takes a column, whose text it gives")
}

func (c *compiler) toUUID(n ast.Node, t *term) (u *term, err error) {
	switch t.kind {
	case nullKind:
		return nullOf(n, uuidKind), nil
	case uuidKind:
		return c.computed(t, n), nil
	case textKind:
		u = &term{kind: uuidKind, node: n}
		u.uuid, err = parsed(c, t, value.ParseUUID)
		return u, err
	}
	return nil, c.noConversion(n, t, uuidKind)
}

// toMoment reads a text; date cuts a timestamp's time off, and timestamp
// puts a date at midnight.
func (c *compiler) toMoment(n ast.Node, t *term, k kind) (u *term, err error) {
	u = &term{kind: k, node: n}
	switch {
	case t.kind == nullKind:
		return nullOf(n, k), nil
	case t.kind == k:
		return c.computed(t, n), nil
	case t.kind == textKind:
		u.moment, err = parsed(c, t, momentParser(k))
	case t.kind == timestampKind && k == dateKind:
		u.moment = convert(t.moment, dayOf)
	case t.kind == dateKind && k == timestampKind:
		u.moment = convert(t.moment, midnight)
	default:
		err = c.noConversion(n, t, k)
	}
	return u, err
}

func dayOf(at int64) (int64, error) {
	switch t := value.Timestamp(at); t {
	case value.TimestampInfinity:
		return int64(value.DateInfinity), nil
	case value.TimestampNegInfinity:
		return int64(value.DateNegInfinity), nil
	case value.TimestampZero:
		return int64(value.DateZero), nil
	default:
		d, _ := t.Split()
		return int64(d), nil
	}
}
