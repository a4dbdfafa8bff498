package etcd

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/internal/testenv"
)

// renewing renews a session as the election does, until the test ends.
func renewing(t *testing.T, s *session) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var renewals sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		renewals.Wait()
	})
	renewals.Go(func() {
		for ctx.Err() == nil {
			renewals.Go(func() { _ = s.Renew(ctx, ha.Term{}) })
			coord.Pause(ctx, s.timeout/24)
		}
	})
}

// A member that accepts and stays mute holds nobody up: neither one who opens a
// session, nor one whose session it had, who asks, writes and watches elsewhere.
func TestMuteMemberIsLeft(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.Etcd(t), longTimeout)
	p := c.process("a")
	s := c.session("a")
	renewing(t, s)
	key := coord.Key{Folder: coord.Counters, Name: "a"}
	changes, err := s.Watch(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	<-changes // the watch is there
	for round := range 3 {
		address := s.line().address
		for _, proxy := range p.proxies {
			proxy.BlackHole(proxy.Addr() == address)
		}
		value := fmt.Sprint(round)
		if _, err := c.admin.Put(t.Context(), c.layout.key(key), value); err != nil {
			t.Fatal(err)
		}
		<-changes
		for {
			record, err := s.Get(t.Context(), key)
			if err == nil && string(record.Value) == value {
				break
			}
			elapse(10 * time.Millisecond)
		}
		if now := s.line().address; now == address {
			t.Errorf("still with %s", now)
		}
		other, err := newStore(ha.Config{SessionTimeout: c.timeout, ClusterID: "/default"},
			Options{Endpoints: p.endpoints(), Root: c.root}.WithDefaults()).Open(t.Context())
		if err != nil {
			t.Errorf("open a session: %v", err)
			continue
		}
		_ = other.Close(t.Context())
	}
}

// What changed while a watch was cut off is heard of, though the store has forgotten
// how it came about.
func TestWatchOutlivesCompactionWhileItIsCut(t *testing.T) {
	t.Parallel()
	c := newCluster(t, testenv.EtcdWith(t, testenv.EtcdConfig{Members: 1}), longTimeout)
	p := c.process("a")
	s := c.session("a")
	renewing(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	one, err := s.Watch(ctx, coord.Key{Folder: coord.Counters, Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := s.Watch(ctx, coord.Key{Folder: coord.Counters})
	if err != nil {
		t.Fatal(err)
	}
	<-one
	<-folder
	for range 2 {
		p.each(func(proxy *testenv.Proxy) { proxy.RefuseNew(true); proxy.CutAll() })
		var last int64
		for range 50 {
			put, err := c.admin.Put(t.Context(), c.layout.folder(coord.Counters)+"a", "v")
			if err != nil {
				t.Fatal(err)
			}
			last = put.Header.Revision
		}
		if _, err := c.admin.Compact(t.Context(), last, clientv3.WithCompactPhysical()); err != nil {
			t.Fatal(err)
		}
		p.heal()
		<-one
		<-folder
	}
	cancel()
	for range one {
	}
	for range folder {
	}
}

// A store that elects another leader takes no grant away: a failed renewal or an
// answer "no leader" is no loss.
func TestKillOfTheStoresLeaderEndsNoGrant(t *testing.T) {
	t.Parallel()
	servers := testenv.EtcdWith(t, testenv.EtcdConfig{})
	c := newCluster(t, servers, 15*time.Second)
	a := c.open(t, "a", ha.Config{Name: "a"})
	defer func() {
		ctx, cancel := contextFor(time.Minute)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	contender := hatest.NewContender(a.Election("dispatcher"))
	if err := a.Election("dispatcher").Start(contender); err != nil {
		t.Fatal(err)
	}
	term := contender.Leads(t).Term
	for i, fault := range []func(*testenv.EtcdMember) func(){
		func(m *testenv.EtcdMember) func() { m.Kill(t); return func() { m.Start(t) } },
		func(m *testenv.EtcdMember) func() { m.Freeze(t); return func() { m.Thaw(t) } },
	} {
		end := fault(servers.Leader(t))
		for {
			ctx, cancel := contextFor(2 * c.timeout)
			err := a.Jobs().SetRunning(ctx, term, ha.JobID(fmt.Sprint(i)))
			cancel()
			if err == nil {
				break
			}
			if ctx := contender.Last().Ctx; ctx.Err() != nil {
				t.Fatalf("the grant has ended: %v", err)
			}
		}
		end()
		servers.AwaitServing(t)
	}
	if granted, revoked := contender.Count(); granted != 1 || revoked != 0 {
		t.Errorf("granted %d, revoked %d", granted, revoked)
	}
}

// Nothing is left of a session that was closed; and one that idles changes nothing in
// the store.
func TestNothingIsLeftAndNothingIsWrittenInVain(t *testing.T) {
	t.Parallel()
	servers := testenv.EtcdWith(t, testenv.EtcdConfig{Members: 1})
	c := newCluster(t, servers, shortTimeout)
	for range 100 {
		s := c.session("a")
		if _, err := s.Watch(t.Context(), coord.Key{Folder: coord.Counters}); err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(t.Context(), ha.Term{}, coord.Key{Folder: coord.Contenders, Name: "a"}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	leases, err := c.admin.Leases(t.Context())
	if err != nil || len(leases.Leases) != 0 {
		t.Errorf("left: %v, %v", leases, err)
	}
	if _, keys, _, err := c.kept(); err != nil || len(keys) != 0 {
		t.Errorf("left: %v, %v", keys, err)
	}
	for servers.Watches(t) != 0 { // they end with their connections
		elapse(10 * time.Millisecond)
	}
	for _, name := range []string{"a", "b"} {
		n := c.open(t, name, ha.Config{Name: name})
		contender := hatest.NewContender(n.Election("dispatcher"))
		if err := n.Election("dispatcher").Start(contender); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Close(context.Background()) }()
		if name == "a" {
			n.Election("dispatcher").Confirm(contender.Leads(t).ID, "a:1")
		}
	}
	for keys := 0; keys < 6; { // identity, epoch, lock, the leader's record, two contenders
		_, found, _, err := c.kept()
		if err != nil {
			t.Fatal(err)
		}
		keys = len(found)
		elapse(10 * time.Millisecond)
	}
	m := servers.Member(0)
	before := m.Figure(t, "etcd_server_proposals_applied_total")
	elapse(2 * shortTimeout)
	if after := m.Figure(t, "etcd_server_proposals_applied_total"); after != before {
		t.Errorf("%v writes while nothing happens", after-before)
	}
	if n := servers.Watches(t); n != 5 { // the lock and the epoch of each, and the leader's record
		t.Errorf("%d watches", n)
	}
}
