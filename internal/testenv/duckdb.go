package testenv

import (
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed duckdb/package.json
var duckDBPackage []byte //nolint:gochecknoglobals // embedded

//go:embed duckdb/query.cjs
var duckDBQuery []byte //nolint:gochecknoglobals // embedded

// DuckDB runs statements in DuckDB, each in a process and a database in memory
// of its own.
type DuckDB struct{ node, folder, program string }

// NewDuckDB returns the DuckDB that scripts/install-duckdb has installed.
func NewDuckDB(t testing.TB) *DuckDB {
	t.Helper()
	const missing = "%v: make test installs it, or scripts/install-duckdb"
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf(missing, err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(duckDBPackage, &p); err != nil {
		t.Fatal(err)
	}
	d := &DuckDB{
		node:    node,
		folder:  filepath.Join(cache, "leat", "duckdb-"+p.Dependencies["@duckdb/node-api"]),
		program: filepath.Join(t.TempDir(), "query.cjs"),
	}
	if _, err := os.Stat(filepath.Join(d.folder, "node_modules", "@duckdb", "node-api")); err != nil {
		t.Fatalf(missing, err)
	}
	if err := os.WriteFile(d.program, duckDBQuery, 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// Query runs a statement and returns its rows, whose columns are texts or NULL.
func (d *DuckDB) Query(t testing.TB, sql string) [][]*string {
	t.Helper()
	p := StartProcess(t, Command{Path: d.node, Args: []string{d.program, d.folder, "1"}, Stdin: strings.NewReader(sql)})
	if exit := p.Wait(t); exit.Code != 0 {
		t.Fatalf("DuckDB: %s\nof %s", p.Stderr(), sql)
	}
	var rows [][]*string
	if err := json.Unmarshal([]byte(p.Stdout()), &rows); err != nil {
		t.Fatalf("DuckDB: %v in %.1000s, of %s", err, p.Stdout(), sql)
	}
	return rows
}
