package peer

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/leatdata/leat/bench/process"
)

// DuckDB is the program that scripts/install-duckdb makes.
type DuckDB struct {
	path    string
	Version string
}

// FindDuckDB finds DuckDB in its folder.
func FindDuckDB(ctx context.Context, folder string) (DuckDB, error) {
	d := DuckDB{path: filepath.Join(folder, "query")}
	if _, err := exec.LookPath(d.path); err != nil {
		return d, fmt.Errorf("find DuckDB, which scripts/install-duckdb installs: %w", err)
	}
	var err error
	d.Version, err = d.Query(ctx, "SELECT version()")
	return d, err
}

// Command runs statements with as many threads.
func (d DuckDB) Command(threads int, statements ...string) process.Command {
	settings := []string{fmt.Sprintf("SET threads = %d", threads)}
	return process.Command{Path: d.path, Args: append(settings, statements...)}
}

// Query runs statements and returns their rows, columns parted by "|".
func (d DuckDB) Query(ctx context.Context, statements ...string) (string, error) {
	return query(ctx, d.path, statements...)
}
