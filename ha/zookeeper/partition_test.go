package zookeeper

import (
	"slices"
	"testing"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

// A follower is cut off from its leader, and the leader of our election knows no other
// server: the follower goes on answering its pings for syncLimit × tickTime, while the
// ensemble's leader counts its session out. Trust ends before the lock is gone.
func TestCutBetweenAFollowerAndItsLeaderEndsTrustFirst(t *testing.T) {
	t.Parallel()
	network := testenv.NewNetwork(t)
	var hosts []*testenv.Host
	for range 3 {
		hosts = append(hosts, network.Host(t))
	}
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Hosts: hosts})
	host := func(m *testenv.ZooKeeperMember) *testenv.Host {
		return hosts[slices.IndexFunc(e.Members(), func(other *testenv.ZooKeeperMember) bool { return other.Addr() == m.Addr() })]
	}
	leader, follower := e.Leader(t), e.Followers(t)[0]
	c := newClusterOn(t, network, e, shortTimeout)
	under := c.process("under the follower")
	under.servers = []string{follower.Addr()}
	others := c.process("elsewhere")
	others.servers = slices.DeleteFunc(e.Addrs(), func(addr string) bool { return addr == follower.Addr() })
	a, b := c.open(t, "under the follower", ha.Config{Name: "a"}), c.open(t, "elsewhere", ha.Config{Name: "b"})
	defer func() { closeServices(t, a); closeServices(t, b) }()

	ca, cb := hatest.NewContender(a.Election(component)), hatest.NewContender(b.Election(component))
	if err := a.Election(component).Start(ca); err != nil {
		t.Fatal(err)
	}
	first := ca.Leads(t)
	if err := b.Election(component).Start(cb); err != nil {
		t.Fatal(err)
	}
	lock := layout{}.lock()
	gone := make(chan bool, 1)
	watching := make(chan struct{})
	go func() {
		for node, err := range c.admin.Watch(t.Context(), lock) {
			if err == nil && node.Exists && string(node.Data) == string(first.Term.Grant) {
				close(watching)
				continue
			}
			gone <- a.Election(component).HasLeadership(first.ID) || first.Ctx.Err() == nil
			return
		}
	}()
	<-watching
	host(follower).CutFrom(t, host(leader))
	cut := time.Now()
	<-first.Ctx.Done()
	ended := time.Since(cut)
	if <-gone {
		t.Error("the lock was gone while its owner trusted its session")
	}
	t.Logf("trust ended after %s, the lock was gone after %s", ended, time.Since(cut))
	if second := cb.Leads(t); second.Term.Epoch <= first.Term.Epoch {
		t.Errorf("epoch %d after %d", second.Term.Epoch, first.Term.Epoch)
	}
	host(follower).Unfilter(t)
	ca.Follows(t)
}

func closeServices(t *testing.T, services ha.Services) {
	t.Helper()
	ctx, cancel := contextFor(2 * time.Minute)
	defer cancel()
	if err := services.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}
