package filter

import (
	"bytes"
	"regexp"

	"github.com/expr-lang/expr/ast"
)

func (c *compiler) binary(n *ast.BinaryNode) (*term, error) {
	if v, ok := verdictOf(n.Operator); ok {
		return c.compare(n, v)
	}
	if o, ok := operationOf(n.Operator); ok {
		return c.arithmetic(n, o)
	}
	switch n.Operator {
	case "and", "&&":
		return c.logic(n, n.Operator, and)
	case "or", "||":
		return c.logic(n, n.Operator, or)
	case "??":
		return c.coalesce(n)
	case "in":
		return c.in(n)
	case "contains":
		return c.search(n, bytes.Contains)
	case "startsWith":
		return c.search(n, bytes.HasPrefix)
	case "endsWith":
		return c.search(n, bytes.HasSuffix)
	case "matches":
		return c.matches(n)
	}
	return nil, c.errorf(n, "%s is not part of a filter's language", n.Operator)
}

// arithmetic is + - * / %; + also joins texts.
func (c *compiler) arithmetic(n *ast.BinaryNode, o operation) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	if n.Operator == "+" && l.kind.isText() && r.kind.isText() {
		return c.concatenate(n, l, r)
	}
	for _, t := range [2]*term{l, r} {
		if !t.kind.isNumber() && t.kind != nullKind {
			return nil, c.errorf(t.node, "%s needs numbers, and this is %s%s", n.Operator, c.words(t), c.wayOut(t, exactKind))
		}
	}
	switch {
	case l.kind == nullKind:
		return nullOf(n, r.kind), nil
	case r.kind == nullKind:
		return nullOf(n, l.kind), nil
	case l.fixed != nil && r.fixed != nil:
		result, err := o.exact(*l.fixed, *r.fixed)
		if err != nil {
			return nil, c.errorf(n, "%v", err)
		}
		return exactTerm(n, result), nil
	case l.kind == exactKind && r.kind == exactKind:
		return &term{kind: exactKind, node: n, whole: o.whole && l.whole && r.whole, number: combine(l.number, r.number, o.exact)}, nil
	}
	if l, r, err = c.unify(n, l, r); err != nil {
		return nil, err
	}
	return &term{kind: floatKind, node: n, float: combine(l.float, r.float, o.float)}, nil
}

func (c *compiler) concatenate(n *ast.BinaryNode, l, r *term) (*term, error) {
	l, r, err := c.unify(n, l, r)
	if err != nil {
		return nil, err
	}
	return &term{kind: l.kind, node: n, text: combine(l.text, r.text, func(a, b []byte) ([]byte, error) {
		return append(append(make([]byte, 0, len(a)+len(b)), a...), b...), nil
	})}, nil
}

// search is an operator that looks for one text in another.
func (c *compiler) search(n *ast.BinaryNode, found func(text, part []byte) bool) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	left, err := c.bytesOf(l, n.Operator)
	if err != nil {
		return nil, err
	}
	right, err := c.bytesOf(r, n.Operator)
	if err != nil {
		return nil, err
	}
	return &term{kind: boolKind, node: n, boolean: combine(left, right, func(a, b []byte) (bool, error) {
		return found(a, b), nil
	})}, nil
}

// matches is a search by a regular expression of RE2's syntax.
func (c *compiler) matches(n *ast.BinaryNode) (*term, error) {
	l, r, err := c.terms(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	left, err := c.bytesOf(l, n.Operator)
	if err != nil {
		return nil, err
	}
	if r.literal == nil {
		return nil, c.errorf(r.node, "the regular expression has to be a text in quotes")
	}
	re, err := regexp.Compile(*r.literal)
	if err != nil {
		return nil, c.errorf(r.node, "%v", err)
	}
	return &term{kind: boolKind, node: n, boolean: convert(left, func(b []byte) (bool, error) { return re.Match(b), nil })}, nil
}

// bytesOf returns the bytes of a text.
func (c *compiler) bytesOf(t *term, what string) (eval[[]byte], error) {
	switch {
	case t.kind == nullKind:
		return nothing[[]byte], nil
	case t.kind.isText():
		return t.text, nil
	case t.column != nil:
		return nil, c.errorf(t.node, "%s needs a text, and this is %s: write string(%s)", what, c.words(t), c.text(t.node))
	}
	return nil, c.errorf(t.node, "%s needs a text, and this is %s", what, c.words(t))
}
