package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// build is one binary, made once per test binary.
type build struct {
	once sync.Once
	path string
	err  error
}

// BuildOption changes how a binary is built.
type BuildOption func(args []string) []string

// Tags builds with build tags.
func Tags(tags ...string) BuildOption {
	return func(args []string) []string { return append(args, "-tags="+strings.Join(tags, ",")) }
}

// Race builds with the race detector.
func Race() BuildOption {
	return func(args []string) []string { return append(args, "-race") }
}

// Leat builds the leat command and returns the path of the binary. Each set of
// options is built once per test binary.
func Leat(t testing.TB, options ...BuildOption) string {
	t.Helper()
	return Build(t, "./cmd/leat", options...)
}

// Build builds the main package pkg, a path relative to the module's root, and
// returns the path of the binary.
func Build(t testing.TB, pkg string, options ...BuildOption) string {
	t.Helper()
	args := []string{"build", "-buildvcs=false", "-ldflags=-w"}
	for _, option := range options {
		args = option(args)
	}
	b := shared.build(strings.Join(append(args, pkg), " "))
	b.once.Do(func() { b.path, b.err = goBuild(pkg, args) })
	if b.err != nil {
		t.Fatalf("build %s: %v", pkg, b.err)
	}
	return b.path
}

func goBuild(pkg string, args []string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	dir, err := shared.folder("build")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", append(args, "-o", path, pkg)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return path, nil
}

// ModuleRoot is the folder of the project's go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// moduleRoot walks up from the folder that the tests run in, their package's.
func moduleRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find the module: no go.mod in %s or above", start)
		}
	}
}
