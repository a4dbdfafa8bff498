package zk

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// Freeze: a follower whose leader is gone answers pings for as long as syncLimit
// says; its clients must not trust it so long.
func TestFreezeOfTheLeaderEndsTrustThoughAFollowerAnswers(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Tick: time.Second})
	ctx := bounded(t)
	leader, follower := e.Leader(t), e.Followers(t)[0]
	s, err := Open(ctx, Config{Servers: []string{follower.Addr()}, SessionTimeout: shortTimeout, ConnectTimeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	leader.Freeze(t)
	defer leader.Thaw(t)
	before := s.TrustedUntil()
	happens(t, s.Done(), "the end of trust")
	if err := s.Err(); !errors.Is(err, ErrTrustEnded) {
		t.Errorf("the session ended by %v", err)
	}
	if after := s.TrustedUntil(); after-before > shortTimeout/2 {
		t.Errorf("trust was renewed by %s after the leader was frozen", after-before)
	}
}

// Kill: the store elects a new leader, and a session of ten seconds or more does
// not notice.
func TestKillOfAnyServerLeavesTheSession(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{})
	ctx := bounded(t)
	s, err := Open(ctx, Config{Servers: e.Addrs(), SessionTimeout: longTimeout, ConnectTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(ctx, "/mine", nil, Ephemeral); err != nil {
		t.Fatal(err)
	}
	for i, m := range append(e.Members(), e.Leader(t)) {
		m.Kill(t)
		if node, err := s.Get(ctx, "/mine"); err != nil || node.Stat.Owner != s.ID() {
			t.Fatalf("after kill %d: %+v, %v", i, node, err)
		}
		m.Start(t)
		e.AwaitServing(t)
	}
	if s.Err() != nil {
		t.Error(s.Err())
	}
}

// A restored store refuses a client that has seen newer transactions, and never
// says that its session has expired.
func TestARestoredStoreIsJoinedByANewSession(t *testing.T) {
	t.Parallel()
	e := testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1})
	ctx := bounded(t)
	c := startClient(t, Config{Servers: e.Addrs(), SessionTimeout: shortTimeout, ConnectTimeout: 5 * time.Second})
	defer c.Stop()
	first := lasting(t, c, func(s *Session) error {
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = s.EnsurePath(ctx, "/n"+strconv.Itoa(i))
		}
		return err
	})
	m := e.Member(0)
	m.Kill(t)
	m.Wipe(t)
	m.Start(t)
	e.AwaitServing(t)
	happens(t, first.Done(), "the end of the session")
	lasting(t, c, func(s *Session) error { return s.EnsurePath(ctx, "/new") })
	if _, err := first.Create(ctx, "/old", nil, Persistent); !errors.Is(err, ErrSessionEnded) {
		t.Errorf("in the old session: %v", err)
	}
}

// Cut: expired while it was cut off; what it had is gone, and nothing that it was
// asked for later is done in the next session.
func TestCutLongerThanTheTimeoutEndsTheSession(t *testing.T) {
	r := newRig(t)
	ctx := bounded(t)
	c, other := r.client(t, r.proxied(shortTimeout)), r.open(t, r.direct(longTimeout))
	first := lasting(t, c, func(s *Session) error {
		_, err := s.Create(ctx, "/mine", nil, Ephemeral)
		return err
	})
	r.all(func(p *testenv.Proxy) { p.RefuseNew(true); p.CutAll() })
	until(t, "the loss of the connection", func() bool { return !first.Connected() })
	waiting := make(chan error, 1)
	go func() {
		_, err := first.Create(ctx, "/late", nil, Persistent)
		waiting <- err
	}()
	for node, err := range other.Watch(ctx, "/mine") {
		if err != nil {
			t.Fatal(err)
		}
		if !node.Exists {
			break
		}
	}
	if first.Trusted() {
		t.Error("the session's node was gone before its trust ended")
	}
	happens(t, first.Done(), "the end of the session")
	r.all(func(p *testenv.Proxy) { p.RefuseNew(false) })
	if err := happens(t, waiting, "the end of the write"); !errors.Is(err, ErrSessionEnded) {
		t.Errorf("the write that waited for a connection: %v", err)
	}
	late := false
	second := lasting(t, c, func(s *Session) (err error) {
		if err = s.Sync(ctx); err == nil {
			_, late, err = s.Exists(ctx, "/late")
		}
		return err
	})
	if second.ID() == first.ID() {
		t.Error("the session is the same")
	}
	if late {
		t.Error("a write of the old session was done in the new one")
	}
}

// Cut: a half-open connection, of which the server learns nothing.
func TestCutOfTheClientsEndOnlyIsHealed(t *testing.T) {
	r := newRig(t)
	s, ctx := r.open(t, r.proxied(longTimeout)), bounded(t)
	if _, err := s.Create(ctx, "/mine", nil, Ephemeral); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		r.all((*testenv.Proxy).HalfOpen)
		if node, err := s.Get(ctx, "/mine"); err != nil || node.Stat.Owner != s.ID() {
			t.Fatalf("%+v, %v", node, err)
		}
	}
}

// A port that accepts with nothing behind it, as a TLS tunnel in front of a
// store that is down.
func TestAPortWithNothingBehindItBlocksNobody(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{true, false} {
		t.Run(fmt.Sprintf("closes=%t", closes), func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = listener.Close() }()
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					if closes {
						_ = conn.Close()
					} else {
						defer func() { _ = conn.Close() }()
					}
				}
			}()
			c := startClient(t, Config{Servers: []string{listener.Addr().String()}, SessionTimeout: shortTimeout})
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := c.Session(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("without a store: %v", err)
			}
			start := time.Now()
			c.Stop()
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("stopping took %s", took)
			}
		})
	}
}

// Mute: one of three servers accepts and says nothing.
func TestAMuteServerIsLeftForTheNext(t *testing.T) {
	r := newRig(t)
	r.proxies[0].BlackHole(true)
	cfg := r.proxied(longTimeout)
	cfg.ConnectTimeout = 500 * time.Millisecond
	for range 4 {
		s, err := Open(bounded(t), cfg)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

// cycles is how many times clients start and stop: a thousand by make soak.
func cycles(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("LEAT_KILLS")); err == nil && n > 0 {
		return 1000
	}
	return 100
}

func TestStartedAndStoppedClientsLeaveNothing(t *testing.T) {
	t.Parallel()
	r := rigOn(t, testenv.ZooKeeperWith(t, testenv.ZooKeeperConfig{Members: 1}))
	ctx := bounded(t)
	other := r.open(t, r.direct(longTimeout))
	for range cycles(t) {
		c := startClient(t, r.direct(longTimeout))
		s := mustSession(t, c)
		if _, err := s.Create(ctx, "/n-", nil, EphemeralSequential); err != nil {
			t.Fatal(err)
		}
		cache := NewCache(c, "/watched")
		if err := cache.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := cache.Await(ctx); err != nil {
			t.Fatal(err)
		}
		cache.Stop()
		c.Stop()
	}
	if names, _, err := other.Children(ctx, "/"); err != nil || len(names) > 0 {
		t.Errorf("nodes %q are left (%v)", names, err)
	}
	figures := r.ensemble.Member(0).Figures(t)
	if figures["zk_watch_count"] != "0" || figures["zk_ephemerals_count"] != "0" {
		t.Errorf("%s watches and %s ephemeral nodes are left", figures["zk_watch_count"], figures["zk_ephemerals_count"])
	}
	// That of the rig, and of this test.
	if got := figures["zk_global_sessions"]; got != "2" {
		t.Errorf("%s sessions are left, want 2", got)
	}
}
