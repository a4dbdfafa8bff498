package zkserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/leatdata/leat/internal/testenv/child"
)

// Member is one server.
type Member struct {
	place            Place
	dir              string
	port, securePort int
	daemon           child.Daemon
}

func newMember(p programs, place Place, dir string, ports []int, secure bool) *Member {
	m := &Member{place: place, dir: dir, port: ports[0]}
	if secure {
		m.securePort = ports[1]
	}
	m.daemon = child.Daemon{
		Name: "ZooKeeper", Log: m.LogFile(), Quit: syscall.SIGKILL,
		Command: func() *exec.Cmd {
			cmd := p.command(place, m.configFile())
			// An interrupt typed at the terminal reaches only us.
			cmd.SysProcAttr, cmd.Dir = &syscall.SysProcAttr{Setpgid: true}, dir
			return cmd
		},
		// It runs when it answers at all: it may not serve before others run.
		Ping: func(ctx context.Context) error {
			_, err := m.Ask(ctx, "srvr")
			return err
		},
	}
	return m
}

// Start runs the server, again after a Kill, and returns once it answers; it may
// have no quorum yet.
func (m *Member) Start(ctx context.Context) error { return m.daemon.Start(ctx) }

// Kill ends the server as kill -9 does; it may be called again.
func (m *Member) Kill() error { return m.daemon.Stop() }

// Runs says whether the server runs: it was not killed, and has not ended.
func (m *Member) Runs() bool { return m.daemon.Runs() }

// Pid is the process id of the running server; 0 when it is stopped.
func (m *Member) Pid() int { return m.daemon.Pid() }

// Signal sends the running server s, SIGSTOP and SIGCONT for instance.
func (m *Member) Signal(s syscall.Signal) error {
	pid := m.Pid()
	if pid == 0 {
		return errors.New("signal ZooKeeper: it does not run")
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("signal ZooKeeper: %w", err)
	}
	return nil
}

// Addr is the server's host:port, the same for its life.
func (m *Member) Addr() string { return net.JoinHostPort(m.place.Addr, strconv.Itoa(m.port)) }

// SecureAddr is the host:port that speaks TLS; "" when there is none.
func (m *Member) SecureAddr() string {
	if m.securePort == 0 {
		return ""
	}
	return net.JoinHostPort(m.place.Addr, strconv.Itoa(m.securePort))
}

// LogFile is the path of the server's log.
func (m *Member) LogFile() string { return filepath.Join(m.dir, "log") }

func (m *Member) data() string       { return filepath.Join(m.dir, "data") }
func (m *Member) configFile() string { return filepath.Join(m.dir, "zoo.cfg") }

// Ask sends one of the four-letter words and returns the answer.
func (m *Member) Ask(ctx context.Context, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := m.place.Dial(ctx, "tcp", m.Addr())
	if err != nil {
		return "", fmt.Errorf("ask ZooKeeper %q: %w", word, err)
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("ask ZooKeeper %q: %w", word, err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", fmt.Errorf("ask ZooKeeper %q: %w", word, err)
	}
	if len(answer) == 0 {
		return "", fmt.Errorf("ask ZooKeeper %q: no answer", word)
	}
	return string(answer), nil
}

// Mode is "leader", "follower" or "standalone", and "" while the server does not
// serve.
func (m *Member) Mode(ctx context.Context) (string, error) {
	answer, err := m.Ask(ctx, "srvr")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(answer) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode), nil
		}
	}
	return "", nil
}

// AwaitServing returns once the server serves clients.
func (m *Member) AwaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		mode, err := m.Mode(ctx)
		if mode != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("await ZooKeeper at %s: %w", m.Addr(), errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// Wipe removes what a killed server has stored.
func (m *Member) Wipe() error {
	if m.Runs() {
		return errors.New("wipe ZooKeeper: it still runs")
	}
	if err := os.RemoveAll(filepath.Join(m.data(), "version-2")); err != nil {
		return fmt.Errorf("wipe ZooKeeper: %w", err)
	}
	return nil
}
