package filter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector/option"
)

// compiler makes terms of the nodes that the parser found.
type compiler struct {
	schema *batch.Schema
	// used marks the fields that the expression refers to.
	used []bool
	// source is the expression, by whose characters nodes have their places.
	source []rune
}

func (c *compiler) compile(expression string) (*term, error) {
	node, err := c.parse(expression)
	if err != nil {
		return nil, place(err, expression)
	}
	t, err := c.term(node)
	if err != nil {
		return nil, place(err, expression)
	}
	if t.kind != boolKind {
		err := c.errorf(node, "the result is %s, where true or false is needed", c.words(t))
		return nil, place(err, expression)
	}
	return t, nil
}

// place shows an error's place in the expression.
func place(err error, expression string) error {
	if e, ok := errors.AsType[*file.Error](err); ok {
		e.Snippet = ""
		e.From = max(0, e.From)
		return e.Bind(file.NewSource(expression))
	}
	return err
}

func (c *compiler) errorf(node ast.Node, format string, args ...any) error {
	return &file.Error{Location: node.Location(), Message: fmt.Sprintf(format, args...)}
}

// term makes the term of a node.
func (c *compiler) term(node ast.Node) (*term, error) {
	switch n := node.(type) {
	case *ast.NilNode:
		return &term{kind: nullKind, node: n}, nil
	case *ast.BoolNode:
		return &term{kind: boolKind, node: n, boolean: constant(n.Value)}, nil
	case *ast.IntegerNode, *ast.FloatNode:
		return c.numberLiteral(n)
	case *ast.StringNode:
		return &term{kind: textKind, node: n, literal: &n.Value, text: constant([]byte(n.Value))}, nil
	case *ast.BytesNode:
		return &term{kind: bytesKind, node: n, text: constant(append([]byte{}, n.Value...))}, nil
	case *ast.IdentifierNode:
		return c.column(n, n.Value)
	case *ast.MemberNode:
		return c.member(n)
	case *ast.UnaryNode:
		return c.unary(n)
	case *ast.BinaryNode:
		return c.binary(n)
	case *ast.ConditionalNode:
		return c.conditional(n)
	case *ast.CallNode:
		return c.call(n)
	case *ast.ArrayNode:
		return nil, c.errorf(n, "a list can only stand to the right of in")
	case *ast.SliceNode:
		return nil, c.errorf(n, "parts of a text cannot be cut out in a filter: use startsWith, endsWith, contains or matches")
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return nil, c.errorf(n, "a filter is one expression: let and ; are not part of it")
	default:
		return nil, c.errorf(n, "this is not part of a filter's language")
	}
}

// terms makes the terms of two nodes.
func (c *compiler) terms(a, b ast.Node) (l, r *term, err error) {
	if l, err = c.term(a); err != nil {
		return nil, nil, err
	}
	r, err = c.term(b)
	return l, r, err
}

// column finds a column by its exact name.
func (c *compiler) column(node ast.Node, name string) (*term, error) {
	i := c.schema.Index(name)
	if i < 0 {
		return nil, c.errorf(node, "unknown column %q: %s", name, suggest(name, c.schema.Names()))
	}
	c.used[i] = true
	return column(node, i, &c.schema.Fields[i]), nil
}

// member is $env["name"] or $env.name, the column of that name.
func (c *compiler) member(n *ast.MemberNode) (*term, error) {
	id, isName := n.Node.(*ast.IdentifierNode)
	property, isText := n.Property.(*ast.StringNode)
	if isName && isText && id.Value == "$env" {
		return c.column(n, property.Value)
	}
	if isName && isText && c.schema.Index(id.Value+"."+property.Value) >= 0 {
		return nil, c.errorf(n, "write col(%q) for the column of that name", id.Value+"."+property.Value)
	}
	return nil, c.errorf(n, "values have no members in a filter; a column whose name is not a plain word is col(\"its name\")")
}

// suggest names what may have been meant.
func suggest(name string, known []string) string {
	const most = 3
	rest := append([]string{}, known...)
	var near []string
	for len(near) < most {
		n := option.Nearest(name, rest)
		if n == "" {
			break
		}
		near = append(near, fmt.Sprintf("%q", n))
		for i := range rest {
			if rest[i] == n {
				rest = append(rest[:i], rest[i+1:]...)
				break
			}
		}
	}
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	const shown = 20
	if len(known) > shown {
		return fmt.Sprintf("known are %s and %d more", strings.Join(known[:shown], ", "), len(known)-shown)
	}
	return "known are " + strings.Join(known, ", ")
}

// words tells what a term is, for messages.
func (c *compiler) words(t *term) string {
	switch {
	case t.isUntyped():
		return fmt.Sprintf("column %q (a text, for its type is not declared)", t.column.Name)
	case t.column != nil:
		return fmt.Sprintf("column %q (%s)", t.column.Name, t.column.Type)
	}
	return kindWords[t.kind]
}

// wayOut tells how a term becomes one of the wanted kind, or "".
func (c *compiler) wayOut(t *term, want kind) string {
	functions := map[kind]string{
		boolKind: "bool", exactKind: "decimal", floatKind: "float", uuidKind: "uuid",
		dateKind: "date", timestampKind: "timestamp", instantKind: "instant", timeKind: "time",
	}
	types := map[kind]string{
		boolKind: "bool", exactKind: "int64", floatKind: "float64", uuidKind: "uuid",
		dateKind: "date", timestampKind: "timestamp", instantKind: "instant", timeKind: "time",
	}
	f := functions[want]
	switch {
	case t.kind != textKind || f == "":
		return ""
	case t.isUntyped():
		return fmt.Sprintf(": declare its type under the source's types (types: {%s: %s}), or write %s(%s)",
			t.column.Name, types[want], f, c.text(t.node))
	case t.literal != nil:
		return ""
	}
	return fmt.Sprintf(": write %s(%s)", f, c.text(t.node))
}

// text is how a part of the expression may be written again: a column's name,
// or an ellipsis.
func (c *compiler) text(node ast.Node) string {
	switch n := node.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.CallNode:
		if id, ok := n.Callee.(*ast.IdentifierNode); ok && id.Value == "col" && len(n.Arguments) == 1 {
			return fmt.Sprintf("col(%s)", n.Arguments[0])
		}
	}
	return "…"
}
