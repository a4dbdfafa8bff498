package zookeeper

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/zk"
)

// T in the tests: a short one for those that wait for sessions to end, a long one for
// those that cut them off for part of it, one that no test waits for, and that no busy
// machine exceeds; and what a bound may be exceeded by.
const (
	shortTimeout  = 3 * time.Second
	longTimeout   = 8 * time.Second
	steadyTimeout = 2 * time.Minute
	slack         = 500 * time.Millisecond
)

// cluster is a cluster on an ensemble, each of its processes behind a proxy of
// its own, or on a host of its own.
type cluster struct {
	t        *testing.T
	ensemble *testenv.ZooKeeperEnsemble
	// network is where the ensemble is, if it is not here.
	network *testenv.Network
	root    string
	storage string
	timeout time.Duration
	// admin goes past the proxies, by direct (nil: as anybody does).
	admin  *zk.Session
	direct func(ctx context.Context, network, addr string) (net.Conn, error)

	mu        sync.Mutex
	processes map[string]*process
}

// process is one that is opened by name.
type process struct {
	t       *testing.T
	servers []string
	proxies []*testenv.Proxy
	// host is nil behind proxies.
	host *testenv.Host
	// child is nil in our own process.
	child *child
	mu    sync.Mutex
	// greeting is the store's answer to the last request for a session.
	greeting []byte
}

func newCluster(t *testing.T, e *testenv.ZooKeeperEnsemble, timeout time.Duration) *cluster {
	t.Helper()
	return newClusterOn(t, nil, e, timeout)
}

func newClusterOn(t *testing.T, network *testenv.Network, e *testenv.ZooKeeperEnsemble, timeout time.Duration) *cluster {
	t.Helper()
	c := &cluster{
		t: t, ensemble: e, network: network, root: e.Root(), storage: t.TempDir(), timeout: timeout,
		processes: map[string]*process{},
	}
	cfg := zk.Config{
		Servers: e.Addrs(), Chroot: c.root + "/default", SessionTimeout: time.Minute, ConnectTimeout: 10 * time.Second,
	}
	if network != nil {
		cfg.Dial = network.Host(t).Dial
	}
	admin, err := zk.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	c.admin, c.direct = admin, cfg.Dial
	return c
}

// process returns the one of a name.
func (c *cluster) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[name]
	if p != nil {
		return p
	}
	p = &process{t: c.t, servers: c.ensemble.Addrs()}
	c.processes[name] = p
	if c.network != nil {
		p.host = c.network.Host(c.t)
		return p
	}
	for _, addr := range c.ensemble.Addrs() {
		p.proxies = append(p.proxies, testenv.NewZooKeeperProxy(c.t, addr))
	}
	return p
}

// each does something to the process's ways to the store.
func (p *process) each(do func(*testenv.Proxy)) {
	for _, proxy := range p.proxies {
		do(proxy)
	}
}

func (p *process) cut(on bool) {
	p.each(func(proxy *testenv.Proxy) { proxy.BlackHole(on) })
	switch {
	case p.host == nil:
	case on:
		p.filter("INPUT", "--sport")
	default:
		p.host.Unfilter(p.t)
	}
}

// filter drops what goes one way between the process's host and the store.
func (p *process) filter(chain, port string) {
	for _, server := range p.servers {
		_, number, _ := net.SplitHostPort(server)
		p.host.Filter(p.t, chain+" -p tcp "+port+" "+number+" -j DROP")
	}
}

// quorum is the store as the process sees it.
func (p *process) quorum() []string {
	if p.host != nil {
		return p.servers
	}
	var addrs []string
	p.each(func(proxy *testenv.Proxy) { addrs = append(addrs, proxy.Addr()) })
	return addrs
}

func (c *cluster) open(t *testing.T, name string, cfg ha.Config) ha.Services {
	t.Helper()
	cfg.StorageDir, cfg.SessionTimeout = c.storage, c.timeout
	cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	p := c.process(name)
	services, err := New(t.Context(), cfg, Options{Quorum: p.quorum(), Root: c.root, Dial: p.dial})
	if err != nil {
		t.Fatal(err)
	}
	return services
}

// dial remembers what the store has answered.
func (p *process) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	dial := new(net.Dialer).DialContext
	if p.host != nil {
		dial = p.host.Dial
	}
	conn, err := dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &eavesdropper{Conn: conn, p: p}, nil
}

type eavesdropper struct {
	net.Conn
	p     *process
	heard []byte
}

func (e *eavesdropper) Read(b []byte) (int, error) {
	n, err := e.Conn.Read(b)
	if len(e.heard) < 40 {
		e.heard = append(e.heard, b[:n]...)
		if len(e.heard) >= 40 {
			e.p.mu.Lock()
			e.p.greeting = e.heard[:40]
			e.p.mu.Unlock()
		}
	}
	return n, err
}

// expire has the store end the process's session: somebody else says that it is
// over.
func (c *cluster) expire(name string) {
	p := c.process(name)
	p.mu.Lock()
	greeting := p.greeting
	p.mu.Unlock()
	// It would take its session back.
	p.each(func(proxy *testenv.Proxy) { proxy.RefuseNew(true) })
	defer p.each(func(proxy *testenv.Proxy) { proxy.RefuseNew(false) })
	conn, err := net.Dial("tcp", c.ensemble.Addrs()[0])
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	// The version, no transaction, the timeout, the session's id and its password.
	hello := make([]byte, 16, 48)
	binary.BigEndian.PutUint32(hello, 44)
	hello = append(append(hello, greeting[8:12]...), greeting[12:40]...)
	bye := []byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}
	if _, err := conn.Write(hello); err != nil {
		c.t.Fatal(err)
	}
	if n, err := io.ReadFull(conn, make([]byte, 40)); err != nil {
		c.t.Fatal(n, greeting, err)
	}
	if _, err := conn.Write(bye); err != nil {
		c.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, conn)
}

// tree are all nodes, those above others first, with the data of those that are
// no session's.
func (c *cluster) tree() (paths []string, kept map[string][]byte, err error) {
	ctx := c.t.Context()
	kept = map[string][]byte{}
	if err := c.admin.Sync(ctx); err != nil {
		return nil, nil, err
	}
	var walk func(path string) error
	walk = func(path string) error {
		node, err := c.admin.Lookup(ctx, path)
		if err != nil || !node.Exists {
			return err
		}
		paths = append(paths, path)
		if node.Stat.Owner == 0 {
			kept[path] = node.Data
		}
		names, _, err := c.admin.Children(ctx, path)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		for _, name := range names {
			err = errors.Join(err, walk(strings.TrimSuffix(path, "/")+"/"+name))
		}
		return err
	}
	return paths, kept, walk("/")
}

// replace removes everything and makes what is given, in one transaction.
func (c *cluster) replace(paths []string, data map[string][]byte) {
	for {
		now, _, err := c.tree()
		if err != nil {
			c.t.Error(err)
			return
		}
		var ops []zk.Op
		for _, path := range slices.Backward(now) {
			ops = append(ops, zk.DeleteOp(path, zk.AnyVersion))
		}
		for _, path := range paths {
			if value, ok := data[path]; ok {
				ops = append(ops, zk.CreateOp(path, value, zk.Persistent))
			}
		}
		_, err = c.admin.Multi(c.t.Context(), ops...)
		switch {
		case err == nil:
			return
		case errors.Is(err, zk.ErrNotEmpty), errors.Is(err, zk.ErrNoNode):
			// Something has changed meanwhile.
		default:
			c.t.Error(err)
			return
		}
	}
}

// wipe removes all of the cluster from the store.
func (c *cluster) wipe() { c.replace(nil, nil) }

// backup copies all that is no session's.
func (c *cluster) backup() func() {
	paths, data, err := c.tree()
	if err != nil {
		c.t.Error(err)
	}
	return func() { c.replace(paths, data) }
}

// tamper sets or removes the record of a leader.
func (c *cluster) tamper(component string, value []byte) {
	path := layout{}.key(election.LeaderKey(component))
	ctx := c.t.Context()
	if err := c.admin.Delete(ctx, path, zk.AnyVersion); err != nil && !errors.Is(err, zk.ErrNoNode) {
		c.t.Error(err)
	}
	if value == nil {
		return
	}
	if _, err := c.admin.Create(ctx, path, value, zk.Persistent); err != nil && !errors.Is(err, zk.ErrNodeExists) {
		c.t.Error(err)
	}
}

func (c *cluster) corrupt(t *testing.T, folder string) {
	blobs := blobdir.New(storage.Local{}, filepath.Join(c.storage, "blobs", "default"))
	all, err := blobs.List(t.Context(), folder)
	if err != nil || len(all) == 0 {
		t.Fatal("nothing to corrupt", err)
	}
	for _, b := range all {
		if err := blobs.Put(t.Context(), b.Key, []byte("not what was written")); err != nil {
			t.Fatal(err)
		}
	}
}

// world is the cluster as the contract's tests see it.
func (c *cluster) world() *hatest.World {
	return &hatest.World{
		Open: c.open, Timeout: c.timeout, Slack: slack, Rounds: 1, Pulse: c.pulse,
		Cut:    func(name string) { c.process(name).cut(true) },
		Heal:   func(name string) { c.process(name).cut(false) },
		Expire: c.expire,
		DropReply: func(name string) {
			testenv.DropZooKeeperReply(c.process(name).proxies, testenv.ZooKeeperWrite, "")
		},
		Wipe: c.wipe, Backup: c.backup, Tamper: c.tamper, Corrupt: c.corrupt,
	}
}
