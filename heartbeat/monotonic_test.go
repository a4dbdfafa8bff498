package heartbeat

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A wall clock that is set, by hand or by its time server, moves no deadline: the
// package asks what time it is in one place only, when services are made, and all
// else is how long ago that was.
func TestNoWallClockIsRead(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	var asked []string
	for _, name := range ownFiles(t) {
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			where := name
			if fn, ok := d.(*ast.FuncDecl); ok {
				where = fn.Name.Name
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok && readsClock(sel) {
					asked = append(asked, where+" "+sel.Sel.Name)
				}
				return true
			})
		}
	}
	if !slices.Equal(asked, []string{"New Now", "New Since"}) {
		t.Errorf("the clock is read by %q", asked)
	}
}

func readsClock(sel *ast.SelectorExpr) bool {
	pkg, ok := sel.X.(*ast.Ident)
	return ok && pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Unix", "UnixMilli"}, sel.Sel.Name)
}

// ownFiles are the package's sources without its tests.
func ownFiles(t *testing.T) (names []string) {
	t.Helper()
	all, err := filepath.Glob("*.go")
	if err != nil || len(all) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// The times that are given out have a monotonic reading, with any clock.
func TestTimesAreMonotonic(t *testing.T) {
	t.Parallel()
	for name, clock := range map[string]func() time.Duration{"the process's": nil, "another": newShifted().now} {
		m, _ := newPassive(t, start(t, Config{Clock: clock}), "worker")
		monitor(t, m, "master", nowhere()).Heard()
		last, ok := m.LastHeartbeatFrom("master")
		if !ok || !strings.Contains(last.String(), " m=") {
			t.Errorf("%s clock: last heard at %s", name, last)
		}
	}
}
