package zk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/leatdata/leat/internal/testenv"
)

// patience bounds every wait for something that has to happen, on a busy machine
// too.
const patience = 2 * time.Minute

// longTimeout is a session timeout that no test exceeds by chance, and
// shortTimeout one that tests wait for.
const (
	longTimeout  = 30 * time.Second
	shortTimeout = 2 * time.Second
)

// rig is an ensemble of three behind proxies, and a root of the test's own.
type rig struct {
	ensemble *testenv.ZooKeeperEnsemble
	proxies  []*testenv.Proxy
	root     string
}

// newRig is a rig on the ensemble that all tests share.
func newRig(t *testing.T) *rig {
	t.Helper()
	t.Parallel()
	return rigOn(t, testenv.ZooKeeper(t))
}

func rigOn(t *testing.T, e *testenv.ZooKeeperEnsemble) *rig {
	t.Helper()
	r := &rig{ensemble: e, root: e.Root()}
	for _, addr := range e.Addrs() {
		r.proxies = append(r.proxies, testenv.NewZooKeeperProxy(t, addr))
	}
	s := r.open(t, r.direct(longTimeout))
	if err := s.EnsurePath(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	return r
}

// direct is a configuration of a client that no proxy stands before.
func (r *rig) direct(timeout time.Duration) Config {
	return Config{Servers: r.ensemble.Addrs(), SessionTimeout: timeout, Chroot: r.root, ConnectTimeout: 10 * time.Second}
}

// proxied is one of a client behind the proxies.
func (r *rig) proxied(timeout time.Duration) Config {
	cfg := r.direct(timeout)
	cfg.Servers = nil
	for _, p := range r.proxies {
		cfg.Servers = append(cfg.Servers, p.Addr())
	}
	return cfg
}

// open opens a session that ends with the test.
func (r *rig) open(t *testing.T, cfg Config) *Session {
	t.Helper()
	s, err := Open(bounded(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// client starts a client that ends with the test.
func (r *rig) client(t *testing.T, cfg Config) *Client {
	t.Helper()
	c := startClient(t, cfg)
	t.Cleanup(c.Stop)
	return c
}

// lasting does f in the client's session, and again in the next one when that has
// ended meanwhile: on a busy machine a short one is not always renewed in time. It
// returns the session in which f was done.
func lasting(t *testing.T, c *Client, f func(*Session) error) *Session {
	t.Helper()
	for {
		s := mustSession(t, c)
		err := f(s)
		if err == nil {
			return s
		}
		if !errors.Is(err, ErrSessionEnded) {
			t.Fatal(err)
		}
	}
}

// all does the same to each proxy.
func (r *rig) all(f func(*testenv.Proxy)) {
	for _, p := range r.proxies {
		f(p)
	}
}

// only is a configuration of a client that knows one server, behind its proxy.
func (r *rig) only(server int, timeout time.Duration) Config {
	cfg := r.direct(timeout)
	cfg.Servers = []string{r.proxies[server].Addr()}
	return cfg
}

// bounded is the test's context with an end.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("the test's patience is at its end"))
	t.Cleanup(cancel)
	return ctx
}

// happens waits for a channel.
func happens[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case v := <-c:
		return v
	case <-timeout.C:
		t.Fatalf("%s did not happen within %s", what, patience)
		panic("unreachable")
	}
}

// until waits for a condition that nothing tells of.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-timeout.C:
			t.Fatalf("%s did not happen within %s", what, patience)
		}
	}
}
