package filter

import (
	"github.com/expr-lang/expr/ast"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// unify gives two terms one kind, or says why they have none: nil and texts in
// quotes take the other's kind, numbers meet floats, dates meet timestamps.
func (c *compiler) unify(n ast.Node, l, r *term) (*term, *term, error) {
	for _, t := range [2]*term{l, r} {
		if t.kind == opaqueKind {
			return nil, nil, c.errorf(t.node, "%s can only be tested for nil, or as a text: string(%s)", c.words(t), c.text(t.node))
		}
	}
	var err error
	if r.literal != nil && l.literal == nil {
		r, err = c.literal(r, l.kind)
	} else if l.literal != nil && r.literal == nil {
		l, err = c.literal(l, r.kind)
	}
	if err != nil {
		return nil, nil, err
	}
	switch {
	case l.kind == r.kind:
		return l, r, nil
	case l.kind == nullKind:
		return nullOf(l.node, r.kind), r, nil
	case r.kind == nullKind:
		return l, nullOf(r.node, l.kind), nil
	case l.kind == dateKind && r.kind == timestampKind:
		return atMidnight(l), r, nil
	case l.kind == timestampKind && r.kind == dateKind:
		return l, atMidnight(r), nil
	case l.kind.isNumber() && r.kind.isNumber():
		if l, err = c.toFloat(l, r); err == nil {
			r, err = c.toFloat(r, l)
		}
		return l, r, err
	}
	return nil, nil, c.mismatch(n, l, r)
}

// mismatch is the error of two terms that have no kind in common.
func (c *compiler) mismatch(n ast.Node, l, r *term) error {
	out := c.wayOut(l, r.kind) + c.wayOut(r, l.kind)
	if l.literal != nil || r.literal != nil {
		out = ": write it without quotes"
	}
	return c.errorf(n, "%s and %s cannot be brought together%s", c.words(l), c.words(r), out)
}

// nullOf is NULL as a term of a kind.
func nullOf(node ast.Node, k kind) *term {
	return &term{
		kind: k, node: node, boolean: nothing[bool], number: nothing[number], float: nothing[float64],
		text: nothing[[]byte], uuid: nothing[[16]byte], moment: nothing[int64], whole: true,
	}
}

func atMidnight(t *term) *term {
	return &term{kind: timestampKind, node: t.node, moment: convert(t.moment, midnight)}
}

// toFloat makes a float of an exact number that meets a float. A decimal
// column is not made one silently.
func (c *compiler) toFloat(t, other *term) (*term, error) {
	switch {
	case t.kind == floatKind:
		return t, nil
	case t.fixed != nil:
		return &term{kind: floatKind, node: t.node, float: constant(nearest(*t.fixed, other))}, nil
	case t.whole:
		return &term{kind: floatKind, node: t.node, float: convert(t.number, asFloat)}, nil
	}
	return nil, c.errorf(t.node, "%s is exact and meets a float, %s: say which is meant, with float(…) of the one or decimal(…) of the other",
		c.words(t), c.words(other))
}

func asFloat(n number) (float64, error) { return n.float(), nil }

// nearest is a literal as a float like the other: beside a float32 column, the
// float32 that the column would hold for it.
func nearest(n number, other *term) float64 {
	if other.column != nil && other.column.Type.Kind == batch.Float32 && n.class == finite {
		const largest = 1e38
		f, _ := n.rat().Float32()
		if f < largest && f > -largest && (f != 0 || n.sign() == 0) {
			return float64(f)
		}
	}
	return n.float()
}

// literal gives a text in quotes another kind.
func (c *compiler) literal(t *term, k kind) (*term, error) {
	text := []byte(*t.literal)
	u := &term{kind: k, node: t.node}
	var err error
	switch k {
	case bytesKind:
		u.text = t.text
	case uuidKind:
		var id [16]byte
		id, err = value.ParseUUID(text)
		u.uuid = constant(id)
	case dateKind:
		var d int64
		if d, err = parseDate(text); err != nil {
			if at, wrong := parseTimestamp(text); wrong == nil {
				u.kind, d, err = timestampKind, at, nil
			}
		}
		u.moment = constant(d)
	case timestampKind, instantKind, timeKind:
		var at int64
		at, err = momentParser(k)(text)
		u.moment = constant(at)
	default:
		return t, nil
	}
	if err != nil {
		return nil, c.errorf(t.node, "%s: %v", value.Quote(text), err)
	}
	return u, nil
}

func momentParser(k kind) func([]byte) (int64, error) {
	switch k {
	case dateKind:
		return parseDate
	case timestampKind:
		return parseTimestamp
	case instantKind:
		return parseInstant
	default:
		return parseTime
	}
}
