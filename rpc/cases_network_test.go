package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/rpc"
	"github.com/leatdata/leat/rpc/rpctest"
)

// The cases that need a network with faults.

type note struct {
	Seq int `rpc:"1"`
}

type question struct {
	Text string `rpc:"1"`
}

type answer struct {
	Text string `rpc:"1"`
}

func newEnv(t testing.TB, cfg rpc.Config) *rpc.Env {
	t.Helper()
	cfg.Messages = []rpc.MessageType{
		rpc.Define[note]("note"), rpc.Define[question]("question"), rpc.Define[answer]("answer"),
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	env, err := rpc.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Stop(context.Background()); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return env
}

func register(t testing.TB, env *rpc.Env, name string, ep rpc.Endpoint) rpc.Ref {
	t.Helper()
	ref, err := env.Register(name, ep)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func echo() rpc.Handler {
	return rpc.Reply(func(_ context.Context, q question) (answer, error) { return answer(q), nil })
}

func mustAsk(t testing.TB, ref rpc.Ref, text string) {
	t.Helper()
	got, err := rpc.Ask[answer](t.Context(), ref, question{text})
	if err != nil || got.Text != text {
		t.Fatalf("ask %s %q: got %q, %v", ref, text, got.Text, err)
	}
}

// events counts what an endpoint is told of the network.
type events struct {
	mu   sync.Mutex
	list []string
	errs []error
}

func (e *events) add(s string, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, s)
	if err != nil {
		e.errs = append(e.errs, err)
	}
}

func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.list, " ")
}

func (e *events) endpoint() rpc.Endpoint {
	return rpc.Endpoint{
		OnConnected:    func(_ context.Context, a rpc.Addr) error { e.add("up", nil); return nil },
		OnDisconnected: func(_ context.Context, a rpc.Addr) error { e.add("down", nil); return nil },
		OnNetworkError: func(_ context.Context, a rpc.Addr, err error) error { e.add("error", err); return nil },
	}
}

// never is an endpoint that takes an ask and does not answer before gate closes.
func never(gate <-chan struct{}) rpc.Endpoint {
	return rpc.Endpoint{Concurrency: 100, Handlers: []rpc.Handler{
		rpc.Reply(func(context.Context, question) (answer, error) { <-gate; return answer{}, nil }),
	}}
}

func TestCaseVanishedPeerIsFoundByKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		server := newEnv(t, rpc.Config{Listen: "s:0", Transport: network})
		client := newEnv(t, rpc.Config{Listen: "c:0", Transport: network, KeepAlive: 9 * time.Second})
		var seen, theirs events
		register(t, client, "watch", seen.endpoint())
		register(t, server, "watch", theirs.endpoint())
		gate := make(chan struct{})
		register(t, server, "never", never(gate))
		failures := make(chan error)
		for range 5 {
			go func() {
				_, err := rpc.Ask[answer](context.Background(), client.RefAt(server.Addr(), "never"), question{})
				failures <- err
			}()
		}
		synctest.Wait()
		began := time.Now()
		network.BlackHole(true)
		for range 5 {
			if err := <-failures; !errors.Is(err, rpc.ErrDisconnected) || !errors.Is(err, rpc.ErrSilent) || errors.Is(err, rpc.ErrTimeout) {
				t.Errorf("got %v", err)
			}
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("it took %s", took)
		}
		synctest.Wait()
		if seen.String() != "up error down" {
			t.Errorf("events: %s", &seen)
		}
		timer := time.NewTimer(time.Minute)
		<-timer.C
		if theirs.String() != "up error down" {
			t.Errorf("the peer's events: %s", &theirs)
		}
		close(gate)
		network.BlackHole(false)
		register(t, server, "echo", rpc.Endpoint{Handlers: []rpc.Handler{echo()}})
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "again")
	})
}

func TestCaseOneWaySenderLearnsOfItsPeersDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		server := newEnv(t, rpc.Config{Listen: "s:0", Transport: network})
		client := newEnv(t, rpc.Config{Transport: network})
		var seen events
		register(t, client, "watch", seen.endpoint())
		var got atomic.Int32
		register(t, server, "sink", rpc.Endpoint{Handlers: []rpc.Handler{
			rpc.Receive(func(context.Context, note) error { got.Add(1); return nil }),
		}})
		if err := rpc.Send(client.RefAt(server.Addr(), "sink"), note{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		network.Cut()
		synctest.Wait()
		if got.Load() != 1 || seen.String() != "up error down" {
			t.Fatalf("%d arrived, events: %s", got.Load(), &seen)
		}
	})
}

func TestCaseDisconnectedComesBehindTheLastMessage(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			network := rpctest.NewNetwork()
			var log events
			server := newEnv(t, rpc.Config{Listen: "s:0", Transport: network})
			ep := log.endpoint()
			ep.Handlers = []rpc.Handler{rpc.Receive(func(context.Context, note) error { log.add("note", nil); return nil })}
			register(t, server, "sink", ep)
			client := newEnv(t, rpc.Config{Transport: network})
			ref := client.RefAt(server.Addr(), "sink")
			const n = 500
			register(t, client, "last words", rpc.Endpoint{OnStop: func(context.Context) error {
				for i := range n {
					if err := rpc.Send(ref, note{i}); err != nil {
						t.Error(err)
					}
				}
				return nil
			}})
			if err := rpc.Send(ref, note{}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := client.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			want := "up" + strings.Repeat(" note", n+1) + " down"
			if log.String() != want {
				t.Fatalf("%d events, want %d; the end is %q", strings.Count(log.String(), " "), n+2,
					log.String()[max(0, len(log.String())-40):])
			}
		})
	}
}

func TestCaseSendWhileTheConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		server := newEnv(t, rpc.Config{Listen: "s:0", Transport: network})
		client := newEnv(t, rpc.Config{Transport: network, BackoffMin: time.Millisecond, BackoffMax: 10 * time.Millisecond})
		var mu sync.Mutex
		last := map[int]int{}
		type sender struct{ id, seq int }
		register(t, server, "sink", rpc.Endpoint{Handlers: []rpc.Handler{
			rpc.Receive(func(_ context.Context, n note) error {
				mu.Lock()
				defer mu.Unlock()
				s := sender{n.Seq >> 32, n.Seq & 0xffffffff}
				if s.seq <= last[s.id] {
					t.Errorf("sender %d: %d behind %d", s.id, s.seq, last[s.id])
				}
				last[s.id] = s.seq
				return nil
			}),
			echo(),
		}})
		ref := client.RefAt(server.Addr(), "sink")
		var senders sync.WaitGroup
		stop := make(chan struct{})
		for id := range 8 {
			senders.Go(func() {
				for seq := 1; ; seq++ {
					select {
					case <-stop:
						return
					default:
					}
					if err := rpc.Send(ref, note{id<<32 | seq}); err != nil && !errors.Is(err, rpc.ErrFull) {
						t.Errorf("send: %v", err)
						return
					}
					if seq%64 == 0 {
						pause := time.NewTimer(time.Millisecond)
						<-pause.C
					}
				}
			})
		}
		ticker := time.NewTicker(7 * time.Millisecond)
		for range 50 {
			<-ticker.C
			network.Cut()
		}
		close(stop)
		senders.Wait()
		ticker.Stop()
		synctest.Wait()
		mustAsk(t, ref, "up again")
		if len(last) != 8 {
			t.Fatalf("%d senders came through", len(last))
		}
	})
}

// brokenConn is a connection whose reads or writes end their goroutine.
type brokenConn struct {
	net.Conn
	onRead, onWrite func()
	reads, writes   atomic.Int32
}

func (c *brokenConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.onRead != nil && c.reads.Add(1) > 3 {
		c.onRead()
	}
	return n, err
}

func (c *brokenConn) Write(p []byte) (int, error) {
	if c.onWrite != nil && c.writes.Add(1) > 1 {
		c.onWrite()
	}
	return c.Conn.Write(p)
}

// breaking hands out such connections.
type breaking struct {
	rpc.Transport
	onRead, onWrite func()
}

func (b breaking) Dial(ctx context.Context, addr rpc.Addr) (net.Conn, error) {
	c, err := b.Transport.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &brokenConn{Conn: c, onRead: b.onRead, onWrite: b.onWrite}, nil
}

func TestCaseConnectionEndsWithItsGoroutines(t *testing.T) {
	die := func() { panic("on purpose") }
	for name, b := range map[string]breaking{"read": {onRead: die}, "write": {onWrite: die}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := rpc.NewMemory()
				b.Transport = memory
				server := newEnv(t, rpc.Config{Listen: "s:0", Transport: memory})
				client := newEnv(t, rpc.Config{Transport: b})
				gate := make(chan struct{})
				register(t, server, "never", never(gate))
				register(t, server, "echo", rpc.Endpoint{Handlers: []rpc.Handler{echo()}})
				failed := make(chan error)
				for range 3 {
					go func() {
						_, err := rpc.Ask[answer](context.Background(), client.RefAt(server.Addr(), "never"), question{})
						failed <- err
					}()
				}
				began := time.Now()
				for range 3 {
					if err := <-failed; !errors.Is(err, rpc.ErrDisconnected) {
						t.Errorf("got %v", err)
					}
				}
				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("it took %s", took)
				}
				close(gate)
			})
		})
	}
}

func TestCasePeerRestartsOnTheSameAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := rpctest.NewNetwork()
		lines := &lineCounter{}
		client := newEnv(t, rpc.Config{Transport: network, Logger: slog.New(slog.NewTextHandler(lines, nil))})
		start := func() *rpc.Env {
			server := newEnv(t, rpc.Config{Listen: "fixed:1", Transport: network})
			register(t, server, "echo", rpc.Endpoint{Handlers: []rpc.Handler{echo()}})
			return server
		}
		ref := client.RefAt("fixed:1", "echo")
		server := start()
		mustAsk(t, ref, "one")
		if err := server.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		dials := network.Dials()
		began := time.Now()
		for failures := 0; time.Since(began) < time.Minute; failures++ {
			if _, err := rpc.Ask[answer](t.Context(), ref, question{}); !errors.Is(err, rpc.ErrUnreachable) {
				t.Fatalf("got %v", err)
			}
		}
		if n := network.Dials() - dials; n < 10 || n > 60 {
			t.Errorf("%d attempts in a minute", n)
		}
		if n := lines.n.Load(); n > 5 {
			t.Errorf("%d lines logged", n)
		}
		start()
		mustAsk(t, ref, "two")
		if s := client.Stats(); s.Reconnects == 0 {
			t.Errorf("no reconnect is counted: %+v", s)
		}
	})
}

type lineCounter struct{ n atomic.Int32 }

func (l *lineCounter) Write(p []byte) (int, error) {
	l.n.Add(1)
	return len(p), nil
}

// Over real sockets, with the fault proxy in between.

func throughProxy(t *testing.T, change func(server, client *rpc.Config)) (server, client *rpc.Env, proxy *testenv.Proxy) {
	t.Helper()
	a, b := rpc.Config{Listen: "127.0.0.1:0"}, rpc.Config{}
	if change != nil {
		change(&a, &b)
	}
	server = newEnv(t, a)
	client = newEnv(t, b)
	register(t, server, "echo", rpc.Endpoint{Handlers: []rpc.Handler{echo()}})
	return server, client, testenv.NewProxy(t, string(server.Addr()))
}

func TestProxyCutsFailWhatWaitsAndTheNextMessageConnectsAnew(t *testing.T) {
	for name, style := range map[string]testenv.CutStyle{"reset": testenv.Reset, "finish": testenv.Finish} {
		t.Run(name, func(t *testing.T) {
			server, client, proxy := throughProxy(t, nil)
			proxy.Style(style)
			gate := make(chan struct{})
			asked := make(chan struct{}, 10)
			register(t, server, "never", rpc.Endpoint{Concurrency: 10, Handlers: []rpc.Handler{
				rpc.Reply(func(context.Context, question) (answer, error) { asked <- struct{}{}; <-gate; return answer{}, nil }),
			}})
			for round := range 5 {
				failed := make(chan error, 1)
				go func() {
					_, err := rpc.Ask[answer](context.Background(), client.RefAt(rpc.Addr(proxy.Addr()), "never"), question{})
					failed <- err
				}()
				<-asked
				proxy.CutAll()
				if err := <-failed; !errors.Is(err, rpc.ErrDisconnected) || errors.Is(err, rpc.ErrTimeout) {
					t.Fatalf("round %d: %v", round, err)
				}
			}
			close(gate)
			mustAsk(t, client.RefAt(rpc.Addr(proxy.Addr()), "echo"), "again")
		})
	}
}

func TestProxyBlackHoleIsFoundByKeepAlive(t *testing.T) {
	server, client, proxy := throughProxy(t, func(_, b *rpc.Config) { b.KeepAlive = 300 * time.Millisecond })
	gate := make(chan struct{})
	defer close(gate)
	asked := make(chan struct{}, 1)
	register(t, server, "never", rpc.Endpoint{Handlers: []rpc.Handler{
		rpc.Reply(func(context.Context, question) (answer, error) { asked <- struct{}{}; <-gate; return answer{}, nil }),
	}})
	failed := make(chan error, 1)
	go func() {
		_, err := rpc.Ask[answer](context.Background(), client.RefAt(rpc.Addr(proxy.Addr()), "never"), question{})
		failed <- err
	}()
	<-asked
	proxy.BlackHole(true)
	if err := <-failed; !errors.Is(err, rpc.ErrSilent) {
		t.Fatalf("got %v", err)
	}
	proxy.BlackHole(false)
	mustAsk(t, client.RefAt(rpc.Addr(proxy.Addr()), "echo"), "again")
}

func TestProxyDelayAndCutsWithinFramesLoseNoOrder(t *testing.T) {
	server, client, proxy := throughProxy(t, func(_, b *rpc.Config) { b.BackoffMin, b.BackoffMax = time.Millisecond, 5*time.Millisecond })
	proxy.Delay(time.Millisecond)
	last := 0
	register(t, server, "sink", rpc.Endpoint{Handlers: []rpc.Handler{
		rpc.Receive(func(_ context.Context, n note) error {
			if n.Seq <= last {
				t.Errorf("%d behind %d", n.Seq, last)
			}
			last = n.Seq
			return nil
		}),
		echo(),
	}})
	ref := client.RefAt(rpc.Addr(proxy.Addr()), "sink")
	seq := 0
	for cut := range 20 {
		done := proxy.CutAfter(testenv.ToServer, int64(500+cut*37))
		for open := true; open; {
			seq++
			if err := rpc.SendWait(t.Context(), ref, note{seq}); err != nil {
				t.Fatal(err)
			}
			select {
			case <-done:
				open = false
			default:
			}
		}
	}
	for {
		if _, err := rpc.Ask[answer](t.Context(), ref, question{}); err == nil {
			break
		}
	}
	if last == 0 || last > seq {
		t.Fatalf("last is %d of %d", last, seq)
	}
}
