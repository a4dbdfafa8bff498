package pgserver

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/leatdata/leat/internal/testenv/child"
)

// Config says what server to make.
type Config struct {
	// Dir is an empty folder for its data and its log.
	Dir string
	// Settings are those that differ from the server's defaults, "fsync=off".
	Settings []string
	// Ping asks the server behind a host:port, and returns nil when it answers.
	Ping func(ctx context.Context, addr string) error
}

// Server is a PostgreSQL of our own, with trust authentication for every user.
type Server struct {
	cfg      Config
	programs programs
	port     int
	daemon   child.Daemon
}

// Create makes a server's data and starts it. It returns once it answers.
func Create(ctx context.Context, cfg Config) (*Server, error) {
	p, err := find()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, programs: p}
	// SIGQUIT is an immediate shutdown: the server takes its children along.
	s.daemon = child.Daemon{
		Name: "postgres", Command: s.command, Log: s.LogFile(), Quit: syscall.SIGQUIT,
		Ping: func(ctx context.Context) error { return cfg.Ping(ctx, s.Addr()) },
	}
	if err := p.account.Own(cfg.Dir); err != nil {
		return nil, err
	}
	initdb := p.account.Command(p.initdb, "--pgdata="+s.data(), "--auth=trust", "--username=postgres",
		"--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions")
	initdb.Dir = cfg.Dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run initdb: %w\n%s", err, out)
	}
	// Between finding a free port and its use another process may take it.
	for range 5 {
		if s.port, err = child.FreePort(); err != nil {
			return nil, err
		}
		if err = s.Start(ctx); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func (s *Server) command() *exec.Cmd {
	args := []string{
		"-D", s.data(), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
	}
	for _, setting := range s.cfg.Settings {
		args = append(args, "-c", setting)
	}
	cmd := s.programs.account.Command(s.programs.postgres, args...)
	cmd.Dir = s.cfg.Dir
	return cmd
}

// Start runs the server, again after a Stop, and returns once it answers.
func (s *Server) Start(ctx context.Context) error { return s.daemon.Start(ctx) }

// Stop ends the server at once, with no goodbye to its clients; it may be
// called again.
func (s *Server) Stop() error { return s.daemon.Stop() }

// Runs says whether the server runs: it was not stopped, and has not ended.
func (s *Server) Runs() bool { return s.daemon.Runs() }

// Pid is the process id of the running server, the parent of all its
// processes; 0 when it is stopped.
func (s *Server) Pid() int { return s.daemon.Pid() }

// Addr is the server's host:port, the same for its life.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// LogFile is the path of the server's log.
func (s *Server) LogFile() string { return filepath.Join(s.cfg.Dir, "log") }

func (s *Server) data() string { return filepath.Join(s.cfg.Dir, "data") }
