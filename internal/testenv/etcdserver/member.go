package etcdserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
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
	name, dir                  string
	port, peerPort, healthPort int
	daemon                     child.Daemon
}

func local(scheme string, port int) string { return scheme + "://127.0.0.1:" + strconv.Itoa(port) }

// prepare says how the member is run.
func (m *Member) prepare(cfg Config, peers string) {
	client := "http"
	if cfg.TLS != nil {
		client = "https"
	}
	beat := cfg.Heartbeat.Milliseconds()
	args := []string{
		"--name=" + m.name, "--data-dir=" + filepath.Join(m.dir, "data"),
		"--listen-client-urls=" + local(client, m.port), "--advertise-client-urls=" + local(client, m.port),
		"--listen-peer-urls=" + local("http", m.peerPort), "--initial-advertise-peer-urls=" + local("http", m.peerPort),
		"--listen-metrics-urls=" + local("http", m.healthPort),
		"--initial-cluster=" + peers, "--initial-cluster-state=new", "--initial-cluster-token=" + filepath.Base(cfg.Dir),
		fmt.Sprintf("--heartbeat-interval=%d", beat), fmt.Sprintf("--election-timeout=%d", 10*beat),
		// What was answered is in the files when the process is killed; only the
		// machine's end would lose it.
		"--unsafe-no-fsync", "--log-level=warn", "--bcrypt-cost=4",
	}
	if t := cfg.TLS; t != nil {
		args = append(args, "--key-file="+t.Key, "--cert-file="+t.Certificate, "--trusted-ca-file="+t.Authority, "--client-cert-auth")
	}
	args = append(args, cfg.Settings...)
	m.daemon = child.Daemon{
		Name: "etcd", Log: m.LogFile(), Quit: syscall.SIGKILL,
		Command: func() *exec.Cmd {
			cmd := child.Account{}.Command(cfg.Program, args...)
			cmd.Dir = m.dir
			return cmd
		},
		// It runs when it listens: it may not serve before others run.
		Ping: func(ctx context.Context) error {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", m.Addr())
			if err != nil {
				return err
			}
			return conn.Close()
		},
	}
}

// Start runs the server, again after a Kill, and returns once it listens; it may have
// no quorum yet.
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
		return errors.New("signal etcd: it does not run")
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("signal etcd: %w", err)
	}
	return nil
}

// Addr is the server's host:port, the same for its life.
func (m *Member) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(m.port)) }

// LogFile is the path of the server's log.
func (m *Member) LogFile() string { return filepath.Join(m.dir, "log") }

// ask reads a page of the server's own.
func (m *Member) ask(ctx context.Context, page string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, local("http", m.healthPort)+page, http.NoBody)
	if err != nil {
		return "", fmt.Errorf("ask etcd: %w", err)
	}
	// No connection outlives its request.
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", fmt.Errorf("ask etcd: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask etcd for %s: %s: %.200s: %w", page, response.Status, text, err)
	}
	return string(text), nil
}

// Figure is one of what the server measures, by its name: etcd_server_is_leader.
func (m *Member) Figure(ctx context.Context, name string) (float64, error) {
	text, err := m.ask(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			figure, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, fmt.Errorf("etcd's figure %s: %w", name, err)
			}
			return figure, nil
		}
	}
	return 0, fmt.Errorf("etcd has no figure %s", name)
}

// AwaitServing returns once the server serves clients: reads need a quorum.
func (m *Member) AwaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, serveTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := m.ask(ctx, "/health")
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("await etcd at %s: %w", m.Addr(), errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}
