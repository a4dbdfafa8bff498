package testenv

import (
	"context"
	"errors"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// etcdClient is etcd's own client.
func etcdClient(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestEtcdsMembersAreKilledFrozenAndStartedAgain(t *testing.T) {
	t.Parallel()
	c := EtcdWith(t, EtcdConfig{Settings: []string{"--max-txn-ops=77"}})
	client := etcdClient(t, c.Addrs()...)
	put := func(key string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
		defer cancel()
		for {
			// A member that is frozen answers nothing, and another is asked in its turn.
			try, end := context.WithTimeout(ctx, time.Second)
			_, err := client.Put(try, key, "v")
			end()
			if err == nil {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("put %s: %v", key, err)
			}
		}
	}
	put("a")
	leader := c.Leader(t)
	leader.Kill(t)
	put("b")
	if next := c.Leader(t); next.Addr() == leader.Addr() {
		t.Error("a killed server leads")
	}
	leader.Start(t)
	c.AwaitServing(t)
	frozen := c.Leader(t)
	frozen.Freeze(t)
	put("c")
	frozen.Thaw(t)
	c.AwaitServing(t)
	got, err := client.Get(t.Context(), "a", clientv3.WithRange("d"))
	if err != nil || len(got.Kvs) != 3 {
		t.Errorf("there are %v, %v", got, err)
	}
	if c.Watches(t) != 0 {
		t.Error("there are watches")
	}
}

// The reply to one transaction is dropped, after the store has carried it out; reads
// pass.
func TestEtcdProxyDropsOneReply(t *testing.T) {
	t.Parallel()
	c := Etcd(t)
	if c != Etcd(t) {
		t.Error("the cluster is not shared")
	}
	p := NewEtcdProxy(t, c.Addrs()[0])
	client, admin := etcdClient(t, p.Addr()), etcdClient(t, c.Addrs()...)
	root := c.Root()
	dropped := DropEtcdReply([]*Proxy{p}, root)
	if _, err := client.Txn(t.Context()).Then(clientv3.OpGet(root)).Commit(); err != nil {
		t.Errorf("a read: %v", err)
	}
	if _, err := client.Txn(t.Context()).Then(clientv3.OpPut("/another", "v")).Commit(); err != nil {
		t.Errorf("another write: %v", err)
	}
	select {
	case <-dropped:
		t.Error("dropped too early")
	default:
	}
	if _, err := client.Txn(t.Context()).Then(clientv3.OpPut(root, "v")).Commit(); err == nil {
		t.Error("a reply that was dropped arrives")
	}
	<-dropped
	got, err := admin.Get(t.Context(), root)
	if err != nil || len(got.Kvs) != 1 || got.Kvs[0].Version != 1 {
		t.Errorf("there is %v, %v", got, err)
	}
	if _, err := client.Txn(t.Context()).Then(clientv3.OpPut(root, "w")).Commit(); err != nil {
		t.Errorf("the next reply is dropped too: %v", err)
	}
}

func TestEtcdSpeaksTLS(t *testing.T) {
	t.Parallel()
	c := EtcdWith(t, EtcdConfig{Members: 1, TLS: true})
	cfg, err := c.Authority().Client()
	if err != nil {
		t.Fatal(err)
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + c.Addrs()[0]}, TLS: cfg, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), "a", "v"); err != nil {
		t.Error(err)
	}
	if err := client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
