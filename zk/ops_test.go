package zk

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

func TestOperations(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.direct(longTimeout)), bounded(t)
	path, err := s.Create(ctx, "/a", []byte("one"), Persistent)
	if err != nil || path != "/a" {
		t.Fatalf("created %q: %v", path, err)
	}
	node, err := s.Get(ctx, "/a")
	if err != nil || !node.Exists || string(node.Data) != "one" || node.Stat.Owner != 0 {
		t.Errorf("read %+v: %v", node, err)
	}
	if st, err := s.Set(ctx, "/a", []byte("two"), 0); err != nil || st.Version != 1 {
		t.Errorf("set: %+v, %v", st, err)
	}
	if _, err := s.Set(ctx, "/a", nil, 0); !errors.Is(err, ErrBadVersion) || errors.Is(err, ErrAmbiguous) {
		t.Errorf("set with an old version: %v", err)
	}
	if path, err = s.Create(ctx, "/a/n-", nil, EphemeralSequential); err != nil || path != "/a/n-0000000000" {
		t.Errorf("created %q: %v", path, err)
	}
	if node, err := s.Get(ctx, path); err != nil || node.Stat.Owner != s.ID() {
		t.Errorf("the node belongs to %d, the session is %d: %v", node.Stat.Owner, s.ID(), err)
	}
	if names, st, err := s.Children(ctx, "/a"); err != nil || !slices.Equal(names, []string{"n-0000000000"}) || st.Children != 1 {
		t.Errorf("children are %q: %v", names, err)
	}
	if err := s.Delete(ctx, "/a", AnyVersion); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("deleted a node with children: %v", err)
	}
	if err := errors.Join(s.Delete(ctx, path, AnyVersion), s.Delete(ctx, "/a", 1)); err != nil {
		t.Error(err)
	}
	if node, err := s.Lookup(ctx, "/a"); err != nil || node.Exists {
		t.Errorf("after it was deleted: %+v, %v", node, err)
	}
	if _, ok, err := s.Exists(ctx, "/a"); err != nil || ok {
		t.Errorf("after it was deleted: %t, %v", ok, err)
	}
	if err := errors.Join(s.EnsurePath(ctx, "/x/y/z"), s.EnsurePath(ctx, "/x/y/z")); err != nil {
		t.Error(err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Error(err)
	}
}

func TestRefusalsNameWhatWasRefused(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.direct(longTimeout)), bounded(t)
	_, missing := s.Get(ctx, "/no/such")
	_, exists := s.Create(ctx, "/", nil, Persistent)
	_, parent := s.Create(ctx, "/no/such", nil, Persistent)
	_, path := s.Create(ctx, "no/slash", nil, Persistent)
	_, large := s.Create(ctx, "/large", make([]byte, 2<<20), Persistent)
	_, multi := s.Multi(ctx, SetOp("/large", make([]byte, 2<<20), AnyVersion))
	for _, c := range []struct {
		err, want error
		text      string
	}{
		{missing, ErrNoNode, "zk: get /no/such: node does not exist"},
		{exists, ErrNodeExists, "zk: create /: node already exists"},
		{parent, ErrNoNode, "zk: create /no/such: node does not exist"},
		{path, ErrInvalidPath, "no/slash"},
		{large, ErrTooLarge, "zk: create /large: larger than the store takes"},
		{multi, ErrTooLarge, "zk: multi: larger"},
	} {
		if !errors.Is(c.err, c.want) || errors.Is(c.err, ErrAmbiguous) || !strings.Contains(c.err.Error(), c.text) {
			t.Errorf("error is %v, want %v in %q", c.err, c.want, c.text)
		}
	}
	if !s.Connected() {
		t.Error("a refusal has cost the connection")
	}
}

func TestLargeNodesPass(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.direct(longTimeout)), bounded(t)
	data := bytes.Repeat([]byte("leat"), (1<<20-2<<10)/4)
	if _, err := s.Create(ctx, "/large", data, Persistent); err != nil {
		t.Fatal(err)
	}
	if node, err := s.Get(ctx, "/large"); err != nil || !bytes.Equal(node.Data, data) {
		t.Errorf("read %d bytes of %d: %v", len(node.Data), len(data), err)
	}
}

func TestMultiDoesAllOrNothing(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.direct(longTimeout)), bounded(t)
	results, err := s.Multi(ctx,
		CreateOp("/a", []byte("1"), Persistent), CheckOp("/a", 0), SetOp("/a", []byte("2"), 0),
		CreateOp("/a/s-", nil, PersistentSequential))
	if err != nil || len(results) != 4 || results[0].Path != "/a" || results[2].Stat.Version != 1 || results[3].Path != "/a/s-0000000000" {
		t.Fatalf("results are %+v: %v", results, err)
	}
	for _, c := range []struct {
		ops   []Op
		index int
		err   error
	}{
		{[]Op{CreateOp("/b", nil, Persistent), CheckOp("/missing", AnyVersion)}, 1, ErrNoNode},
		{[]Op{CheckOp("/a", 7), CreateOp("/b", nil, Persistent)}, 0, ErrBadVersion},
		{[]Op{CreateOp("/b", nil, Persistent), CreateOp("/a", nil, Ephemeral), SetOp("/a", nil, 9)}, 1, ErrNodeExists},
		{[]Op{CreateOp("/b", nil, Persistent), DeleteOp("/a", AnyVersion)}, 1, ErrNotEmpty},
		{[]Op{CreateOp("/b", nil, Container)}, 0, ErrBadArguments},
		{[]Op{{}}, 0, ErrInvalidPath},
	} {
		_, err := s.Multi(ctx, c.ops...)
		multi, ok := errors.AsType[*MultiError](err)
		if !ok || multi.Index != c.index || !errors.Is(err, c.err) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("%v: error is %v, want %v of operation %d", c.ops, err, c.err, c.index)
		}
		if _, exists, err := s.Exists(ctx, "/b"); err != nil || exists {
			t.Errorf("%v: a part of it was done (%v)", c.ops, err)
		}
	}
	if results, err := s.Multi(ctx); err != nil || results != nil {
		t.Errorf("nothing to do: %v, %v", results, err)
	}
}

func TestDigestUsersAreApart(t *testing.T) {
	r := newRig(t)
	ctx := bounded(t)
	cfg := r.proxied(longTimeout)
	cfg.Auth, cfg.ACL = []Auth{Digest("one", "secret")}, CreatorACL()
	one := r.open(t, cfg)
	cfg.Auth = []Auth{Digest("two", "secret")}
	two, nobody := r.open(t, cfg), r.open(t, r.direct(longTimeout))
	if _, err := one.Create(ctx, "/mine", []byte("x"), Persistent); err != nil {
		t.Fatal(err)
	}
	list, err := one.ACL(ctx, "/mine")
	if want := DigestACL(PermissionAll, "one", "secret"); err != nil || !slices.Equal(list, want) {
		t.Errorf("access list is %v, want %v (%v)", list, want, err)
	}
	for _, s := range []*Session{two, nobody} {
		if _, err := s.Get(ctx, "/mine"); !errors.Is(err, ErrNoAuth) {
			t.Errorf("another user reads: %v", err)
		}
	}
	// Each connection is of the same user.
	for range 3 {
		r.all((*testenv.Proxy).CutAll)
		if _, err := one.Get(ctx, "/mine"); err != nil {
			t.Errorf("after a cut: %v", err)
		}
	}
	if err := one.SetACL(ctx, "/mine", OpenACL()); err != nil {
		t.Error(err)
	}
	if _, err := nobody.Get(ctx, "/mine"); err != nil {
		t.Error(err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1, TLS: true})
	tlsConfig, err := e.Authority().Client()
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Servers: e.SecureAddrs(), SessionTimeout: longTimeout, TLS: tlsConfig, ConnectTimeout: 10 * time.Second}
	s, err := Open(bounded(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(bounded(t), "/secured", nil, Ephemeral); err != nil {
		t.Error(err)
	}
	// Without TLS the port says nothing that is of use.
	cfg.TLS = nil
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := Open(ctx, cfg); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("without TLS: %v", err)
	}
}
