package house

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// comments holds that every package says what it is.
func comments(tr *tree) []string {
	said := map[string]bool{}
	for _, f := range tr.files {
		if !f.isTest() {
			said[f.pkg()] = said[f.pkg()] || f.ast.Doc != nil
		}
	}
	var findings []string
	for pkg, ok := range said {
		if !ok {
			findings = append(findings, fmt.Sprintf("%s: the package has no comment", pkg))
		}
	}
	slices.Sort(findings)
	return findings
}

func TestPackagesHaveComments(t *testing.T) {
	t.Parallel()
	holds(t, comments, map[string]string{
		"a/a.go":      "package a\n",
		"a/a_test.go": "// Package a is explained in a test only.\npackage a\n",
		"b/b.go":      "package b\n",
		"b/doc.go":    "// Package b is explained.\npackage b\n",
	}, "a: the package has no comment")
}

// waits holds that nothing sleeps: tests neither.
func waits(tr *tree) []string {
	var findings []string
	for _, f := range tr.files {
		for _, use := range f.calls("time", "Sleep", "After") {
			findings = append(findings, fmt.Sprintf("%s: time.%s: wait for a signal, a condition or a timer that is stopped",
				tr.at(use), use.Sel.Name))
		}
	}
	return findings
}

func TestNothingSleeps(t *testing.T) {
	t.Parallel()
	holds(t, waits, map[string]string{
		"a/a.go":      "package a\n\nimport \"time\"\n\nfunc f() { time.Sleep(1); time.NewTimer(1).Stop() }\n",
		"a/a_test.go": "package a\n\nimport clock \"time\"\n\nfunc g() { <-clock.After(1) }\n",
		"a/b.go":      "package a\n\nfunc h(time interface{ Sleep() }) { time.Sleep() }\n",
	}, "a/a.go:5:12: time.Sleep", "a/a_test.go:5:14: time.After")
}

// inits holds that importing a package runs nothing of ours.
func inits(tr *tree) []string {
	var findings []string
	for _, f := range tr.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				findings = append(findings, fmt.Sprintf("%s: init()", tr.at(fn)))
			}
		}
	}
	return findings
}

func TestNoPackageInitialises(t *testing.T) {
	t.Parallel()
	holds(t, inits, map[string]string{
		"a/a.go": "package a\n\nfunc init() {}\n\ntype T struct{}\n\nfunc (T) init() {}\n",
	}, "a/a.go:3:1: init()")
}

// measured is how tests that run without the race detector are named: make test
// selects them by it.
var measured = regexp.MustCompile(`^Test(Alloc|Memory|Startup)`)

// raceless holds that a test which the race detector's build leaves out has a
// name by which the other run picks it up.
func raceless(tr *tree) []string {
	var findings []string
	for _, f := range tr.files {
		if !f.isTest() || !leftOutByRace(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") || fn.Name.Name == "TestMain" {
				continue
			}
			if !measured.MatchString(fn.Name.Name) {
				findings = append(findings, fmt.Sprintf("%s: %s is built without the race detector only, and never run: "+
					"name it TestAlloc…, TestMemory… or TestStartup…", tr.at(fn), fn.Name.Name))
			}
		}
	}
	return findings
}

// leftOutByRace says whether a file's build constraint fails just because the
// race detector is on.
func leftOutByRace(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if group.Pos() > f.Package || !constraint.IsGoBuild(c.Text) {
				continue
			}
			expr, err := constraint.Parse(c.Text)
			if err != nil {
				continue
			}
			with := expr.Eval(func(string) bool { return true })
			without := expr.Eval(func(tag string) bool { return tag != "race" })
			return without && !with
		}
	}
	return false
}

func TestMeasuringTestsAreRun(t *testing.T) {
	t.Parallel()
	holds(t, raceless, map[string]string{
		"a/a_test.go": "//go:build !race\n\npackage a\n\nfunc TestAllocs() {}\n\nfunc TestSize() {}\n",
		"a/b_test.go": "//go:build linux\n\npackage a\n\nfunc TestOther() {}\n",
		"a/c_test.go": "//go:build linux && !race\n\npackage a\n\nfunc TestSlow() {}\n",
	}, "TestSize is built", "TestSlow is built")
}
