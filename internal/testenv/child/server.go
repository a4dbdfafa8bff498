package child

import (
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// Config says what server to make.
type Config struct {
	// Dir is an empty folder for its data and its log.
	Dir string
	// Template is what its data are copied from; nil for data of its own.
	Template *Template
	// Settings are those that differ from the server's defaults, "fsync=off".
	Settings []string
	// Ping asks the server behind a host:port, and returns nil when it answers.
	Ping func(ctx context.Context, addr string) error
}

// Data is the folder of the server's data.
func (c *Config) Data() string { return filepath.Join(c.Dir, "data") }

// Program is a kind of server: how its data is made and how it is run.
type Program struct {
	// Name is the program's, for errors.
	Name string
	// Account is whom its processes run as.
	Account Account
	// Quit ends the program and its children at once.
	Quit syscall.Signal
	// Install makes the command that makes the data, Run that of each start.
	Install func(c *Config) *exec.Cmd
	Run     func(c *Config, port int) *exec.Cmd
}

// Server is a server of our own, on a free loopback port that is the same for
// its life.
type Server struct {
	Daemon
	cfg     Config
	program Program
	port    int
}

// Create makes a server's data and starts it. It returns once it answers.
func Create(ctx context.Context, program Program, cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, program: program}
	s.Daemon = Daemon{
		Name: program.Name, Command: s.command, Log: s.LogFile(), Quit: program.Quit,
		Ping: func(ctx context.Context) error { return cfg.Ping(ctx, s.Addr()) },
	}
	if err := program.makeData(&s.cfg); err != nil {
		return nil, err
	}
	// Between finding a free port and its use another process may take it.
	var err error
	for range 5 {
		if s.port, err = FreePort(); err != nil {
			return nil, err
		}
		if err = s.Start(ctx); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func (s *Server) command() *exec.Cmd {
	cmd := s.program.Run(&s.cfg, s.port)
	cmd.Dir = s.cfg.Dir
	return cmd
}

// Addr is the server's host:port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// LogFile is the path of the server's log.
func (s *Server) LogFile() string { return filepath.Join(s.cfg.Dir, "log") }
