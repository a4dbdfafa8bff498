package filter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/parser/lexer"
)

const (
	// maxExpression bounds an expression's bytes, and so how deeply it nests.
	maxExpression = 1 << 16
	// maxExponent bounds a literal's exponent.
	maxExponent = 400
)

// parse reads the expression with expr's own parser. No builtin of expr is
// known to it, so that every call is a CallNode of a plain name.
func (c *compiler) parse(expression string) (ast.Node, error) {
	if len(expression) > maxExpression {
		return nil, fmt.Errorf("the expression is longer than %d bytes", maxExpression)
	}
	c.source = []rune(expression)
	config := conf.CreateNew()
	for _, f := range builtin.Builtins {
		config.Disabled[f.Name] = true
		config.Functions[f.Name] = f
	}
	tree, err := parser.ParseWithConfig(c.withoutLongIntegers(expression), config)
	if err != nil {
		return nil, err
	}
	return tree.Node, nil
}

// withoutLongIntegers writes floats of the same length in the place of integers
// that the parser has no room for. Their value is read from the source.
func (c *compiler) withoutLongIntegers(expression string) string {
	tokens, err := lexer.Lex(file.NewSource(expression))
	if err != nil {
		return expression
	}
	var out []rune
	for _, t := range tokens {
		text := strings.ReplaceAll(t.Value, "_", "")
		if t.Kind != lexer.Number || len(text) < 19 || strings.Trim(text, "0123456789") != "" {
			continue
		}
		if out == nil {
			out = append(out, c.source...)
		}
		copy(out[t.From:t.To], []rune("1e"+strings.Repeat("0", t.To-t.From-2)))
	}
	if out == nil {
		return expression
	}
	return string(out)
}

// numberLiteral makes an exact number of the literal's own text.
func (c *compiler) numberLiteral(node ast.Node) (*term, error) {
	var n number
	loc := node.Location()
	text := strings.ReplaceAll(string(c.source[loc.From:loc.To]), "_", "")
	if i, ok := node.(*ast.IntegerNode); ok {
		n = numberOfInt(int64(i.Value))
	} else {
		if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
			if e, err := strconv.Atoi(exponent); err != nil || e > maxExponent || e < -maxExponent {
				return nil, c.errorf(node, "the exponent of %s is out of range", text)
			}
		}
		var err error
		if n, err = numberOfDecimal([]byte(text)); err != nil {
			return nil, c.errorf(node, "%s: %v", text, err)
		}
	}
	return exactTerm(node, n), nil
}

// exactTerm is the term of a number that no record changes.
func exactTerm(node ast.Node, n number) *term {
	return &term{kind: exactKind, node: node, number: constant(n), fixed: &n, whole: n.whole()}
}
