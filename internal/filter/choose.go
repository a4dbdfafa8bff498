package filter

import "github.com/expr-lang/expr/ast"

// pick computes l where test is true and else r; without a test, l where it
// is not NULL and else r.
func pick[T any](test eval[bool], l, r eval[T]) eval[T] {
	if test == nil {
		return func(rec row) (opt[T], error) {
			if v, err := l(rec); err != nil || !v.null {
				return v, err
			}
			return r(rec)
		}
	}
	return func(rec row) (opt[T], error) {
		b, err := test(rec)
		if err != nil {
			return null[T](), err
		}
		if b.v && !b.null {
			return l(rec)
		}
		return r(rec)
	}
}

// choose is pick for two terms of one kind.
func choose(node ast.Node, test eval[bool], l, r *term) *term {
	t := &term{kind: l.kind, node: node, whole: l.whole && r.whole, unordered: l.unordered || r.unordered}
	switch k := l.kind; {
	case k == boolKind:
		t.boolean = pick(test, l.boolean, r.boolean)
	case k == exactKind:
		t.number = pick(test, l.number, r.number)
	case k == floatKind:
		t.float = pick(test, l.float, r.float)
	case k == uuidKind:
		t.uuid = pick(test, l.uuid, r.uuid)
	case k.isMoment():
		t.moment = pick(test, l.moment, r.moment)
	default:
		t.text = pick(test, l.text, r.text)
	}
	return t
}

// conditional is a ? b : c. A condition that is NULL is as good as false.
func (c *compiler) conditional(n *ast.ConditionalNode) (*term, error) {
	cond, err := c.term(n.Cond)
	if err != nil {
		return nil, err
	}
	test, err := c.boolean(cond, "a condition")
	if err != nil {
		return nil, err
	}
	l, r, err := c.terms(n.Exp1, n.Exp2)
	if err != nil {
		return nil, err
	}
	if l, r, err = c.unify(n.Exp2, l, r); err != nil {
		return nil, err
	}
	return choose(n, test, l, r), nil
}

// coalesce is a ?? b: b where a is NULL.
func (c *compiler) coalesce(n *ast.BinaryNode) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	if l, r, err = c.unify(n, l, r); err != nil {
		return nil, err
	}
	return choose(n, nil, l, r), nil
}
