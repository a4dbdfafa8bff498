package mariaserver

import (
	"context"
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
	// Data is what Install has returned, or "" for data of its own.
	Data string
	// Settings are those that differ from the server's defaults, "local_infile=0".
	Settings []string
	// Ping asks the server behind a host:port, and returns nil when it answers.
	Ping func(ctx context.Context, addr string) error
}

// Server is a MariaDB of our own, whose user root has no password.
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
	// The server is one process, which any other signal would have tidy up first.
	s.daemon = child.Daemon{
		Name: "mariadbd", Command: s.command, Log: s.LogFile(), Quit: syscall.SIGKILL,
		Ping: func(ctx context.Context) error { return cfg.Ping(ctx, s.Addr()) },
	}
	if err := p.account.Own(cfg.Dir); err != nil {
		return nil, err
	}
	if cfg.Data == "" {
		err = p.makeData(cfg.Dir)
	} else {
		err = p.copyData(cfg.Dir, cfg.Data)
	}
	if err != nil {
		return nil, err
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
		"--no-defaults", "--datadir=" + s.data(), "--tmpdir=" + s.cfg.Dir, "--port=" + strconv.Itoa(s.port), "--bind-address=127.0.0.1",
		"--socket=", "--pid-file=" + filepath.Join(s.data(), "mariadbd.pid"), "--skip-name-resolve",
	}
	for _, setting := range s.cfg.Settings {
		args = append(args, "--"+setting)
	}
	cmd := s.programs.account.Command(s.programs.server, args...)
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

// Pid is the process id of the running server; 0 when it is stopped.
func (s *Server) Pid() int { return s.daemon.Pid() }

// Addr is the server's host:port, the same for its life.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// LogFile is the path of the server's log.
func (s *Server) LogFile() string { return filepath.Join(s.cfg.Dir, "log") }

func (s *Server) data() string { return dataFolder(s.cfg.Dir) }
