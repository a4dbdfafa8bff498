package etcd

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/internal/testenv"
)

// openWith opens a session with some members, and closes it with the test.
func openWith(t *testing.T, o Options) (coord.Session, error) {
	t.Helper()
	cfg := ha.Config{SessionTimeout: longTimeout, ClusterID: "/default"}
	s, err := newStore(cfg, o.WithDefaults()).Open(t.Context())
	if err == nil {
		t.Cleanup(func() { _ = s.Close(context.Background()) })
	}
	return s, err
}

// told fails unless an error is of a kind, and says what it is about.
func told(t *testing.T, err, kind error, wants ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("told %v, want %v", err, kind)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("told %v, without %q", err, want)
		}
	}
}

func TestMembersThatAreNotThereAreNamed(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	_ = listener.Close()
	_, err = openWith(t, Options{Endpoints: []string{nobody, "host.invalid:2379"}})
	told(t, err, ha.ErrUnavailable, "etcd at "+nobody, "refused", "etcd at host.invalid:2379")
	if ha.Fatal(err) {
		t.Error("a store that is away is fatal")
	}
}

func TestCredentialsAndPrefixesThatAreRefusedAreNamed(t *testing.T) {
	t.Parallel()
	servers := testenv.EtcdWith(t, testenv.EtcdConfig{Members: 1})
	ctx := t.Context()
	admin := newAdmin(t, clientv3.Config{Endpoints: servers.Addrs()})
	from, to := "/mine/", "/mine0"
	for _, err := range []error{
		second(admin.RoleAdd(ctx, "r")),
		second(admin.RoleGrantPermission(ctx, "r", from, to, clientv3.PermissionType(clientv3.PermReadWrite))),
		second(admin.UserAdd(ctx, "root", "secret")), second(admin.UserGrantRole(ctx, "root", "root")),
		second(admin.UserAdd(ctx, "me", "mine")), second(admin.UserGrantRole(ctx, "me", "r")),
		second(admin.AuthEnable(ctx)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := openWith(t, Options{Endpoints: servers.Addrs()})
	told(t, err, ha.ErrForbidden, servers.Addrs()[0], "set high-availability.etcd.client.user")
	_, err = openWith(t, Options{Endpoints: servers.Addrs(), User: "me", Password: "hunter2"})
	told(t, err, ha.ErrForbidden, "check high-availability.etcd.client.user and etcd.client.password")
	if strings.Contains(fmt.Sprint(err), "hunter2") {
		t.Error("told the password")
	}
	s, err := openWith(t, Options{Endpoints: servers.Addrs(), User: "me", Password: "mine", Root: "/theirs"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Look(ctx)
	told(t, err, ha.ErrForbidden, "may not use the keys below high-availability.etcd.path.root")
	err = s.Write(ctx, ha.Term{}, coord.Op{Key: coord.Key{Folder: coord.Counters, Name: "a"}})
	told(t, err, ha.ErrForbidden, "readwrite with that prefix")

	s, err = openWith(t, Options{Endpoints: servers.Addrs(), User: "me", Password: "mine", Root: "/mine"})
	if err != nil {
		t.Fatal(err)
	}
	term, err := s.TakeOver(ctx, claimOf("g"))
	if err != nil {
		t.Fatal(err)
	}
	// A server that was started again knows no tokens: another one is asked for.
	servers.Member(0).Kill(t)
	servers.Member(0).Start(t)
	for {
		err := s.Renew(ctx, term)
		if err == nil {
			break
		}
		if !errors.Is(err, ha.ErrUnavailable) {
			t.Fatal(err)
		}
		elapse(20 * time.Millisecond)
	}
	if err := s.Write(ctx, term, coord.Op{Key: coord.Key{Folder: coord.Counters, Name: "a"}}); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// claimOf takes the number after the store's.
func claimOf(grant ha.GrantID) coord.Claim {
	return coord.Claim{Grant: grant, Name: "n", Next: func(_ context.Context, stored ha.Epoch) (ha.Epoch, error) {
		return stored + 1, nil
	}}
}

func TestTLSThatDoesNotFitIsNamed(t *testing.T) {
	t.Parallel()
	servers := testenv.EtcdWith(t, testenv.EtcdConfig{Members: 1, TLS: true})
	addr := servers.Addrs()[0]
	files, err := servers.Authority().ClientFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	read := func(keys map[string]string) Options {
		t.Helper()
		o, err := ParseOptions(keys)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	_, err = openWith(t, read(map[string]string{endpointsKey: "https://" + addr}))
	told(t, err, ha.ErrForbidden, addr, "check high-availability.etcd.client.tls.ca-file")
	_, err = openWith(t, read(map[string]string{endpointsKey: addr}))
	told(t, err, ha.ErrUnavailable, addr)
	_, err = openWith(t, read(map[string]string{endpointsKey: addr, caKey: files.Authority}))
	told(t, err, ha.ErrUnavailable, addr)
	s, err := openWith(t, read(map[string]string{
		endpointsKey: addr, caKey: files.Authority, certificateKey: files.Certificate, privateKeyKey: files.Key,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Renew(t.Context(), ha.Term{}); err != nil {
		t.Error(err)
	}
	plain := testenv.Etcd(t).Addrs()[0]
	_, err = openWith(t, Options{Endpoints: []string{plain}, TLS: &tls.Config{MinVersion: tls.VersionTLS12}})
	told(t, err, ha.ErrUnavailable, plain, "it speaks no TLS")
}

func TestRequestsThatAreTooLargeAreNamed(t *testing.T) {
	t.Parallel()
	s := newCluster(t, testenv.Etcd(t), longTimeout).session("a")
	var many []coord.Op
	for i := range 200 {
		many = append(many, coord.Op{Key: coord.Key{Folder: coord.Counters, Name: fmt.Sprint(i)}})
	}
	told(t, s.Write(t.Context(), ha.Term{}, many...), ha.ErrConfig, "--max-txn-ops")
	for _, size := range []int{1<<20 + 1<<19, 3 << 20} {
		large := coord.Op{Key: coord.Key{Folder: coord.Counters, Name: "a"}, Value: make([]byte, size)}
		told(t, s.Write(t.Context(), ha.Term{}, large), ha.ErrConfig, "--max-request-bytes")
	}
	if all, err := s.List(t.Context(), coord.Counters); err != nil || len(all) != 0 {
		t.Errorf("there are %v, %v", all, err)
	}
}

// A write is unknown only if its request may have arrived.
func TestLostRepliesAndLostRequestsAreToldApart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.Etcd(t), longTimeout)
	s := c.session("a")
	key := coord.Key{Folder: coord.Counters, Name: "a"}
	dropped := testenv.DropEtcdReply(c.process("a").proxies, "")
	err := s.Write(t.Context(), ha.Term{}, coord.Op{Key: key, Value: []byte("1")})
	told(t, err, ha.ErrAmbiguous)
	<-dropped
	for {
		record, err := s.Get(t.Context(), key)
		if err == nil {
			if string(record.Value) != "1" {
				t.Errorf("there is %+v", record)
			}
			break
		}
		told(t, err, ha.ErrUnavailable)
		elapse(10 * time.Millisecond)
	}
	c.process("a").each(func(p *testenv.Proxy) { p.RefuseNew(true); p.CutAll() })
	for sent := true; sent; {
		err = s.Write(t.Context(), ha.Term{}, coord.Op{Kind: coord.Update, Key: key, Version: coord.AnyVersion})
		// The connection's end may be noticed by this very write.
		sent = errors.Is(err, ha.ErrAmbiguous)
	}
	told(t, err, ha.ErrUnavailable, "etcd at 127.0.0.1:")
	c.process("a").heal()
}

func TestFoldersOfManyPagesAreListedWhole(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.Etcd(t), longTimeout)
	s := c.session("a")
	const many = 2*page + 3
	for i := range many {
		if _, err := c.admin.Put(t.Context(), c.layout.folder(coord.Results)+fmt.Sprintf("%04d", i), "v"); err != nil {
			t.Fatal(err)
		}
	}
	// Keys whose names begin alike are none of this folder.
	if _, err := c.admin.Put(t.Context(), c.layout.base+"/"+coord.Results+"x/0", "v"); err != nil {
		t.Fatal(err)
	}
	all, err := s.List(t.Context(), coord.Results)
	if err != nil || len(all) != many {
		t.Fatalf("listed %d, %v", len(all), err)
	}
	for i, r := range all {
		if r.Key.Name != fmt.Sprintf("%04d", i) || string(r.Value) != "v" || r.Version == 0 {
			t.Errorf("record %d is %+v", i, r)
		}
	}
}
