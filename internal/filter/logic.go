package filter

import (
	"github.com/expr-lang/expr/ast"
)

// boolean returns a term's truth values; nil is NULL.
func (c *compiler) boolean(t *term, operator string) (eval[bool], error) {
	switch t.kind {
	case nullKind:
		return nothing[bool], nil
	case boolKind:
		return t.boolean, nil
	}
	return nil, c.errorf(t.node, "%s needs true or false, and this is %s%s", operator, c.words(t), c.wayOut(t, boolKind))
}

// and is SQL's: false wins over NULL. What is to the right of false is not computed.
func and(left, right eval[bool]) eval[bool] {
	return func(r row) (opt[bool], error) {
		a, err := left(r)
		if err != nil || (!a.null && !a.v) {
			return a, err
		}
		b, err := right(r)
		if err != nil || (!b.null && !b.v) || b.null {
			return b, err
		}
		return a, nil
	}
}

// or is SQL's: true wins over NULL. What is to the right of true is not computed.
func or(left, right eval[bool]) eval[bool] {
	return func(r row) (opt[bool], error) {
		a, err := left(r)
		if err != nil || (!a.null && a.v) {
			return a, err
		}
		b, err := right(r)
		if err != nil || (!b.null && b.v) || b.null {
			return b, err
		}
		return a, nil
	}
}

func not(v bool) (bool, error) { return !v, nil }

// logic is and or or.
func (c *compiler) logic(n *ast.BinaryNode, operator string, join func(l, r eval[bool]) eval[bool]) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	left, err := c.boolean(l, operator)
	if err != nil {
		return nil, err
	}
	right, err := c.boolean(r, operator)
	if err != nil {
		return nil, err
	}
	return &term{kind: boolKind, node: n, boolean: join(left, right)}, nil
}

// unary is not, - or +.
func (c *compiler) unary(n *ast.UnaryNode) (*term, error) {
	t, err := c.term(n.Node)
	if err != nil {
		return nil, err
	}
	if n.Operator == "not" || n.Operator == "!" {
		b, err := c.boolean(t, "not (which binds tighter than a comparison)")
		if err != nil {
			return nil, err
		}
		return &term{kind: boolKind, node: n, boolean: convert(b, not)}, nil
	}
	if n.Operator != "-" && n.Operator != "+" {
		return nil, c.errorf(n, "%s is not part of a filter's language", n.Operator)
	}
	switch {
	case t.kind == nullKind:
		return t, nil
	case !t.kind.isNumber():
		return nil, c.errorf(t.node, "%s needs a number, and this is %s%s", n.Operator, c.words(t), c.wayOut(t, exactKind))
	case n.Operator == "+":
		return c.computed(t, n), nil
	case t.fixed != nil:
		negative, err := t.fixed.negate()
		if err != nil {
			return nil, c.errorf(n, "%v", err)
		}
		return exactTerm(n, negative), nil
	case t.kind == exactKind:
		return &term{kind: exactKind, node: n, whole: t.whole, number: convert(t.number, number.negate)}, nil
	}
	return &term{kind: floatKind, node: n, float: convert(t.float, func(f float64) (float64, error) { return -f, nil })}, nil
}

// computed is the term as a part of the expression that is no column.
func (c *compiler) computed(t *term, node ast.Node) *term {
	u := *t
	u.node, u.column = node, nil
	return &u
}
