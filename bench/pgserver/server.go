package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/leatdata/leat/bench/process"
	"github.com/leatdata/leat/internal/testenv/pgserver"
)

// Settings are the server's settings that differ from its defaults and matter
// for the figures. Autovacuum is off so that it does not fall on one run and not
// on the next.
func Settings() []string {
	return []string{
		"wal_level=replica", "synchronous_commit=off", "shared_buffers=1GB",
		"max_wal_size=8GB", "autovacuum=off",
	}
}

// Server is a running PostgreSQL with trust authentication, seen from one of its
// databases.
type Server struct {
	server   *pgserver.Server
	dir      string
	psql     string
	database string
}

// Start makes a new database cluster and runs a server on it, until Stop or our
// own end.
func Start(ctx context.Context) (*Server, error) {
	psql, err := pgserver.Psql()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "leat-bench-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, psql: psql, database: "postgres"}
	s.server, err = pgserver.Create(ctx, pgserver.Config{Dir: dir, Settings: Settings(), Ping: s.ping})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start postgres: %w", err), os.RemoveAll(dir))
	}
	return s, nil
}

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	return errors.Join(s.server.Stop(), os.RemoveAll(s.dir))
}

// In is the same server, seen from another database.
func (s *Server) In(database string) *Server {
	other := *s
	other.database = database
	return &other
}

// URL is the address of the database.
func (s *Server) URL() string { return s.urlAt(s.server.Addr()) }

func (s *Server) urlAt(addr string) string {
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", addr, s.database)
}

// Pid is the process id of the server, the parent of all its processes.
func (s *Server) Pid() int { return s.server.Pid() }

// Psql is the command psql on this server.
func (s *Server) Psql(args ...string) process.Command { return s.psqlAt(s.URL(), args...) }

func (s *Server) psqlAt(url string, args ...string) process.Command {
	return process.Command{
		Path: s.psql,
		Args: append([]string{"--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", url}, args...),
	}
}

// PgDump is the command pg_dump on the database.
func (s *Server) PgDump(args ...string) process.Command {
	return process.Command{
		Path: filepath.Join(filepath.Dir(s.psql), "pg_dump"),
		Args: append(args, s.URL()),
	}
}

// Query runs SQL through psql and returns its rows, columns parted by "|".
func (s *Server) Query(ctx context.Context, sql ...string) (string, error) {
	return s.queryAt(ctx, s.URL(), sql...)
}

func (s *Server) ping(ctx context.Context, addr string) error {
	_, err := s.queryAt(ctx, s.urlAt(addr), "SELECT 1")
	return err
}

func (s *Server) queryAt(ctx context.Context, url string, sql ...string) (string, error) {
	args := []string{"--no-align", "--tuples-only"}
	for _, statement := range sql {
		args = append(args, "--command", statement)
	}
	c := s.psqlAt(url, args...)
	out, err := exec.CommandContext(ctx, c.Path, c.Args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %q: %w\n%s", strings.Join(sql, "; "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
