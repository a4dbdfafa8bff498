package filter

import (
	"github.com/expr-lang/expr/ast"
)

// manyTexts is how many texts a list has before it is looked up by hash.
const manyTexts = 8

// in is x in [a, b, c] or x in 1..10.
func (c *compiler) in(n *ast.BinaryNode) (*term, error) {
	l, err := c.term(n.Left)
	if err != nil {
		return nil, err
	}
	t := &term{kind: boolKind, node: n}
	switch r := n.Right.(type) {
	case *ast.ArrayNode:
		t.boolean, err = c.inList(n, l, r)
	case *ast.BinaryNode:
		if r.Operator != ".." {
			return nil, c.errorf(n.Right, "in needs a list or a range to its right")
		}
		t.boolean, err = c.inRange(n, l, r)
	default:
		return nil, c.errorf(n.Right, "in needs a list or a range to its right: [1, 2, 3] or 1..3")
	}
	return t, err
}

// inList is SQL's IN: true when one is equal, else NULL when one comparison
// is NULL, else false.
func (c *compiler) inList(n *ast.BinaryNode, l *term, list *ast.ArrayNode) (eval[bool], error) {
	equal, _ := verdictOf("==")
	tests := make([]eval[bool], 0, len(list.Nodes))
	literals := map[string]struct{}{}
	for _, node := range list.Nodes {
		r, err := c.term(node)
		if err != nil {
			return nil, err
		}
		if r.literal != nil && l.kind.isText() {
			literals[*r.literal] = struct{}{}
		}
		test := eval[bool](nothing[bool])
		if l.kind != nullKind && r.kind != nullKind {
			if test, err = c.order(node, l, r, equal); err != nil {
				return nil, err
			}
		}
		tests = append(tests, test)
	}
	if len(tests) >= manyTexts && len(literals) == len(tests) {
		return convert(l.text, func(b []byte) (bool, error) {
			_, ok := literals[string(b)]
			return ok, nil
		}), nil
	}
	return anyOf(tests), nil
}

func anyOf(tests []eval[bool]) eval[bool] {
	return func(r row) (opt[bool], error) {
		result := some(false)
		for _, test := range tests {
			v, err := test(r)
			if err != nil || (v.v && !v.null) {
				return v, err
			}
			if v.null {
				result = v
			}
		}
		return result, nil
	}
}

// inRange is x in 1..10 for whole numbers, both ends included.
func (c *compiler) inRange(n *ast.BinaryNode, l *term, limits *ast.BinaryNode) (eval[bool], error) {
	low, high, err := c.terms(limits.Left, limits.Right)
	if err != nil {
		return nil, err
	}
	for _, t := range [3]*term{l, low, high} {
		if t.kind != nullKind && (t.kind != exactKind || !t.whole) {
			return nil, c.errorf(t.node, "a range is of whole numbers, and this is %s: compare with >= and <=%s",
				c.words(t), c.wayOut(t, exactKind))
		}
	}
	least, _ := verdictOf(">=")
	most, _ := verdictOf("<=")
	above, err := c.order(n, l, low, least)
	if err != nil {
		return nil, err
	}
	below, err := c.order(n, l, high, most)
	if err != nil {
		return nil, err
	}
	return and(above, below), nil
}
