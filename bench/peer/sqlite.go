package peer

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/leatdata/leat/bench/process"
)

// SQLite is the shell sqlite3.
type SQLite struct {
	path    string
	Version string
}

// FindSQLite finds sqlite3 on the PATH.
func FindSQLite(ctx context.Context) (SQLite, error) {
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		return SQLite{}, fmt.Errorf("find sqlite3, of the Debian package sqlite3: %w", err)
	}
	s := SQLite{path: path}
	version, err := query(ctx, path, "--version")
	s.Version, _, _ = strings.Cut(version, " ")
	return s, err
}

// Command runs sqlite3, which stops at an error and reads no file of the user's.
func (s SQLite) Command(args ...string) process.Command {
	return process.Command{Path: s.path, Args: append([]string{"-batch", "-bail", "-init", "/dev/null"}, args...)}
}

// Query runs sqlite3 and returns what it prints.
func (s SQLite) Query(ctx context.Context, args ...string) (string, error) {
	c := s.Command(args...)
	return query(ctx, c.Path, c.Args...)
}
