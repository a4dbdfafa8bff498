package house

import (
	"fmt"
	"strings"
	"testing"
)

// layer says what the packages that match may import of ours. A pattern ends in
// "/..." for a folder and all below it.
type layer struct {
	packages string
	may      []string
}

// layers is the house, from the ground up; the first match counts. A package
// without a layer is a finding: its place has to be decided here.
func layers() []layer {
	seam := []string{"batch/...", "connector", "connector/option"}
	files := append([]string{"internal/failpoint", "internal/storage", "internal/storage/...", "internal/files", "internal/files/..."}, seam...)
	databases := append([]string{"internal/failpoint"}, seam...)
	return []layer{
		{"batch/...", []string{"batch/..."}},
		{"internal/storage/...", []string{"internal/storage", "internal/storage/..."}},
		{"rpc/...", []string{"rpc", "rpc/..."}},
		{"heartbeat/...", []string{"heartbeat"}},
		{"metrics", nil},
		{"ratelimit", nil},
		{"zk/...", []string{"zk", "zk/..."}},
		{"internal/config", []string{"ha", "connector/option"}},
		{"ha", nil},
		{"ha/internal/coord", []string{"ha"}},
		{"ha/internal/election", []string{"ha", "ha/internal/coord"}},
		{"ha/zookeeper/...", []string{"ha", "ha/...", "zk", "zk/...", "internal/storage"}},
		{"ha/...", []string{"ha", "ha/...", "internal/storage", "internal/storage/..."}},
		{"connector/connectortest", append([]string{"internal/storage", "internal/storage/..."}, seam...)},
		{"connector/...", seam},
		{"job/...", append([]string{"job/..."}, seam...)},
		{"internal/files/filestest", append([]string{"connector/connectortest"}, files...)},
		{"internal/files/...", files},
		{"internal/database", databases},
		{"internal/gather", nil},
		{"internal/connectors", append([]string{"internal/connectors/..."}, files...)},
		{"internal/connectors/...", append([]string{"internal/database", "internal/gather"}, files...)},
		{"internal/filter/...", append([]string{"internal/filter/..."}, seam...)},
		{"internal/task/...", append([]string{"internal/task/...", "metrics", "ratelimit", "internal/failpoint", "internal/filter", "internal/storage", "internal/storage/..."}, seam...)},
		{"internal/jobmaster/...", []string{"connector", "ratelimit"}},
		{"internal/local/...", append([]string{
			"job/...", "internal/local/...", "internal/task/...", "internal/jobmaster",
			"internal/connectors", "internal/connectors/...", "internal/filter", "metrics", "ratelimit",
		}, files...)},
		{"internal/elect", []string{"ha"}},
		{"internal/cli/...", append([]string{
			"internal/config", "internal/elect", "ha", "ha/...",
			"job/...", "internal/cli/...", "internal/local/...", "internal/task/...",
			"internal/jobmaster", "internal/connectors", "internal/connectors/...", "internal/filter",
			"internal/failpoint", "internal/verify", "metrics", "ratelimit",
		}, files...)},
		{"internal/failpoint", nil},
		{"internal/verify", append([]string{"job/...", "internal/task", "internal/filter"}, seam...)},
		{"internal/testenv/...", []string{"internal/testenv/..."}},
		{"cmd/leat", []string{"internal/cli"}},
		{"test/...", []string{"..."}},
		{"bench/...", []string{"..."}},
		{"examples/...", seam},
	}
}

func matches(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == folder || strings.HasPrefix(pkg, folder+"/")
	}
	return pattern == pkg
}

// direction holds that imports run one way. Tests are free: they bring together
// what the code keeps apart.
func direction(tr *tree) []string {
	var findings []string
	for _, f := range tr.files {
		if f.isTest() {
			continue
		}
		l, ok := layerOf(f.pkg())
		if !ok {
			findings = append(findings, fmt.Sprintf("%s: package %s has no layer in test/house", f.name, f.pkg()))
			continue
		}
		for _, imported := range f.imports() {
			ours, ok := strings.CutPrefix(imported, module+"/")
			if ok && !allowed(l, f.pkg(), ours) {
				findings = append(findings, fmt.Sprintf("%s: %s must not import %s", f.name, f.pkg(), ours))
			}
		}
	}
	return findings
}

func layerOf(pkg string) (layer, bool) {
	for _, l := range layers() {
		if matches(l.packages, pkg) {
			return l, true
		}
	}
	return layer{}, false
}

func allowed(l layer, pkg, imported string) bool {
	// A connector may be split into packages of its own.
	if strings.HasPrefix(pkg, "internal/connectors/") && strings.HasPrefix(imported, pkg+"/") {
		return true
	}
	for _, pattern := range l.may {
		if matches(pattern, imported) {
			return true
		}
	}
	return false
}

func TestImportsRunOneWay(t *testing.T) {
	t.Parallel()
	holds(t, direction, map[string]string{
		"batch/a.go":                      ours("batch", "connector"),
		"connector/a.go":                  ours("connector", "internal/files"),
		"internal/connectors/csv/a.go":    ours("csv", "internal/connectors/sqlite"),
		"internal/connectors/csv/b.go":    ours("csv", "internal/connectors/csv/dialect"),
		"internal/connectors/registry.go": ours("connectors", "internal/connectors/csv"),
		"internal/jobmaster/a.go":         ours("jobmaster", "batch"),
		"internal/local/a.go":             ours("local", "internal/testenv"),
		"internal/task/a.go":              ours("task", "internal/connectors"),
		"internal/task/a_test.go":         ours("task", "internal/connectors"),
		"cmd/leat/main.go":                ours("main", "internal/local"),
		"internal/util/a.go":              "package util\n",
	},
		"batch must not import connector",
		"connector must not import internal/files",
		"internal/connectors/csv must not import internal/connectors/sqlite",
		"internal/jobmaster must not import batch",
		"internal/local must not import internal/testenv",
		"internal/task must not import internal/connectors",
		"cmd/leat must not import internal/local",
		"package internal/util has no layer",
	)
}

func ours(pkg, imported string) string {
	return fmt.Sprintf("package %s\n\nimport _ %q\n", pkg, module+"/"+imported)
}
