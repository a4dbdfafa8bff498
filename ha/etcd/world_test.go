package etcd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/ha/internal/election"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/testenv"
)

// T in the tests: a short one for those that wait for leases to end, a long one for
// those that a busy machine must not end; and what a bound may be exceeded by: the
// store looks for leases that have ended every half second.
const (
	shortTimeout = 3 * time.Second
	longTimeout  = 8 * time.Second
	slack        = 1200 * time.Millisecond
)

// cluster is a cluster of ours on one of etcd, each of its processes behind proxies
// of its own.
type cluster struct {
	t       *testing.T
	servers *testenv.EtcdCluster
	layout  layout
	root    string
	storage string
	timeout time.Duration
	// admin goes past the proxies, and is etcd's own client.
	admin *clientv3.Client

	mu        sync.Mutex
	processes map[string]*process
}

// process is one that is opened by name.
type process struct{ proxies []*testenv.Proxy }

func newCluster(t *testing.T, servers *testenv.EtcdCluster, timeout time.Duration) *cluster {
	t.Helper()
	c := &cluster{
		t: t, servers: servers, root: servers.Root(), storage: t.TempDir(), timeout: timeout,
		processes: map[string]*process{},
	}
	c.layout = newLayout(c.root, "/default")
	c.admin = newAdmin(t, clientv3.Config{Endpoints: servers.Addrs()})
	return c
}

func newAdmin(t *testing.T, cfg clientv3.Config) *clientv3.Client {
	t.Helper()
	cfg.Logger, cfg.DialTimeout = zap.NewNop(), time.Minute
	admin, err := clientv3.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close() })
	return admin
}

// process returns the one of a name.
func (c *cluster) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.processes[name]
	if p == nil {
		p = &process{}
		for _, addr := range c.servers.Addrs() {
			p.proxies = append(p.proxies, testenv.NewEtcdProxy(c.t, addr))
		}
		c.processes[name] = p
	}
	return p
}

// each does something to the process's ways to the store.
func (p *process) each(do func(*testenv.Proxy)) {
	for _, proxy := range p.proxies {
		do(proxy)
	}
}

func (p *process) cut(on bool) { p.each(func(proxy *testenv.Proxy) { proxy.BlackHole(on) }) }

// endpoints is the store as the process sees it.
func (p *process) endpoints() []string {
	var addrs []string
	p.each(func(proxy *testenv.Proxy) { addrs = append(addrs, proxy.Addr()) })
	return addrs
}

func (c *cluster) open(t *testing.T, name string, cfg ha.Config) ha.Services {
	t.Helper()
	cfg.StorageDir, cfg.SessionTimeout = c.storage, c.timeout
	services, err := New(t.Context(), cfg, Options{Endpoints: c.process(name).endpoints(), Root: c.root})
	if err != nil {
		t.Fatal(err)
	}
	return services
}

// session opens one of a process, without services.
func (c *cluster) session(name string) *session {
	c.t.Helper()
	s := newStore(ha.Config{SessionTimeout: c.timeout, ClusterID: "/default"},
		Options{Endpoints: c.process(name).endpoints(), Root: c.root}.WithDefaults())
	opened, err := s.Open(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
		defer cancel()
		_ = opened.Close(ctx)
	})
	return opened.(*session)
}

// expire has the store end the process's lease: somebody else says that it is over.
func (c *cluster) expire(name string) {
	ctx := c.t.Context()
	found, err := c.admin.Get(ctx, c.layout.folder(coord.Contenders), clientv3.WithPrefix())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, kv := range found.Kvs {
		if string(kv.Value) != name {
			continue
		}
		if _, err := c.admin.Revoke(ctx, clientv3.LeaseID(kv.Lease)); err != nil {
			c.t.Error(err)
		}
	}
}

// kept are all records that go with no lease, and all keys.
func (c *cluster) kept() (kept map[string]string, keys []string, revision int64, err error) {
	found, err := c.admin.Get(c.t.Context(), c.layout.all(), clientv3.WithPrefix())
	if err != nil {
		return nil, nil, 0, err
	}
	kept = map[string]string{}
	for _, kv := range found.Kvs {
		keys = append(keys, string(kv.Key))
		if kv.Lease == 0 {
			kept[string(kv.Key)] = string(kv.Value)
		}
	}
	return kept, keys, found.Header.Revision, nil
}

// replace removes everything and makes what is given, in one transaction.
func (c *cluster) replace(data map[string]string) {
	for {
		_, keys, revision, err := c.kept()
		if err != nil {
			c.t.Error(err)
			return
		}
		var ops []clientv3.Op
		for _, key := range keys {
			if _, stays := data[key]; !stays {
				ops = append(ops, clientv3.OpDelete(key))
			}
		}
		for key, value := range data {
			ops = append(ops, clientv3.OpPut(key, value))
		}
		done, err := c.admin.Txn(c.t.Context()).
			If(clientv3.Compare(clientv3.ModRevision(c.layout.all()).WithPrefix(), "<", revision+1)).
			Then(ops...).Commit()
		if err != nil {
			c.t.Error(err)
			return
		}
		if done.Succeeded {
			return
		}
	}
}

// wipe removes all of the cluster from the store.
func (c *cluster) wipe() { c.replace(nil) }

// backup copies all that goes with no lease.
func (c *cluster) backup() func() {
	kept, _, _, err := c.kept()
	if err != nil {
		c.t.Error(err)
	}
	return func() { c.replace(kept) }
}

// tamper sets or removes the record of a leader.
func (c *cluster) tamper(component string, value []byte) {
	key := c.layout.key(election.LeaderKey(component))
	var err error
	if value == nil {
		_, err = c.admin.Delete(c.t.Context(), key)
	} else {
		_, err = c.admin.Put(c.t.Context(), key, string(value))
	}
	if err != nil {
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
		Open: c.open, Timeout: c.timeout, Slack: slack, Rounds: 1,
		Cut:       func(name string) { c.process(name).cut(true) },
		Heal:      func(name string) { c.process(name).cut(false) },
		Expire:    c.expire,
		DropReply: func(name string) { testenv.DropEtcdReply(c.process(name).proxies, "") },
		Wipe:      c.wipe, Backup: c.backup, Tamper: c.tamper, Corrupt: c.corrupt,
	}
}

// applied are the jobs that were set running, in the store's order.
func (c *cluster) applied() ([]string, error) {
	ctx, cancel := contextFor(time.Minute)
	defer cancel()
	prefix := c.layout.folder(coord.RunningRegistry)
	found, err := c.admin.Get(ctx, prefix, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend), clientv3.WithKeysOnly())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, kv := range found.Kvs {
		names = append(names, strings.TrimPrefix(string(kv.Key), prefix))
	}
	return names, nil
}

// contextFor is a context of its own with an end.
func contextFor(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), d, errors.New("the test's patience is at its end"))
}

func elapse(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
