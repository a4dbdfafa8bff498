package etcd

import (
	"context"
	"maps"
	"net"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/hatest"
	"github.com/leatdata/leat/internal/testenv"
)

// The only member that the leader of our election knows is cut off from the others, be
// it one that follows or the very leader of the store: trust ends before the lock is
// gone elsewhere.
func TestCutBetweenMembersEndsTrustFirst(t *testing.T) {
	t.Parallel()
	for name, leads := range map[string]bool{"follower": false, "leader": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			network := testenv.NewNetwork(t)
			var hosts []*testenv.Host
			for range 3 {
				hosts = append(hosts, network.Host(t))
			}
			servers := testenv.EtcdWith(t, testenv.EtcdConfig{Hosts: hosts})
			at := slices.IndexFunc(servers.Members(), func(m *testenv.EtcdMember) bool { return m.Addr() == servers.Leader(t).Addr() })
			if !leads {
				at = (at + 1) % 3
			}
			outside := network.Host(t)
			c := newCluster(t, servers, shortTimeout, grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
				return outside.Dial(ctx, "tcp", addr)
			}))
			cutMember(t, c, hosts, at, outside)
		})
	}
}

// cutMember cuts one member off from the others while it serves our leader.
func cutMember(t *testing.T, c *cluster, hosts []*testenv.Host, at int, outside *testenv.Host) {
	addrs := c.servers.Addrs()
	maps.Copy(c.processes, map[string]*process{
		"under": {direct: []string{addrs[at]}, dial: outside.Dial},
		"other": {direct: slices.Delete(slices.Clone(addrs), at, at+1), dial: outside.Dial},
	})
	start := func(name string, onGrant func(hatest.Grant) error) (ha.Services, *hatest.Contender) {
		n := c.open(t, name, ha.Config{Name: name})
		t.Cleanup(func() {
			ctx, cancel := contextFor(2 * time.Minute)
			defer cancel()
			if err := n.Close(ctx); err != nil {
				t.Errorf("close %s: %v", name, err)
			}
		})
		contender := hatest.NewContender(n.Election("dispatcher"))
		contender.OnGrant = onGrant
		if err := n.Election("dispatcher").Start(contender); err != nil {
			t.Fatal(err)
		}
		return n, contender
	}
	a, under := start("under", nil)
	first := under.Leads(t)
	// Whoever takes over tells when the lock was gone.
	_, other := start("other", func(hatest.Grant) error {
		if a.Election("dispatcher").HasLeadership(first.ID) || first.Ctx.Err() == nil {
			t.Error("the lock was gone while its owner trusted its session")
		}
		return nil
	})
	for i, host := range hosts {
		if i != at {
			hosts[at].CutFrom(t, host)
		}
	}
	cut := time.Now()
	<-first.Ctx.Done()
	ended := time.Since(cut)
	if second := other.Leads(t); second.Term.Epoch <= first.Term.Epoch {
		t.Errorf("epoch %d after %d", second.Term.Epoch, first.Term.Epoch)
	}
	t.Logf("trust ended after %s, another leads after %s", ended, time.Since(cut))
	hosts[at].Unfilter(t)
	under.Follows(t)
	// What it reads now is what the others have written: what the one who leads has been
	// told comes after, and on a busy machine that may be another term by now.
	ctx, cancel := contextFor(time.Minute)
	defer cancel()
	for {
		found, err := c.admin.Get(ctx, c.layout.lock(), clientv3.WithLimit(1))
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Kvs) == 1 && slices.ContainsFunc([]*hatest.Contender{other, under}, func(one *hatest.Contender) bool {
			last := one.Last().Term
			return last.Epoch > first.Term.Epoch && string(found.Kvs[0].Value) == string(last.Grant)
		}) {
			return
		}
		elapse(20 * time.Millisecond)
	}
}
