package filter

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// functionNames are the functions there are.
func functionNames() []string {
	return []string{
		"col", "len", "lower", "upper", "trim", "abs", "floor", "ceil", "round",
		"bool", "int", "decimal", "float", "string", "uuid", "date", "timestamp", "instant", "time",
	}
}

// call is a function of one argument.
func (c *compiler) call(n *ast.CallNode) (*term, error) {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, c.errorf(n, "values have no methods in a filter")
	}
	name := id.Value
	switch {
	case name == "now":
		return nil, c.errorf(n, "now is left out: a record has to pass or not whenever it is read")
	case !slices.Contains(functionNames(), name):
		return nil, c.errorf(n, "unknown function %q: %s", name, suggest(name, functionNames()))
	case len(n.Arguments) != 1:
		return nil, c.errorf(n, "%s takes one argument", name)
	}
	if s, ok := n.Arguments[0].(*ast.StringNode); ok && name == "col" {
		return c.column(n, s.Value)
	}
	if name == "col" {
		return nil, c.errorf(n, "col takes a column's name in quotes")
	}
	t, err := c.term(n.Arguments[0])
	if err != nil {
		return nil, err
	}
	switch name {
	case "len", "lower", "upper", "trim":
		return c.textFunction(n, name, t)
	case "abs", "floor", "ceil", "round":
		return c.numberFunction(n, name, t)
	}
	return c.conversion(n, name, t)
}

func (c *compiler) textFunction(n ast.Node, name string, t *term) (*term, error) {
	text, err := c.bytesOf(t, name)
	if err != nil {
		return nil, err
	}
	u := &term{kind: textKind, node: n}
	switch {
	case name == "len":
		count := utf8.RuneCount
		if t.kind == bytesKind {
			count = func(b []byte) int { return len(b) }
		}
		u.kind, u.whole = exactKind, true
		u.number = convert(text, func(b []byte) (number, error) { return numberOfInt(int64(count(b))), nil })
	case name == "trim":
		u.text = convert(text, func(b []byte) ([]byte, error) { return bytes.TrimSpace(b), nil })
	case t.kind == bytesKind:
		return nil, c.errorf(n, "bytes have no upper and lower case")
	case name == "lower":
		u.text = convert(text, func(b []byte) ([]byte, error) { return bytes.ToLower(b), nil })
	default:
		u.text = convert(text, func(b []byte) ([]byte, error) { return bytes.ToUpper(b), nil })
	}
	return u, nil
}

func (c *compiler) numberFunction(n ast.Node, name string, t *term) (*term, error) {
	exact, float := numberFunctionOf(name)
	switch t.kind {
	case nullKind:
		return nullOf(n, exactKind), nil
	case exactKind:
		return &term{kind: exactKind, node: n, whole: t.whole || name != "abs", number: convert(t.number, exact)}, nil
	case floatKind:
		return &term{kind: floatKind, node: n, float: convert(t.float, func(f float64) (float64, error) { return float(f), nil })}, nil
	}
	return nil, c.errorf(n, "%s needs a number, and this is %s%s", name, c.words(t), c.wayOut(t, exactKind))
}
