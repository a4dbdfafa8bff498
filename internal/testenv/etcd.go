package testenv

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv/etcdserver"
)

// EtcdCluster is a private store on free loopback ports, with its data in a temporary
// folder. What was answered survives a kill of any of its servers (not of the
// machine).
type EtcdCluster struct {
	cfg EtcdConfig
	dir string
	// cluster is nil until create has made it.
	cluster *etcdserver.Cluster
	ca      *Authority

	first    sync.Once
	firstErr error
	roots    atomic.Int64
}

// EtcdConfig says what cluster to make. The zero one is three servers whose election
// timeout is one second.
type EtcdConfig struct {
	// Members is how many servers, 3 by default.
	Members int
	// Heartbeat is a tenth of the servers' election timeout.
	Heartbeat time.Duration
	// TLS has clients speak it, with a certificate.
	TLS bool
	// Settings are more arguments of the servers.
	Settings []string
}

// Etcd returns the cluster of three that all tests of this binary share. Tests keep
// apart by their roots; one that kills or freezes a server takes its own from
// [EtcdWith].
func Etcd(t testing.TB) *EtcdCluster {
	t.Helper()
	c, err := shared.sharedEtcd()
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	return c
}

// EtcdWith starts a cluster that ends with the test.
func EtcdWith(t testing.TB, cfg EtcdConfig) *EtcdCluster {
	t.Helper()
	c := &EtcdCluster{cfg: cfg}
	t.Cleanup(func() {
		if err := c.stop(); err != nil {
			t.Errorf("stop etcd: %v", err)
		}
		if err := os.RemoveAll(c.dir); err != nil {
			t.Errorf("remove etcd's folder: %v", err)
		}
	})
	if err := c.create(); err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	return c
}

// etcdProgram builds the server, once for all test binaries of a machine.
func etcdProgram() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return etcdserver.Build(filepath.Join(root, "internal", "testenv", "etcdserver", "program"), filepath.Join(cache, "leat"))
}

func (c *EtcdCluster) create() (err error) {
	if c.dir, err = shared.folder("etcd"); err != nil {
		return err
	}
	cfg := etcdserver.Config{Dir: c.dir, Members: c.cfg.Members, Heartbeat: c.cfg.Heartbeat, Settings: c.cfg.Settings}
	if cfg.Members == 0 {
		cfg.Members = 3
	}
	if c.cfg.TLS {
		if c.ca, err = newAuthority(); err != nil {
			return err
		}
		if cfg.TLS, err = c.ca.etcdFiles(c.dir); err != nil {
			return err
		}
	}
	if cfg.Program, err = etcdProgram(); err != nil {
		return err
	}
	c.cluster, err = etcdserver.Create(context.Background(), cfg)
	return err
}

func (c *EtcdCluster) stop() error {
	if c.cluster == nil {
		return nil
	}
	return c.cluster.Stop()
}

// Authority is who has signed the servers' certificates; nil without TLS.
func (c *EtcdCluster) Authority() *Authority { return c.ca }

// Member is a server by its place, from 0 on.
func (c *EtcdCluster) Member(i int) *EtcdMember { return &EtcdMember{c.cluster.Members()[i]} }

// Members are all servers.
func (c *EtcdCluster) Members() []*EtcdMember {
	var all []*EtcdMember
	for i := range c.cluster.Members() {
		all = append(all, c.Member(i))
	}
	return all
}

// Addrs are the servers' host:port.
func (c *EtcdCluster) Addrs() []string {
	var addrs []string
	for _, m := range c.cluster.Members() {
		addrs = append(addrs, m.Addr())
	}
	return addrs
}

// Root returns a path that no other test uses, "/t7"; nothing is there yet.
func (c *EtcdCluster) Root() string { return "/t" + strconv.FormatInt(c.roots.Add(1), 10) }

// Leader is the server that leads now, or once one does.
func (c *EtcdCluster) Leader(t testing.TB) *EtcdMember {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		for _, m := range c.Members() {
			if m.server.Runs() && m.Figure(t, "etcd_server_is_leader") == 1 {
				return m
			}
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("no etcd leads within %s", waitTimeout)
		}
	}
}

// AwaitServing waits until every server that runs serves clients.
func (c *EtcdCluster) AwaitServing(t testing.TB) {
	t.Helper()
	if err := c.cluster.AwaitServing(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Watches is how many watches all servers hold together.
func (c *EtcdCluster) Watches(t testing.TB) int {
	t.Helper()
	total := 0
	for _, m := range c.Members() {
		if m.server.Runs() {
			total += int(m.Figure(t, "etcd_debugging_mvcc_watcher_total"))
		}
	}
	return total
}

// EtcdMember is one server of a cluster.
type EtcdMember struct{ server *etcdserver.Member }

// Addr is the server's host:port, for clients and for a [Proxy] in front of it.
func (m *EtcdMember) Addr() string { return m.server.Addr() }

// Kill ends the server as kill -9 does.
func (m *EtcdMember) Kill(t testing.TB) {
	t.Helper()
	if err := m.server.Kill(); err != nil {
		t.Fatalf("kill etcd: %v", err)
	}
}

// Start starts a killed server again and returns once it listens: most of its cluster
// must run before it serves.
func (m *EtcdMember) Start(t testing.TB) {
	t.Helper()
	if err := m.server.Start(t.Context()); err != nil {
		t.Fatalf("start etcd again: %v", err)
	}
}

// Freeze stops the server in the middle of whatever it does.
func (m *EtcdMember) Freeze(t testing.TB) { m.signal(t, syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (m *EtcdMember) Thaw(t testing.TB) { m.signal(t, syscall.SIGCONT) }

func (m *EtcdMember) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := m.server.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Figure is one of what the server measures, by its name.
func (m *EtcdMember) Figure(t testing.TB, name string) float64 {
	t.Helper()
	figure, err := m.server.Figure(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return figure
}

// Log is what the server has written to its log.
func (m *EtcdMember) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(m.server.LogFile())
	if err != nil {
		t.Fatalf("read etcd's log: %v", err)
	}
	return string(text)
}
