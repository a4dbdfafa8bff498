package mariadbserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/leatdata/leat/bench/process"
	"github.com/leatdata/leat/internal/testenv/mariaserver"
)

// Settings are the server's settings that differ from its defaults and matter
// for the figures. A commit goes to the log file and is synced within a second,
// as with PostgreSQL's synchronous_commit=off.
func Settings() []string {
	return []string{
		"innodb_buffer_pool_size=1G", "innodb_log_file_size=2G", "innodb_flush_log_at_trx_commit=2",
		"max_allowed_packet=256M", "local_infile=1",
	}
}

// Server is a running MariaDB, whose user root has no password, seen from one of
// its databases.
type Server struct {
	server       *mariaserver.Server
	dir          string
	client, dump string
	database     string
}

// Start makes a new server with a database named bench, and runs it until Stop
// or our own end.
func Start(ctx context.Context) (*Server, error) {
	s := &Server{database: "bench"}
	for name, path := range map[string]*string{"mariadb": &s.client, "mariadb-dump": &s.dump} {
		var err error
		if *path, err = exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("find MariaDB's clients, of the Debian package mariadb-client: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "leat-bench-")
	if err != nil {
		return nil, err
	}
	s.dir = dir
	s.server, err = mariaserver.Create(ctx, mariaserver.Config{Dir: dir, Settings: Settings(), Ping: s.ping})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start mariadbd: %w", err), os.RemoveAll(dir))
	}
	if err := s.Create(ctx, s.database); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// Create makes another database.
func (s *Server) Create(ctx context.Context, database string) error {
	_, err := s.queryAt(ctx, s.server.Addr(), "", "CREATE DATABASE "+database+" CHARACTER SET utf8mb4")
	return err
}

// In is the same server, seen from another database.
func (s *Server) In(database string) *Server {
	other := *s
	other.database = database
	return &other
}

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	return errors.Join(s.server.Stop(), os.RemoveAll(s.dir))
}

// URL is the address of the database.
func (s *Server) URL() string {
	return fmt.Sprintf("mysql://root@%s/%s", s.server.Addr(), s.database)
}

// Pid is the process id of the server.
func (s *Server) Pid() int { return s.server.Pid() }

// Client is the command mariadb on the database.
func (s *Server) Client(args ...string) process.Command {
	return process.Command{Path: s.client, Args: append(options(s.server.Addr()), append(args, s.database)...)}
}

// Dump is the command mariadb-dump, which mysqldump is a name of, for tables of
// the database.
func (s *Server) Dump(flags []string, tables ...string) process.Command {
	args := append(options(s.server.Addr()), flags...)
	return process.Command{Path: s.dump, Args: append(append(args, s.database), tables...)}
}

// options are where clients find the server; they read no file of the user's.
func options(addr string) []string {
	host, port, _ := net.SplitHostPort(addr)
	return []string{"--no-defaults", "--protocol=tcp", "--host=" + host, "--port=" + port, "--user=root"}
}

// Query runs SQL and returns its rows, columns parted by tabs.
func (s *Server) Query(ctx context.Context, sql ...string) (string, error) {
	return s.queryAt(ctx, s.server.Addr(), s.database, sql...)
}

func (s *Server) ping(ctx context.Context, addr string) error {
	_, err := s.queryAt(ctx, addr, "", "SELECT 1")
	return err
}

func (s *Server) queryAt(ctx context.Context, addr, database string, sql ...string) (string, error) {
	text := strings.Join(sql, ";\n")
	args := append(options(addr), "--batch", "--skip-column-names", "--local-infile=1", "--execute="+text, database)
	out, err := exec.CommandContext(ctx, s.client, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %q: %w\n%s", text, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
