package peer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leatdata/leat/bench/process"
)

// PgLoader is the program pgloader.
type PgLoader struct {
	path    string
	Version string
}

// FindPgLoader finds pgloader on the PATH.
func FindPgLoader(ctx context.Context) (PgLoader, error) {
	path, err := exec.LookPath("pgloader")
	if err != nil {
		return PgLoader{}, fmt.Errorf("find pgloader, of the Debian package pgloader: %w", err)
	}
	p := PgLoader{path: path}
	version, err := query(ctx, path, "--version")
	// pgloader version "3.6.7~devel"
	if parts := strings.Split(version, `"`); len(parts) > 1 {
		p.Version = parts[1]
	}
	return p, err
}

// Command runs a load command, in pgloader's language, with its files in folder.
func (p PgLoader) Command(folder, load string) (process.Command, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return process.Command{}, fmt.Errorf("make pgloader's folder: %w", err)
	}
	file := filepath.Join(folder, "command.load")
	if err := os.WriteFile(file, []byte(load), 0o600); err != nil {
		return process.Command{}, fmt.Errorf("write pgloader's command: %w", err)
	}
	return process.Command{
		Path: p.path,
		Args: []string{"--quiet", "--root-dir", folder, file},
	}, nil
}

// query runs a program and returns what it prints.
func query(ctx context.Context, path string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %s: %w\n%s", filepath.Base(path), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
