package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/leatdata/leat"

// file is one parsed Go file.
type file struct {
	// name is its path below the module's root, with slashes.
	name  string
	lines int
	ast   *ast.File
}

// tree is all Go files of the project, those of the bench module included.
type tree struct {
	fset  *token.FileSet
	files []file
}

// loadTree parses every Go file below the module's root, except what tests only
// read and the tools' own module.
func loadTree(t *testing.T) *tree {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatalf("find the module's root: %v", err)
	}
	out := &tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			hidden := name != "." && strings.HasPrefix(d.Name(), ".")
			if hidden || d.Name() == "testdata" || name == "tools" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return out.add(filepath.ToSlash(name), string(text))
	})
	if err != nil {
		t.Fatalf("read the tree: %v", err)
	}
	if len(out.files) == 0 {
		t.Fatal("the tree holds no Go file")
	}
	return out
}

// sample is a tree made of texts, by file name.
func sample(t *testing.T, texts map[string]string) *tree {
	t.Helper()
	out := &tree{fset: token.NewFileSet()}
	for name, text := range texts {
		if err := out.add(name, text); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (tr *tree) add(name, text string) error {
	parsed, err := parser.ParseFile(tr.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	tr.files = append(tr.files, file{name: name, lines: strings.Count(text, "\n"), ast: parsed})
	return nil
}

// pkg is the file's folder below the module's root.
func (f file) pkg() string { return path.Dir(f.name) }

func (f file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// imports are the paths that the file imports.
func (f file) imports() []string {
	var out []string
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// at is the place of a node, for a finding.
func (tr *tree) at(n ast.Node) string { return tr.fset.Position(n.Pos()).String() }

// calls lists the uses of names of the package with this import path, whatever
// it is imported as.
func (f file) calls(importPath string, names ...string) []*ast.SelectorExpr {
	local := ""
	for _, spec := range f.ast.Imports {
		if spec.Path.Value == strconv.Quote(importPath) {
			local = path.Base(importPath)
			if spec.Name != nil {
				local = spec.Name.Name
			}
		}
	}
	if local == "" {
		return nil
	}
	var found []*ast.SelectorExpr
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local {
			for _, name := range names {
				if sel.Sel.Name == name {
					found = append(found, sel)
				}
			}
		}
		return true
	})
	return found
}

// rule finds what breaks it.
type rule func(*tree) []string

// holds applies a rule to this module, and shows on a sample that it finds
// exactly what it should: as many findings as wanted, one for each text.
func holds(t *testing.T, r rule, broken map[string]string, wants ...string) {
	t.Helper()
	for _, finding := range r(loadTree(t)) {
		t.Error(finding)
	}
	findings := r(sample(t, broken))
	if len(findings) != len(wants) {
		t.Errorf("the rule finds %d breaks of %d in the sample: %q", len(findings), len(wants), findings)
	}
	for _, want := range wants {
		if !strings.Contains(strings.Join(findings, "\n"), want) {
			t.Errorf("the rule does not find %q in the sample: %q", want, findings)
		}
	}
}
