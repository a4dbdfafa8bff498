package filter

import (
	"bytes"

	"github.com/expr-lang/expr/ast"
)

// verdict says for the orders less, equal and greater whether a comparison holds.
type verdict [3]bool

func verdictOf(operator string) (verdict, bool) {
	switch operator {
	case "==":
		return verdict{1: true}, true
	case "!=":
		return verdict{0: true, 2: true}, true
	case "<":
		return verdict{0: true}, true
	case "<=":
		return verdict{0: true, 1: true}, true
	case ">":
		return verdict{2: true}, true
	case ">=":
		return verdict{1: true, 2: true}, true
	}
	return verdict{}, false
}

// ordering reports whether the comparison asks for more than equality.
func (v verdict) ordering() bool { return v[0] != v[2] }

// comparison makes a truth value of two values and their order.
func comparison[T, U any](l eval[T], r eval[U], v verdict, order func(T, U) int) eval[bool] {
	return func(rec row) (opt[bool], error) {
		a, err := l(rec)
		if err != nil || a.null {
			return null[bool](), err
		}
		b, err := r(rec)
		if err != nil || b.null {
			return null[bool](), err
		}
		return some(v[order(a.v, b.v)+1]), nil
	}
}

// compare is a comparison operator; == and != with nil test for NULL.
func (c *compiler) compare(n *ast.BinaryNode, v verdict) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	t := &term{kind: boolKind, node: n}
	if !v.ordering() && (l.kind == nullKind || r.kind == nullKind) {
		if l.kind == nullKind {
			l = r
		}
		t.boolean = c.isNull(l, v[1])
		return t, nil
	}
	t.boolean, err = c.order(n, l, r, v)
	return t, err
}

// isNull tests for NULL; a column's cell is not parsed for it.
func (c *compiler) isNull(t *term, want bool) eval[bool] {
	if t.column != nil {
		i := c.schema.Index(t.column.Name)
		return func(r row) (opt[bool], error) { return some(r.b.Columns[i].IsNull(r.i) == want), nil }
	}
	switch k := t.kind; {
	case k == nullKind:
		return constant(want)
	case k == boolKind:
		return nullTest(t.boolean, want)
	case k == exactKind:
		return nullTest(t.number, want)
	case k == floatKind:
		return nullTest(t.float, want)
	case k == uuidKind:
		return nullTest(t.uuid, want)
	case k.isMoment():
		return nullTest(t.moment, want)
	default:
		return nullTest(t.text, want)
	}
}

func nullTest[T any](e eval[T], want bool) eval[bool] {
	return func(r row) (opt[bool], error) {
		v, err := e(r)
		return some(v.null == want), err
	}
}

// order compares two terms.
func (c *compiler) order(n ast.Node, l, r *term, v verdict) (eval[bool], error) {
	switch {
	case l.kind == exactKind && l.fixed == nil && l.whole && r.kind == floatKind:
		return comparison(l.number, r.float, v, number.compareFloat), nil
	case l.kind == floatKind && r.kind == exactKind && r.fixed == nil && r.whole:
		return comparison(l.float, r.number, v, func(f float64, n number) int { return -n.compareFloat(f) }), nil
	}
	l, r, err := c.unify(n, l, r)
	if err != nil {
		return nil, err
	}
	if v.ordering() && (l.kind == boolKind || l.unordered || r.unordered) {
		return nil, c.errorf(n, "%s and %s are only equal or not, neither is larger", c.words(l), c.words(r))
	}
	switch k := l.kind; {
	case k == nullKind:
		return nothing[bool], nil
	case k == boolKind:
		return comparison(l.boolean, r.boolean, v, compareBools), nil
	case k == exactKind:
		return comparison(l.number, r.number, v, number.compare), nil
	case k == floatKind:
		return comparison(l.float, r.float, v, compareFloats), nil
	case k == uuidKind:
		return comparison(l.uuid, r.uuid, v, compareUUIDs), nil
	case k.isMoment():
		return comparison(l.moment, r.moment, v, order[int64]), nil
	default:
		return comparison(l.text, r.text, v, bytes.Compare), nil
	}
}

func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	return 1
}

// compareFloats orders floats as PostgreSQL does: NaN equals NaN and is larger
// than everything else.
func compareFloats(a, b float64) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	}
	return order(a, b)
}
