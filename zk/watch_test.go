package zk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// values sends what a watch sees, and at the end its error.
func values(ctx context.Context, s *Session, path string) (<-chan Node, <-chan error) {
	nodes, failed := make(chan Node), make(chan error, 1)
	go func() {
		for node, err := range s.Watch(ctx, path) {
			if err != nil {
				failed <- err
				return
			}
			select {
			case nodes <- node:
			case <-ctx.Done():
			}
		}
	}()
	return nodes, failed
}

func TestWatchSeesANodesLife(t *testing.T) {
	r := newRig(t)
	s, other, ctx := r.open(t, r.direct(longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	watching, stop := context.WithCancel(ctx)
	nodes, failed := values(watching, s, "/n")
	next := func(exists bool, data string) Node {
		t.Helper()
		node := happens(t, nodes, "a change")
		if node.Exists != exists || string(node.Data) != data {
			t.Fatalf("saw %+v, want %t %q", node, exists, data)
		}
		return node
	}
	next(false, "")
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(other.Create(ctx, "/n", []byte("1"), Persistent))
	first := next(true, "1")
	must(other.Set(ctx, "/n", []byte("2"), 0))
	next(true, "2")
	must(nil, other.Delete(ctx, "/n", AnyVersion))
	next(false, "")
	must(other.Create(ctx, "/n", []byte("1"), Persistent))
	if again := next(true, "1"); again.Stat.Created == first.Stat.Created {
		t.Error("a node that was made anew is the same")
	}
	stop()
	if err := happens(t, failed, "the watch's end"); !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}

// What changes while a client is cut off, or while its watch is on its way, is
// seen.
func TestWatchLosesNothingToCuts(t *testing.T) {
	r := newRig(t)
	s, other, ctx := r.open(t, r.proxied(longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	if _, err := other.Create(ctx, "/n", []byte("0"), Persistent); err != nil {
		t.Fatal(err)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	nodes, _ := values(watching, s, "/n")
	happens(t, nodes, "the first look")
	for i := range 30 {
		switch i % 3 {
		case 0:
			r.all((*testenv.Proxy).CutAll)
		case 1:
			r.all(func(p *testenv.Proxy) { p.RefuseNew(true); p.CutAll() })
		case 2:
			r.all(func(p *testenv.Proxy) { p.BlackHole(true) })
		}
		want := strconv.Itoa(i + 1)
		if _, err := other.Set(ctx, "/n", []byte(want), AnyVersion); err != nil {
			t.Fatal(err)
		}
		r.all(func(p *testenv.Proxy) { p.RefuseNew(false); p.BlackHole(false) })
		for node := happens(t, nodes, "change "+want); string(node.Data) != want; {
			node = happens(t, nodes, "change "+want)
		}
	}
	if s.Err() != nil {
		t.Error(s.Err())
	}
}

func TestWatchChildrenSeesTheListChange(t *testing.T) {
	r := newRig(t)
	s, other, ctx := r.open(t, r.proxied(longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	lists, watching := make(chan Children), new(sync.WaitGroup)
	ctxWatch, stop := context.WithCancel(ctx)
	watching.Go(func() {
		for c, err := range s.WatchChildren(ctxWatch, "/dir") {
			if err != nil {
				return
			}
			select {
			case lists <- c:
			case <-ctxWatch.Done():
			}
		}
	})
	want := func(exists bool, names ...string) {
		t.Helper()
		if c := happens(t, lists, "a change"); c.Exists != exists || !slices.Equal(c.Names, names) {
			t.Errorf("saw %+v, want %t %q", c, exists, names)
		}
	}
	want(false)
	if err := other.EnsurePath(ctx, "/dir"); err != nil {
		t.Fatal(err)
	}
	want(true)
	for _, name := range []string{"b", "a"} {
		if err := other.EnsurePath(ctx, "/dir/"+name); err != nil {
			t.Fatal(err)
		}
		r.all((*testenv.Proxy).CutAll)
		if name == "b" {
			want(true, "b")
		} else {
			want(true, "a", "b")
		}
	}
	for _, name := range []string{"a", "b"} {
		if err := other.Delete(ctx, "/dir/"+name, AnyVersion); err != nil {
			t.Fatal(err)
		}
	}
	for c := happens(t, lists, "a change"); len(c.Names) > 0; {
		c = happens(t, lists, "a change")
	}
	if err := other.Delete(ctx, "/dir", AnyVersion); err != nil {
		t.Fatal(err)
	}
	want(false)
	stop()
	watching.Wait()
}

func TestWatchEndsWithItsSession(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.direct(longTimeout)), bounded(t)
	nodes, failed := values(ctx, s, "/n")
	happens(t, nodes, "the first look")
	s.Close()
	if err := happens(t, failed, "the watch's end"); !errors.Is(err, ErrSessionEnded) || !errors.Is(err, ErrStopped) {
		t.Errorf("the watch ended with %v", err)
	}
}

// Whoever looks at the same node shares one watch in the store, and a thousand
// who have come and gone leave no more than that.
func TestWatchesDoNotPileUp(t *testing.T) {
	t.Parallel()
	r := rigOn(t, testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1}))
	cfg := r.direct(longTimeout)
	cfg.Resync = time.Millisecond
	s, ctx := r.open(t, cfg), bounded(t)
	var watching sync.WaitGroup
	for range 4 {
		watching.Go(func() {
			for range 250 {
				for _, err := range s.Watch(ctx, "/n") {
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	watching.Wait()
	// Looking again and again, for the timer's sake, sets none either.
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	for range s.Watch(short, "/n") {
		continue
	}
	if n := r.ensemble.Watches(t); n != 1 {
		t.Errorf("the store holds %d watches for one node", n)
	}
	s.Close()
	if n := r.ensemble.Watches(t); n != 0 {
		t.Errorf("the store holds %d watches of a session that was closed", n)
	}
}

// A session that watches a thousand nodes sees each of them change while it is cut
// off: their watches are set anew one by one, not in a message that is too large.
func TestAThousandWatchesOutliveTheirConnection(t *testing.T) {
	t.Parallel()
	r := rigOn(t, testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1}))
	const nodes = 1000
	s, other, ctx := r.open(t, r.proxied(longTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	// Their paths together are more than a server takes in one message.
	path := func(i int) string { return "/" + strings.Repeat("n", 1200) + strconv.Itoa(i) }
	var looked, seen sync.WaitGroup
	for i := range nodes {
		looked.Add(1)
		seen.Go(func() {
			first := true
			for node, err := range s.Watch(ctx, path(i)) {
				switch {
				case err != nil:
					t.Error(err)
				case first:
					looked.Done()
					first = false
				case node.Exists:
					return
				}
			}
		})
	}
	looked.Wait()
	if n := r.ensemble.Watches(t); n != nodes {
		t.Errorf("the store holds %d watches", n)
	}
	r.all(func(p *testenv.Proxy) { p.RefuseNew(true); p.CutAll() })
	for i := range nodes {
		if i%2 == 0 {
			if _, err := other.Create(ctx, path(i), nil, Persistent); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.all(func(p *testenv.Proxy) { p.RefuseNew(false) })
	for i := range nodes {
		if i%2 != 0 {
			if _, err := other.Create(ctx, path(i), nil, Persistent); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen.Wait()
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	s.Close()
	if n := r.ensemble.Watches(t); n != 0 {
		t.Errorf("the store holds %d watches of a session that was closed", n)
	}
}

func TestCacheFollowsItsNodeThroughSessions(t *testing.T) {
	r := newRig(t)
	client, other, ctx := r.client(t, r.proxied(shortTimeout)), r.open(t, r.direct(longTimeout)), bounded(t)
	cache := NewCache(client, "/n")
	if err := cache.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cache.Stop)
	await := func(want string) {
		t.Helper()
		for {
			node, known, changed := cache.Get()
			if known && string(node.Data) == want {
				return
			}
			happens(t, changed, fmt.Sprintf("a change from %q to %q", node.Data, want))
		}
	}
	if node, err := cache.Await(ctx); err != nil || node.Exists {
		t.Fatalf("at first: %+v, %v", node, err)
	}
	if _, err := other.Create(ctx, "/n", []byte("1"), Persistent); err != nil {
		t.Fatal(err)
	}
	await("1")
	first := mustSession(t, client)
	r.all(func(p *testenv.Proxy) { p.BlackHole(true) })
	happens(t, first.Done(), "the end of the session")
	until(t, "that the cache is not known to be current", func() bool { _, known, _ := cache.Get(); return !known })
	if node, _, _ := cache.Get(); string(node.Data) != "1" {
		t.Errorf("what was last seen is %q", node.Data)
	}
	if _, err := other.Set(ctx, "/n", []byte("2"), AnyVersion); err != nil {
		t.Fatal(err)
	}
	r.all(func(p *testenv.Proxy) { p.BlackHole(false) })
	await("2")
	cache.Stop()
	if _, err := cache.Await(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("after the stop: %v", err)
	}
}
