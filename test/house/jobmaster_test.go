package house

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// ledgerFiles are the pure part of ratelimit, which the jobmaster holds.
var ledgerFiles = [...]string{"account.go", "amount.go", "ledger.go", "lease.go", "model.go", "policy.go", "round.go", "whole.go", "worker.go"}

// ofJobmaster reports whether a file is of the jobmaster or of its ledger.
func ofJobmaster(f *file) bool {
	dir, base := path.Split(f.name)
	return matches("internal/jobmaster/...", f.pkg()) || dir == "ratelimit/" && slices.Contains(ledgerFiles[:], base)
}

// pure holds that the jobmaster is a state machine: no clock, network, file,
// goroutine, lock, chance or logger inside, and no library but our seam.
func pure(tr *tree) []string {
	var findings []string
	for _, f := range tr.files {
		if f.isTest() || !ofJobmaster(&f) {
			continue
		}
		for _, imported := range f.imports() {
			if impure(imported) {
				findings = append(findings, fmt.Sprintf("%s: the jobmaster must not import %s", f.name, imported))
			}
		}
		clock := f.calls("time", "Now", "Since", "Until", "Sleep", "After", "AfterFunc",
			"Tick", "NewTimer", "NewTicker")
		for _, use := range clock {
			findings = append(findings, fmt.Sprintf("%s: the jobmaster must not use time.%s", tr.at(use), use.Sel.Name))
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
				findings = append(findings, fmt.Sprintf("%s: the jobmaster must not use goroutines or channels", tr.at(n)))
			}
			return true
		})
	}
	return findings
}

func impure(imported string) bool {
	if strings.HasPrefix(imported, module+"/") {
		return false // imports_test.go judges ours
	}
	first, _, _ := strings.Cut(imported, "/")
	if strings.Contains(first, ".") {
		return true // not of the standard library
	}
	for _, p := range []string{
		"net", "os", "log", "io", "sync", "syscall", "runtime", "context",
		"math/rand", "crypto/rand", "database", "testing", "unsafe",
	} {
		if imported == p || strings.HasPrefix(imported, p+"/") {
			return true
		}
	}
	return false
}

func TestJobmasterIsPure(t *testing.T) {
	t.Parallel()
	holds(t, pure, map[string]string{
		"internal/jobmaster/a.go": `package jobmaster

import (
	"log/slog"
	"math/rand/v2"
	clock "time"

	"github.com/google/uuid"
)

var start clock.Time

func f() {
	_ = clock.Now()
	go f()
}
`,
		"ratelimit/ledger.go":          "package ratelimit\n\nimport _ \"sync\"\n",
		"ratelimit/limiter.go":         "package ratelimit\n\nimport _ \"net\"\n",
		"internal/local/a.go":          "package local\n\nimport _ \"net\"\n",
		"internal/jobmaster/a_test.go": "package jobmaster\n\nimport _ \"os\"\n",
	},
		"must not import log/slog",
		"must not import math/rand/v2",
		"must not import github.com/google/uuid",
		"must not use time.Now",
		"must not use goroutines",
		"must not import sync",
	)
}
