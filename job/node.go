package job

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/leatdata/leat/connector/option"
)

// shape is what a node of the tree is.
type shape uint8

const (
	null shape = iota
	scalar
	list
	mapping
)

var shapeNames = [...]string{"nothing", "one value", "a list", "a map"}

// node is a part of a job file that knows its line.
type node struct {
	shape shape
	line  int
	// text is a scalar's text as written, never rewritten by a type: 007
	// stays 007.
	text string
	// quoted is true of a scalar that cannot be anything but a text.
	quoted bool
	// hidden says that the text holds a value of the environment or a file.
	hidden  bool
	items   []*node
	entries []entry
}

// entry is a key of a mapping and its value.
type entry struct {
	key   string
	line  int
	value *node
}

// maxDepth bounds how deep lists and maps nest.
const maxDepth = 32

// maxFile bounds a job file's size.
const maxFile = 4 << 20

// readTree parses YAML; nil with problems when it is none.
func readTree(data []byte, p *problems) *node {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(data) > maxFile {
		p.add(0, "a job file has at most %s", option.Size(maxFile))
		return nil
	}
	file, err := parseYAML(data)
	if err != nil {
		addSyntaxError(data, err, p)
		return nil
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType {
			bodies = append(bodies, doc.Body)
		}
	}
	if len(bodies) == 0 {
		p.add(0, "is empty")
		return nil
	}
	if len(bodies) > 1 {
		p.add(lineOf(bodies[1]), "a second document begins; a file holds one job")
		return nil
	}
	return (&treeBuilder{problems: p}).build(bodies[0], 0)
}

// parseYAML turns a panic of the YAML library into an error.
func parseYAML(data []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("the text is not YAML")
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// addSyntaxError says what the YAML library says without the source line,
// which may hold a secret.
func addSyntaxError(data []byte, err error, p *problems) {
	syntax, ok := errors.AsType[*yaml.SyntaxError](err)
	if !ok {
		p.add(0, "the text is not YAML")
		return
	}
	line := 0
	if tk := syntax.GetToken(); tk != nil && tk.Position != nil {
		line = tk.Position.Line
	}
	hint := ""
	lines := strings.Split(string(data), "\n")
	if line > 0 && line <= len(lines) && strings.Contains(lines[line-1], "${") {
		hint = `; within { } and [ ], ${…} stands in quotes: "${name}"`
	}
	p.add(line, "YAML: %s%s", option.MaskURL(syntax.GetMessage()), hint)
}

// treeBuilder makes nodes from the YAML library's.
type treeBuilder struct{ problems *problems }

func (t *treeBuilder) build(n ast.Node, depth int) *node {
	if depth > maxDepth {
		t.problems.add(lineOf(n), "lists and maps nest too deep")
		return &node{shape: null, line: lineOf(n)}
	}
	line := lineOf(n)
	switch x := n.(type) {
	case *ast.NullNode:
		return &node{shape: null, line: line}
	case *ast.StringNode:
		return &node{shape: scalar, line: line, text: x.Value, quoted: strings.HasPrefix(strings.TrimSpace(x.Token.Origin), `"`) ||
			strings.HasPrefix(strings.TrimSpace(x.Token.Origin), `'`)}
	case *ast.LiteralNode:
		return &node{shape: scalar, line: line, text: x.Value.Value, quoted: true}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{shape: scalar, line: line, text: n.GetToken().Value}
	case *ast.MappingNode:
		return t.mapping(x.Values, line, depth)
	case *ast.MappingValueNode:
		return t.mapping([]*ast.MappingValueNode{x}, line, depth)
	case *ast.SequenceNode:
		out := &node{shape: list, line: line}
		for _, item := range x.Values {
			out.items = append(out.items, t.build(item, depth+1))
		}
		return out
	case nil:
		return &node{shape: null}
	}
	t.problems.add(line, "%s is not for job files", strings.ToLower(n.Type().String()))
	return &node{shape: null, line: line}
}

func (t *treeBuilder) mapping(values []*ast.MappingValueNode, line, depth int) *node {
	out := &node{shape: mapping, line: line}
	seen := map[string]int{}
	for _, v := range values {
		keyLine := lineOf(v.Key)
		key, ok := keyText(v.Key)
		if !ok {
			t.problems.add(keyLine, "a key must be a plain text")
			continue
		}
		if first, twice := seen[key]; twice {
			t.problems.add(keyLine, "key %q stands already in line %d", key, first)
			continue
		}
		seen[key] = keyLine
		if len(out.entries) == 0 {
			out.line = keyLine
		}
		out.entries = append(out.entries, entry{key: key, line: keyLine, value: t.build(v.Value, depth+1)})
	}
	return out
}

func keyText(k ast.MapKeyNode) (string, bool) {
	switch x := k.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	return "", false
}

func lineOf(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// get returns the entry of a mapping by its key, or nil.
func (n *node) get(key string) *entry {
	for i := range n.entries {
		if n.entries[i].key == key {
			return &n.entries[i]
		}
	}
	return nil
}

// value returns the node as package option takes values: texts, lists, maps
// and nil.
func (n *node) value() any {
	switch n.shape {
	case scalar:
		return n.text
	case list:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.value()
		}
		return items
	case mapping:
		return n.values()
	}
	return nil
}

// values returns a mapping's entries.
func (n *node) values() map[string]any {
	values := make(map[string]any, len(n.entries))
	for _, e := range n.entries {
		values[e.key] = e.value.value()
	}
	return values
}

// lineAt returns the line of an option by the name that a problem has for it:
// "casts[0].name"; the nearest line around it when it is not there.
func (n *node) lineAt(path string) int {
	line := n.line
	for n != nil && path != "" {
		var inner *node
		switch n.shape {
		case mapping:
			for _, e := range n.entries {
				if rest, ok := strings.CutPrefix(path, e.key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
					line, inner, path = e.line, e.value, strings.TrimPrefix(rest, ".")
					break
				}
			}
		case list:
			var i int
			if _, err := fmt.Sscanf(path, "[%d]", &i); err == nil && i < len(n.items) {
				inner = n.items[i]
				line = inner.line
				_, path, _ = strings.Cut(path, "]")
				path = strings.TrimPrefix(path, ".")
			}
		}
		n = inner
	}
	return line
}

// anyHidden reports whether a value of the environment or a file is in the node.
func (n *node) anyHidden() bool {
	if n.hidden {
		return true
	}
	for _, item := range n.items {
		if item.anyHidden() {
			return true
		}
	}
	for _, e := range n.entries {
		if e.value.anyHidden() {
			return true
		}
	}
	return false
}
