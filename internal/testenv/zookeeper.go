package testenv

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv/zkserver"
)

// ZooKeeperEnsemble is a private store on free loopback ports, with its data in
// a temporary folder. What was answered survives a kill of any of its servers
// (not of the machine).
type ZooKeeperEnsemble struct {
	cfg ZooKeeperConfig
	dir string
	// ensemble is nil until create has made it.
	ensemble *zkserver.Ensemble
	ca       *Authority

	first    sync.Once
	firstErr error
	roots    atomic.Int64
}

// ZooKeeperConfig says what ensemble to make. The zero one is three servers with
// a tick of 200 ms.
type ZooKeeperConfig struct {
	// Members is how many servers, 3 by default.
	Members int
	// Tick is the servers' unit of time.
	Tick time.Duration
	// TLS adds ports that speak TLS, for clients with a certificate.
	TLS bool
	// Settings are more lines for the servers' configuration.
	Settings []string
	// Hosts are where the servers run, one on each; without any, here.
	Hosts []*Host
}

// ZooKeeper returns the ensemble of three that all tests of this binary share.
// Tests keep apart by their roots; one that kills or freezes a server takes its
// own from [ZooKeeperWith].
func ZooKeeper(t testing.TB) *ZooKeeperEnsemble {
	t.Helper()
	e, err := shared.sharedZooKeeper()
	if err != nil {
		t.Fatalf("start ZooKeeper: %v", err)
	}
	return e
}

// ZooKeeperWith starts an ensemble that ends with the test.
func ZooKeeperWith(t testing.TB, cfg ZooKeeperConfig) *ZooKeeperEnsemble {
	t.Helper()
	e := &ZooKeeperEnsemble{cfg: cfg}
	t.Cleanup(func() {
		if err := e.stop(); err != nil {
			t.Errorf("stop ZooKeeper: %v", err)
		}
		if err := os.RemoveAll(e.dir); err != nil {
			t.Errorf("remove ZooKeeper's folder: %v", err)
		}
	})
	if err := e.create(); err != nil {
		t.Fatalf("start ZooKeeper: %v", err)
	}
	return e
}

func (e *ZooKeeperEnsemble) create() (err error) {
	if e.dir, err = shared.folder("zookeeper"); err != nil {
		return err
	}
	cfg := zkserver.Config{Dir: e.dir, Members: e.cfg.Members, Tick: e.cfg.Tick, Settings: e.cfg.Settings}
	for _, h := range e.cfg.Hosts {
		cfg.Places = append(cfg.Places, h.place())
	}
	if cfg.Members == 0 {
		cfg.Members = 3
	}
	if e.cfg.TLS {
		if e.ca, err = newAuthority(); err != nil {
			return err
		}
		if cfg.TLS, err = e.ca.zookeeperFiles(e.dir); err != nil {
			return err
		}
	}
	e.ensemble, err = zkserver.Create(context.Background(), cfg)
	return err
}

func (e *ZooKeeperEnsemble) stop() error {
	if e.ensemble == nil {
		return nil
	}
	return e.ensemble.Stop()
}

// Authority is who has signed the servers' certificates; nil without TLS.
func (e *ZooKeeperEnsemble) Authority() *Authority { return e.ca }

// Member is a server by its place, from 0 on.
func (e *ZooKeeperEnsemble) Member(i int) *ZooKeeperMember {
	return &ZooKeeperMember{e.ensemble.Members()[i]}
}

// Members are all servers.
func (e *ZooKeeperEnsemble) Members() []*ZooKeeperMember {
	var all []*ZooKeeperMember
	for i := range e.ensemble.Members() {
		all = append(all, e.Member(i))
	}
	return all
}

// Addrs are the servers' host:port.
func (e *ZooKeeperEnsemble) Addrs() []string {
	var addrs []string
	for _, m := range e.ensemble.Members() {
		addrs = append(addrs, m.Addr())
	}
	return addrs
}

// SecureAddrs are the servers' host:port that speak TLS.
func (e *ZooKeeperEnsemble) SecureAddrs() []string {
	var addrs []string
	for _, m := range e.ensemble.Members() {
		addrs = append(addrs, m.SecureAddr())
	}
	return addrs
}

// Root returns a path that no other test uses, "/t7"; nothing is there yet.
func (e *ZooKeeperEnsemble) Root() string { return "/t" + strconv.FormatInt(e.roots.Add(1), 10) }

// Leader is the server that leads now, or once one does.
func (e *ZooKeeperEnsemble) Leader(t testing.TB) *ZooKeeperMember {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		for _, m := range e.Members() {
			if mode := m.mode(t); mode == "leader" || mode == "standalone" {
				return m
			}
		}
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("no ZooKeeper leads within %s", waitTimeout)
		}
	}
}

// Followers are the servers that follow now.
func (e *ZooKeeperEnsemble) Followers(t testing.TB) []*ZooKeeperMember {
	t.Helper()
	return slices.DeleteFunc(e.Members(), func(m *ZooKeeperMember) bool { return m.mode(t) != "follower" })
}

// AwaitServing waits until every server that runs serves clients.
func (e *ZooKeeperEnsemble) AwaitServing(t testing.TB) {
	t.Helper()
	if err := e.ensemble.AwaitServing(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Watches is how many watches all servers hold together.
func (e *ZooKeeperEnsemble) Watches(t testing.TB) int { return e.sum(t, "zk_watch_count") }

// Connections is how many clients are connected to all servers together.
func (e *ZooKeeperEnsemble) Connections(t testing.TB) int {
	return e.sum(t, "zk_num_alive_connections")
}

// Sessions is how many sessions the store knows.
func (e *ZooKeeperEnsemble) Sessions(t testing.TB) int {
	t.Helper()
	return e.Leader(t).figure(t, "zk_global_sessions")
}

func (e *ZooKeeperEnsemble) sum(t testing.TB, key string) int {
	t.Helper()
	total := 0
	for _, m := range e.Members() {
		if m.server.Runs() {
			total += m.figure(t, key)
		}
	}
	return total
}

// ZooKeeperMember is one server of an ensemble.
type ZooKeeperMember struct{ server *zkserver.Member }

// Addr is the server's host:port, for clients and for a [Proxy] in front of it.
func (m *ZooKeeperMember) Addr() string { return m.server.Addr() }

// Kill ends the server as kill -9 does.
func (m *ZooKeeperMember) Kill(t testing.TB) {
	t.Helper()
	if err := m.server.Kill(); err != nil {
		t.Fatalf("kill ZooKeeper: %v", err)
	}
}

// Start starts a killed server again and returns once it answers: most of its
// ensemble must run before it serves.
func (m *ZooKeeperMember) Start(t testing.TB) {
	t.Helper()
	if err := m.server.Start(t.Context()); err != nil {
		t.Fatalf("start ZooKeeper again: %v", err)
	}
}

// Freeze stops the server in the middle of whatever it does.
func (m *ZooKeeperMember) Freeze(t testing.TB) { m.signal(t, syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (m *ZooKeeperMember) Thaw(t testing.TB) { m.signal(t, syscall.SIGCONT) }

func (m *ZooKeeperMember) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := m.server.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// Ask sends one of the four-letter words: cons, wchs, mntr, stat.
func (m *ZooKeeperMember) Ask(t testing.TB, word string) string {
	t.Helper()
	answer, err := m.server.Ask(t.Context(), word)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// Figures is what mntr says, by its keys.
func (m *ZooKeeperMember) Figures(t testing.TB) map[string]string {
	t.Helper()
	figures := map[string]string{}
	for line := range strings.Lines(m.Ask(t, "mntr")) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			figures[key] = value
		}
	}
	return figures
}

func (m *ZooKeeperMember) figure(t testing.TB, key string) int {
	t.Helper()
	n, err := strconv.Atoi(m.Figures(t)[key])
	if err != nil {
		t.Fatalf("ZooKeeper's figure %s: %v", key, err)
	}
	return n
}

func (m *ZooKeeperMember) mode(t testing.TB) string {
	t.Helper()
	if !m.server.Runs() {
		return ""
	}
	mode, err := m.server.Mode(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

// Log is what the server has written to its log.
func (m *ZooKeeperMember) Log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(m.server.LogFile())
	if err != nil {
		t.Fatalf("read ZooKeeper's log: %v", err)
	}
	return string(text)
}

// Wipe removes what a killed server has stored, as if its disk were another's.
func (m *ZooKeeperMember) Wipe(t testing.TB) {
	t.Helper()
	if err := m.server.Wipe(); err != nil {
		t.Fatal(err)
	}
}

// ExampleZooKeeper are the addresses of the ensemble that [ZooKeeper] returns, for
// examples, which have no test.
func ExampleZooKeeper() []string {
	e, err := shared.sharedZooKeeper()
	if err != nil {
		panic("start ZooKeeper: " + err.Error())
	}
	return e.Addrs()
}
