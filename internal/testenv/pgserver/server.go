package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
)

// timeout bounds each start and stop of a server, on a busy machine too.
const timeout = 90 * time.Second

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

	mu      sync.Mutex
	running *child.Child
}

// Create makes a server's data and starts it. It returns once it answers.
func Create(ctx context.Context, cfg Config) (*Server, error) {
	p, err := find()
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, programs: p}
	if err := p.own(cfg.Dir); err != nil {
		return nil, err
	}
	initdb := p.command(p.initdb, "--pgdata="+s.data(), "--auth=trust", "--username=postgres",
		"--no-sync", "--encoding=UTF8", "--locale=C", "--no-instructions")
	initdb.Dir = cfg.Dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("run initdb: %w\n%s", err, out)
	}
	// Between finding a free port and its use another process may take it.
	for range 5 {
		if s.port, err = freePort(); err != nil {
			return nil, err
		}
		if err = s.Start(ctx); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// Start runs the server, again after a Stop, and returns once it answers.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return errors.New("the server runs already")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	log, err := os.OpenFile(s.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	args := []string{
		"-D", s.data(), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
	}
	for _, setting := range s.cfg.Settings {
		args = append(args, "-c", setting)
	}
	cmd := s.programs.command(s.programs.postgres, args...)
	cmd.Dir = s.cfg.Dir
	cmd.Stderr = log
	// SIGQUIT is an immediate shutdown: the server takes its children along.
	running, err := child.Start(cmd, syscall.SIGQUIT)
	if err != nil {
		return fmt.Errorf("run postgres: %w", err)
	}
	if err := s.await(ctx, running); err != nil {
		_ = running.Signal(syscall.SIGQUIT)
		<-running.Done
		text, _ := os.ReadFile(s.LogFile())
		return fmt.Errorf("await postgres on port %d: %w\n%s", s.port, err, text)
	}
	s.running = running
	return nil
}

// await returns once the server answers, or with the reason why it will not.
func (s *Server) await(ctx context.Context, running *child.Child) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.cfg.Ping(ctx, s.Addr())
		if err == nil {
			return nil
		}
		select {
		case <-running.Done:
			return fmt.Errorf("it ended: %w", running.Err)
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// Stop ends the server at once, with no goodbye to its clients; it may be
// called again.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return nil
	}
	running := s.running
	s.running = nil
	if err := running.Signal(syscall.SIGQUIT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal postgres: %w", err)
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-running.Done:
		return nil
	case <-late.C:
		_ = running.Signal(syscall.SIGKILL)
		<-running.Done
		return fmt.Errorf("postgres did not end within %s", timeout)
	}
}

// Runs says whether the server runs: it was not stopped, and has not ended.
func (s *Server) Runs() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil && !s.running.Ended()
}

// Pid is the process id of the running server, the parent of all its
// processes; 0 when it is stopped.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return 0
	}
	return s.running.Pid()
}

// Addr is the server's host:port, the same for its life.
func (s *Server) Addr() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
}

// LogFile is the path of the server's log.
func (s *Server) LogFile() string { return filepath.Join(s.cfg.Dir, "log") }

func (s *Server) data() string { return filepath.Join(s.cfg.Dir, "data") }

// freePort returns a loopback port that nobody listened on a moment ago.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
