package zookeeper

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/zk"
)

// tells holds that an error is of a kind, and names the things.
func tells(t *testing.T, err, kind error, things ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("%v is not: %v", err, kind)
		return
	}
	for _, thing := range things {
		if !strings.Contains(err.Error(), thing) {
			t.Errorf("the error does not name %q: %v", thing, err)
		}
	}
}

// What is configured wrong is told at once, and all of it.
func TestBadConfigurationNamesTheKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg    ha.Config
		things []string
	}{
		"no quorum, no storage": {ha.Config{}, []string{"high-availability.zookeeper.quorum", "host:port,host:port", "high-availability.storageDir"}},
		"a server that is none": {ha.Config{StorageDir: "d", Options: map[string]string{
			"zookeeper.quorum": "zk1:2181,:2181",
		}}, []string{`server ":2181" is not host:port`}},
		"times, numbers and an unknown key": {ha.Config{StorageDir: "d", Options: map[string]string{
			"zookeeper.quorum": "zk1", "zookeeper.client.retry-wait": "soon", "zookeeper.client.max-retry-attempts": "0",
			"zookeeper.client.connection-timeout": "-1s", "zookeeper.client.quorum": "zk1", "zookeeper.client.session-timeout": "0s",
		}}, []string{
			`zookeeper.client.retry-wait: "soon" is no time above zero`, `zookeeper.client.max-retry-attempts: "0" is no number`,
			`zookeeper.client.connection-timeout: "-1s"`, "zookeeper.client.quorum: there is no such key", `session-timeout: "0s"`,
		}},
		"an access list without credentials": {ha.Config{StorageDir: "d", Options: map[string]string{
			"zookeeper.quorum": "zk1", "zookeeper.client.acl": "creator",
		}}, []string{"zookeeper.client.acl: creator needs credentials"}},
		"paths": {ha.Config{StorageDir: "d", Options: map[string]string{
			"zookeeper.quorum": "zk1", "zookeeper.path.root": "leat", "zookeeper.path.latch": "/",
		}}, []string{`zookeeper.path.root: "leat" does not begin with a slash`, `zookeeper.path.latch: "/" names no folder`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Type = "zookeeper"
			services, err := ha.Registry{"zookeeper": Factory}.Open(t.Context(), c.cfg)
			if services != nil {
				t.Error("services were made")
			}
			tells(t, err, ha.ErrConfig, c.things...)
		})
	}
}

// hopeless makes services of a store that cannot be used, and returns what their
// contender is told in the background, once it is of a kind and names a thing, and what a
// call is told that waits. (A slow machine has other reasons at first.)
func hopeless(t *testing.T, options Options, is error, thing string) (told, answered error) {
	t.Helper()
	services, err := New(t.Context(), ha.Config{StorageDir: t.TempDir(), SessionTimeout: shortTimeout}, options)
	if err != nil {
		t.Fatal(err)
	}
	defer closeServices(t, services)
	contender := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(contender); err != nil {
		t.Fatal(err)
	}
	contender.Told(t, func(err error) bool {
		told = err
		return errors.Is(err, is) && strings.Contains(err.Error(), thing)
	})
	patience := 2 * time.Minute
	if errors.Is(is, ha.ErrUnavailable) {
		patience = shortTimeout / 10 // it is all waited for
	}
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, answered = services.JobGraphs().List(ctx)
		cancel()
		if answered != nil && strings.Contains(answered.Error(), thing) {
			break
		}
	}
	if granted, _ := contender.Count(); granted != 0 {
		t.Error("it leads all the same")
	}
	return told, answered
}

// A quorum that is none is named, with what is wrong with it, to who waits for it too.
func TestAWrongQuorumIsNamed(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				_, _ = conn.Read(make([]byte, 1))
				_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	for name, c := range map[string]struct{ server, thing string }{
		"nobody listens":      {closed.Addr().String(), "connection refused"},
		"it is no ZooKeeper":  {other.Addr().String(), "not a ZooKeeper"},
		"no answer, no error": {"192.0.2.1:2181", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, answered := hopeless(t, Options{Quorum: []string{c.server}}, ha.ErrUnavailable, c.thing)
			tells(t, told, ha.ErrUnavailable, c.server, c.thing)
			tells(t, answered, ha.ErrUnavailable, c.server, c.thing, "list job graphs")
			if ha.Fatal(told) {
				t.Errorf("it is said to be fatal: %v", told)
			}
		})
	}
}

// Servers without a quorum end each connection at once: the error says what that means.
func TestNoQuorumIsNamed(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{})
	left := e.Member(0)
	e.Member(1).Kill(t)
	e.Member(2).Kill(t)
	told, answered := hopeless(t, Options{Quorum: []string{left.Addr()}}, ha.ErrUnavailable, "quorum")
	tells(t, told, ha.ErrUnavailable, left.Addr(), "quorum")
	tells(t, answered, ha.ErrUnavailable, left.Addr(), "quorum")
}

// Who has not the credentials that a cluster was made with is told so, with the node;
// nothing of the cluster is changed.
func TestWrongCredentialsAreNamed(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeper(t)
	root, storage := e.Root(), t.TempDir()
	options := func(auth ...zk.Auth) Options { return Options{Quorum: e.Addrs(), Root: root, Auth: auth} }
	owners := options(zk.Digest("leat", "right"))
	owners.ACL = "creator"
	services, err := New(t.Context(), ha.Config{StorageDir: storage, SessionTimeout: steadyTimeout}, owners)
	if err != nil {
		t.Fatal(err)
	}
	defer closeServices(t, services)
	contender := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(contender); err != nil {
		t.Fatal(err)
	}
	g := contender.Leads(t)
	if err := services.JobGraphs().Put(t.Context(), g.Term, "j", []byte("graph")); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"none": options(), "others": options(zk.Digest("leat", "wrong")),
	} {
		told, answered := hopeless(t, o, ha.ErrForbidden, "access list")
		tells(t, told, ha.ErrForbidden, "access list", "/leaderlatch")
		tells(t, answered, ha.ErrForbidden, "access list", "jobgraphs")
		if !ha.Fatal(told) {
			t.Errorf("%s: it is not said to be fatal: %v", name, told)
		}
	}
	if graph, err := services.JobGraphs().Recover(t.Context(), "j"); err != nil || string(graph) != "graph" {
		t.Errorf("recovered %q, %v", graph, err)
	}
	if granted, revoked := contender.Count(); granted != 1 || revoked != 0 {
		t.Errorf("granted %d times, revoked %d times", granted, revoked)
	}
}

// A root below which nothing may be made is named.
func TestAForbiddenPathIsNamed(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeper(t)
	root := e.Root()
	s, err := zk.Open(t.Context(), zk.Config{Servers: e.Addrs(), SessionTimeout: steadyTimeout})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), root, nil, zk.Persistent, zk.DigestACL(zk.PermissionAll, "another", "secret")...); err != nil {
		t.Fatal(err)
	}
	told, _ := hopeless(t, Options{Quorum: e.Addrs(), Root: root}, ha.ErrForbidden, "access list")
	tells(t, told, ha.ErrForbidden, "create", "access list")
}

// The disk under the blobs is full: what cannot be stored is refused with the blob's
// name and the reason, what was stored is whole, and with room again all goes on.
func TestAFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.ZooKeeper(t), steadyTimeout)
	if err := unix.Mount("tmpfs", c.storage, "tmpfs", 0, "size=256k"); err != nil {
		t.Fatalf("mount a small disk (the tests need root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(c.storage, 0); err != nil {
			t.Error(err)
		}
	})
	services := c.open(t, "a", ha.Config{Name: "a"})
	defer closeServices(t, services)
	contender := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(contender); err != nil {
		t.Fatal(err)
	}
	g := contender.Leads(t)
	graphs, checkpoints := services.JobGraphs(), services.Checkpoints("j")
	if err := errors.Join(
		graphs.Put(t.Context(), g.Term, "j", []byte("graph")), checkpoints.Add(t.Context(), g.Term, ha.Checkpoint{ID: 1, Data: []byte("state")}),
	); err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte("x"), 1<<20)
	for what, err := range map[string]error{
		"graph of job j":          graphs.Put(t.Context(), g.Term, "j", large),
		"checkpoint 2 of job j":   checkpoints.Add(t.Context(), g.Term, ha.Checkpoint{ID: 2, Data: large}),
		"graph of job never seen": graphs.Put(t.Context(), g.Term, "never seen", large),
	} {
		tells(t, err, syscall.ENOSPC, what, "write blob ", "no space left on device")
		if errors.Is(err, ha.ErrAmbiguous) {
			t.Errorf("%s: %v", what, err)
		}
	}
	graph, err := graphs.Recover(t.Context(), "j")
	latest, err2 := checkpoints.Latest(t.Context())
	jobs, err3 := graphs.List(t.Context())
	if errors.Join(err, err2, err3) != nil || string(graph) != "graph" || latest.ID != 1 || len(jobs) != 1 {
		t.Errorf("found %q, %+v, %v, %v, %v, %v", graph, latest, jobs, err, err2, err3)
	}
	if err := unix.Mount("tmpfs", c.storage, "tmpfs", unix.MS_REMOUNT, "size=8m"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		graphs.Put(t.Context(), g.Term, "j", large), checkpoints.Add(t.Context(), g.Term, ha.Checkpoint{ID: 2, Data: large}),
	); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if granted, revoked := contender.Count(); granted != 1 || revoked != 0 {
		t.Errorf("granted %d times, revoked %d times", granted, revoked)
	}
}

// A record that somebody has spoilt is named with what it holds; it stays as it is, and
// is nobody else's trouble.
func TestACorruptRecordIsNamed(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.ZooKeeper(t), steadyTimeout)
	services := c.open(t, "a", ha.Config{Name: "a"})
	defer closeServices(t, services)
	contender := hatest.NewContender(services.Election(component))
	if err := services.Election(component).Start(contender); err != nil {
		t.Fatal(err)
	}
	g := contender.Leads(t)
	for _, job := range []ha.JobID{"good", "bad"} {
		if err := errors.Join(
			services.JobGraphs().Put(t.Context(), g.Term, job, []byte("graph")),
			services.Checkpoints(job).Add(t.Context(), g.Term, ha.Checkpoint{ID: 1}),
			services.Jobs().Finish(t.Context(), g.Term, job, []byte("ok")),
			second(services.Checkpoints(job).NextID(t.Context(), g.Term)),
		); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"jobgraphs", "checkpoints", "checkpoint-counter", "results"} {
		if _, err := c.admin.Set(t.Context(), "/"+folder+"/bad", []byte("{spoilt"), zk.AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	_, graph := services.JobGraphs().Recover(t.Context(), "bad")
	tells(t, graph, ha.ErrCorrupt, "graph of job bad", "jobgraphs/bad", "{spoilt")
	_, latest := services.Checkpoints("bad").Latest(t.Context())
	tells(t, latest, ha.ErrCorrupt, "checkpoint of job bad", "checkpoints/bad", "{spoilt")
	tells(t, services.Checkpoints("bad").Add(t.Context(), g.Term, ha.Checkpoint{ID: 2}), ha.ErrCorrupt, "checkpoint 2 of job bad", "{spoilt")
	_, id := services.Checkpoints("bad").NextID(t.Context(), g.Term)
	tells(t, id, ha.ErrCorrupt, "checkpoint-counter/bad", "{spoilt")
	results, err := services.Jobs().Results(t.Context())
	tells(t, err, ha.ErrCorrupt, "results/bad", "{spoilt")
	if len(results) != 1 || results[0].Job != "good" {
		t.Errorf("results %+v", results)
	}
	if jobs, err := services.JobGraphs().List(t.Context()); err != nil || len(jobs) != 2 {
		t.Errorf("jobs %v, %v", jobs, err)
	}
	if graph, err := services.JobGraphs().Recover(t.Context(), "good"); err != nil || string(graph) != "graph" {
		t.Errorf("recovered %q, %v", graph, err)
	}
	node, err := c.admin.Get(t.Context(), "/jobgraphs/bad")
	if err != nil || string(node.Data) != "{spoilt" {
		t.Errorf("it was changed to %q, %v", node.Data, err)
	}
}

func second[T any](_ T, err error) error { return err }

// An epoch that cannot be read is led under by nobody, and its node is named.
func TestACorruptEpochIsNamed(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeper(t)
	c := newCluster(t, e, steadyTimeout)
	if err := c.admin.EnsurePath(t.Context(), "/epoch"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.admin.Set(t.Context(), "/epoch", []byte("seven"), zk.AnyVersion); err != nil {
		t.Fatal(err)
	}
	told, _ := hopeless(t, Options{Quorum: e.Addrs(), Root: c.root}, ha.ErrCorrupt, "epoch")
	tells(t, told, ha.ErrCorrupt, "epoch", "seven")
}
