package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOnStartIsFirstAndOnStopLast(t *testing.T) {
	for _, width := range []int{1, 8} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t, Config{})
			var order []string
			var mu sync.Mutex
			add := func(s string) { mu.Lock(); order = append(order, s); mu.Unlock() }
			gate := make(chan struct{})
			ref := register(t, env, "ordered", Endpoint{
				Concurrency: width,
				OnStart:     func(context.Context, Ref) error { <-gate; add("start"); return nil },
				OnStop:      func(context.Context) error { add("stop"); return nil },
				Handlers:    []Handler{Receive(func(context.Context, note) error { add("note"); return nil })},
			})
			for range 5 {
				if err := Send(ref, note{}); err != nil {
					t.Fatal(err)
				}
			}
			stopped := make(chan error)
			go func() { stopped <- env.Unregister(context.Background(), "ordered") }()
			synctest.Wait()
			wantErr(t, Send(ref, note{}), ErrNotFound)
			_, err := Ask[reply](t.Context(), ref, question{})
			wantErr(t, err, ErrNotFound)
			close(gate)
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(order, " "); got != "start note note note note note stop" {
				t.Fatal(got)
			}
			wantErr(t, Send(ref, note{}), ErrNotFound)
			// The same name may be registered anew, and the old ref leads there.
			register(t, env, "ordered", Endpoint{Handlers: []Handler{echo()}})
			mustAsk(t, ref, "new", "new")
		})
	}
}

func TestOnStartErrorEndsTheEndpointAndFailsItsAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		gate := make(chan struct{})
		stopped := false
		register(t, server, "bad", Endpoint{
			OnStart:  func(context.Context, Ref) error { <-gate; return errBroken },
			OnStop:   func(context.Context) error { stopped = true; return nil },
			OnError:  func(context.Context, error) error { return nil },
			Handlers: []Handler{echo()},
		})
		refs := []Ref{server.Ref("bad"), client.RefAt(server.Addr(), "bad")}
		failed := make(chan error, 2)
		for _, ref := range refs {
			go func() {
				_, err := Ask[reply](context.Background(), ref, question{})
				failed <- err
			}()
		}
		synctest.Wait()
		close(gate)
		for range refs {
			if err := <-failed; err == nil || !strings.Contains(err.Error(), errBroken.Error()) {
				t.Errorf("got %v", err)
			}
		}
		synctest.Wait()
		for _, ref := range refs {
			_, err := Ask[reply](t.Context(), ref, question{})
			wantErr(t, err, ErrNotFound)
		}
		if stopped {
			t.Error("OnStop ran for an endpoint that has not started")
		}
	})
}

// TestErrorsAreAlikeNearAndFar asks the same of a local and a remote endpoint.
func TestErrorsAreAlikeNearAndFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, func(a, b *Config) { a.MaxFrame = 1 << 20; b.MaxFrame = 1 << 20 })
		faults := make(chan error, 100)
		register(t, server, "all", Endpoint{
			OnError: func(_ context.Context, err error) error { faults <- err; return nil },
			Handlers: []Handler{
				Reply(func(_ context.Context, q question) (reply, error) {
					if q.Text == "panic" {
						panic("on purpose")
					}
					return reply{}, Coded("E42", errBroken)
				}),
				Receive(func(context.Context, letter) error { return errBroken }),
				ReplyLater(func(_ context.Context, n note, c Call[note]) { _ = c.Fail(errBroken) }),
			},
		})
		for _, ref := range []Ref{server.Ref("all"), client.RefAt(server.Addr(), "all")} {
			_, err := Ask[reply](t.Context(), ref, question{})
			if r, ok := errors.AsType[*RemoteError](err); !ok || r.Code != "E42" || r.Text != errBroken.Error() || r.Panicked {
				t.Errorf("%s: %v", ref, err)
			}
			_, err = Ask[reply](t.Context(), ref, question{"panic"})
			if r, ok := errors.AsType[*RemoteError](err); !ok || !r.Panicked {
				t.Errorf("%s: %v", ref, err)
			}
			_, err = Ask[note](t.Context(), ref, note{})
			if r, ok := errors.AsType[*RemoteError](err); !ok || r.Text != errBroken.Error() {
				t.Errorf("%s: %v", ref, err)
			}
			_, err = Ask[reply](t.Context(), ref, stray{})
			wantErr(t, err, ErrUnsupported)
			_, err = Ask[reply](t.Context(), ref, letter{})
			wantErr(t, err, ErrUnsupported)
			_, err = Ask[Bytes](t.Context(), ref, struct{}{})
			wantErr(t, err, ErrUndefined)
			synctest.Wait()
			for len(faults) > 0 {
				<-faults
			}
			if err := errors.Join(Send(ref, stray{}), Send(ref, letter{})); err != nil {
				t.Fatal(err)
			}
			wantErr(t, <-faults, ErrUnsupported)
			if err := <-faults; !strings.Contains(err.Error(), errBroken.Error()) {
				t.Errorf("%s: fault %v", ref, err)
			}
			missing := ref.target.env.RefAt(ref.Addr(), "nobody")
			_, err = Ask[reply](t.Context(), missing, question{})
			wantErr(t, err, ErrNotFound)
			if !strings.Contains(err.Error(), "could not find endpoint nobody") {
				t.Errorf("%s: %v", ref, err)
			}
		}
		wantErr(t, Send(client.RefAt(server.Addr(), "all"), Bytes(make([]byte, 2<<20))), ErrTooLarge)
		wantErr(t, Send(Ref{}, note{}), errNoRef)
		_, err := Ask[reply](t.Context(), client.RefAt("nowhere:1", "all"), question{})
		wantErr(t, err, ErrUnreachable)
		stopEnv(t, server)
		_, err = Ask[reply](t.Context(), server.Ref("all"), question{})
		wantErr(t, err, ErrStopped)
		stopEnv(t, client)
		_, err = Ask[reply](t.Context(), client.RefAt(server.Addr(), "all"), question{})
		wantErr(t, err, ErrStopped)
	})
}

// TestStoppingPeerSaysSo asks an Env that is in the middle of its Stop.
func TestStoppingPeerSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		gate := make(chan struct{})
		ref := client.RefAt(register(t, server, "slow", Endpoint{
			Handlers: []Handler{echo()},
			OnStop:   func(context.Context) error { <-gate; return nil },
		}).Addr(), "slow")
		mustAsk(t, ref, "x", "x")
		server.Shutdown()
		synctest.Wait()
		_, err := Ask[reply](t.Context(), ref, question{})
		wantErr(t, err, ErrStopped)
		close(gate)
		<-server.Done()
	})
}

func TestUnknownTypeHarmsNothingButItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, func(a, _ *Config) { a.Messages = messages()[:3] })
		faults := make(chan error, 10)
		register(t, server, "old", Endpoint{
			Handlers: []Handler{echo()},
			OnError:  func(_ context.Context, err error) error { faults <- err; return nil },
		})
		ref := client.RefAt(server.Addr(), "old")
		if err := Send(ref, stray{1}); err != nil {
			t.Fatal(err)
		}
		err := <-faults
		wantErr(t, err, ErrUnsupported)
		if !strings.Contains(err.Error(), "stray") {
			t.Errorf("the fault names no type: %v", err)
		}
		_, err = Ask[reply](t.Context(), ref, stray{2})
		wantErr(t, err, ErrUnsupported)
		mustAsk(t, ref, "fine", "fine")
	})
}

func TestLaterRepliesOnceOrSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		faults := make(chan error, 10)
		calls := make(chan Call[reply], 1)
		register(t, server, "later", Endpoint{
			OnError: func(_ context.Context, err error) error { faults <- err; return nil },
			Handlers: []Handler{
				ReplyLater(func(_ context.Context, q question, c Call[reply]) { calls <- c }),
			},
		})
		for _, ref := range []Ref{server.Ref("later"), client.RefAt(server.Addr(), "later")} {
			answers := make(chan string, 2)
			for range 2 {
				go func() {
					r, err := Ask[reply](context.Background(), ref, question{"q"})
					answers <- fmt.Sprint(r.Text, err)
				}()
			}
			first, second := <-calls, <-calls
			// A sequential endpoint is free meanwhile, and answers in any order.
			if err := errors.Join(second.Reply(reply{Text: "b"}), first.Reply(reply{Text: "a"})); err != nil {
				t.Fatal(err)
			}
			got := <-answers + <-answers
			if got != "a<nil>b<nil>" && got != "b<nil>a<nil>" {
				t.Fatal(got)
			}
			wantErr(t, first.Reply(reply{}), ErrAnswered)
			wantErr(t, second.Fail(errBroken), ErrAnswered)
			wantErr(t, <-faults, ErrAnswered)
			wantErr(t, <-faults, ErrAnswered)
		}
	})
}

func TestCallThatIsNeverAnsweredIsSeen(t *testing.T) {
	server, client := overTCP(t, nil)
	faults := make(chan error, 10)
	register(t, server, "forgetful", Endpoint{
		OnError:  func(_ context.Context, err error) error { faults <- err; return nil },
		Handlers: []Handler{ReplyLater(func(context.Context, question, Call[reply]) {})},
	})
	for _, ref := range []Ref{server.Ref("forgetful"), client.RefAt(server.Addr(), "forgetful")} {
		failed := make(chan error, 1)
		go func() {
			_, err := Ask[reply](context.Background(), ref, question{})
			failed <- err
		}()
		var err error
		eventually(t, "the collector finds the call", func() bool {
			runtime.GC()
			select {
			case err = <-failed:
				return true
			default:
				return false
			}
		})
		wantErr(t, err, ErrNoReply)
		wantErr(t, receive(t, faults), ErrNoReply)
	}
}

func TestCallsLeftAtStopAreFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{})
		var kept []Call[reply]
		ref := register(t, env, "hoarder", Endpoint{Handlers: []Handler{
			ReplyLater(func(_ context.Context, _ question, c Call[reply]) { kept = append(kept, c) }),
		}})
		failed := make(chan error, 1)
		go func() {
			_, err := Ask[reply](context.Background(), ref, question{})
			failed <- err
		}()
		synctest.Wait()
		if err := env.Unregister(context.Background(), "hoarder"); err != nil {
			t.Fatal(err)
		}
		wantErr(t, <-failed, ErrNoReply)
		wantErr(t, kept[0].Reply(reply{}), ErrAnswered)
	})
}

func TestStopIsBoundedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{})
		gate := make(chan struct{})
		heeded := make(chan struct{})
		stuck := register(t, env, "stuck", Endpoint{Handlers: []Handler{
			Receive(func(context.Context, note) error { <-gate; return nil }),
		}})
		polite := register(t, env, "polite", Endpoint{Handlers: []Handler{
			Receive(func(ctx context.Context, _ note) error { <-ctx.Done(); close(heeded); return ctx.Err() }),
		}})
		if err := errors.Join(Send(stuck, note{}), Send(polite, note{})); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := env.Stop(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if !strings.Contains(err.Error(), "stuck") || strings.Contains(err.Error(), "polite") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %s", took)
		}
		<-heeded
		close(gate)
		synctest.Wait()
		env.stopErr = nil // The rig's own stop finds nothing left.
	})
}

func TestUnsentAskThatTimedOutIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		network := &gated{Memory: NewMemory(), gate: gate}
		server := newEnv(t, Config{Listen: "s:0", Transport: network})
		client := newEnv(t, Config{Transport: network})
		var got []string
		register(t, server, "echo", Endpoint{Handlers: []Handler{
			Reply(func(_ context.Context, q question) (reply, error) {
				got = append(got, q.Text)
				return reply{Text: q.Text}, nil
			}),
		}})
		ref := client.RefAt(server.Addr(), "echo")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Ask[reply](ctx, ref, question{"too late"})
		wantErr(t, err, ErrTimeout)
		close(gate)
		mustAsk(t, ref, "in time", "in time")
		if strings.Join(got, ",") != "in time" {
			t.Fatalf("arrived: %v", got)
		}
	})
}

// gated connects when its gate is open.
type gated struct {
	*Memory
	gate chan struct{}
}

func (g *gated) Dial(ctx context.Context, addr Addr) (conn net.Conn, err error) {
	select {
	case <-g.gate:
		return g.Memory.Dial(ctx, addr)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestMessagesAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		seen := make(chan []byte, 1)
		register(t, server, "sink", Endpoint{Handlers: []Handler{
			Receive(func(_ context.Context, l letter) error { seen <- l.Body; return nil }),
		}})
		for _, ref := range []Ref{server.Ref("sink"), client.RefAt(server.Addr(), "sink")} {
			body := []byte("before")
			if err := Send(ref, letter{Body: body}); err != nil {
				t.Fatal(err)
			}
			copy(body, "after!")
			if got := <-seen; !bytes.Equal(got, []byte("before")) {
				t.Fatalf("%s: got %q", ref, got)
			}
		}
	})
}

func TestRefsTravelInMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		server := newEnv(t, Config{Listen: "s:0", Transport: network})
		// One peer listens, the other can be reached only over its own connection.
		for _, listen := range []string{"c:0", ""} {
			client := newEnv(t, Config{Listen: listen, Transport: network})
			got := make(chan Addr, 1)
			own := register(t, client, "me", Endpoint{Handlers: []Handler{
				Receive(func(ctx context.Context, l letter) error {
					from, _ := Sender(ctx)
					got <- from.Addr
					return nil
				}),
			}})
			name := "post" + listen
			register(t, server, name, Endpoint{Handlers: []Handler{
				Receive(func(ctx context.Context, l letter) error {
					if from, ok := Sender(ctx); !ok || from.Addr != l.To.Addr() || from.Local {
						t.Errorf("sender %v, ref %v", from, l.To)
					}
					return Send(l.To, letter{Body: l.Body})
				}),
			}})
			if err := Send(client.RefAt(server.Addr(), name), letter{To: own, Body: []byte("x")}); err != nil {
				t.Fatal(err)
			}
			if from := <-got; from != server.Addr() {
				t.Errorf("answered by %s", from)
			}
		}
	})
}

func TestAskDeadlineReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		ended := make(chan error, 1)
		register(t, server, "waits", Endpoint{Handlers: []Handler{
			Reply(func(ctx context.Context, _ question) (reply, error) {
				<-ctx.Done()
				ended <- ctx.Err()
				return reply{}, ctx.Err()
			}),
		}})
		for _, ref := range []Ref{server.Ref("waits"), client.RefAt(server.Addr(), "waits")} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			began := time.Now()
			_, err := Ask[reply](ctx, ref, question{})
			cancel()
			wantErr(t, err, ErrTimeout)
			wantErr(t, <-ended, context.DeadlineExceeded)
			if took := time.Since(began); took > 2*time.Second {
				t.Errorf("it took %s", took)
			}
		}
	})
}

// TestManySendersKeepTheirOrder is for the race detector: thousands of senders,
// near and far, to sequential endpoints, while others come and go.
func TestManySendersKeepTheirOrder(t *testing.T) {
	server, client := overTCP(t, nil)
	const senders, each = 2000, 20
	var handled atomic.Int64
	last := make([]int, 2*senders)
	register(t, server, "sink", Endpoint{Handlers: []Handler{
		Receive(func(_ context.Context, n note) error {
			if n.Seq != last[n.From]+1 {
				t.Errorf("sender %d: %d behind %d", n.From, n.Seq, last[n.From])
			}
			last[n.From] = n.Seq
			handled.Add(1)
			return nil
		}),
	}})
	var all, churn sync.WaitGroup
	stop := make(chan struct{})
	for g := range 4 {
		churn.Go(func() {
			name := fmt.Sprint("churn", g)
			for {
				select {
				case <-stop:
					return
				default:
				}
				ref, err := server.Register(name, Endpoint{Handlers: []Handler{echo()}})
				if err != nil {
					t.Error(err)
					return
				}
				for _, r := range []Ref{ref, client.RefAt(server.Addr(), name)} {
					if _, err := Ask[reply](context.Background(), r, question{"x"}); err != nil {
						t.Error(err)
					}
				}
				if err := server.Unregister(context.Background(), name); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for s := range 2 * senders {
		ref := client.RefAt(server.Addr(), "sink")
		if s%2 == 0 {
			ref = server.Ref("sink")
		}
		all.Go(func() {
			for i := range each {
				if err := SendWait(context.Background(), ref, note{From: s, Seq: i + 1}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	eventually(t, "all are handled", func() bool { return handled.Load() == 2*senders*each })
	close(stop)
	churn.Wait()
}

// TestStopWhileOthersSendAskAndConnect neither hangs nor panics, and leaves no
// goroutine behind.
func TestStopWhileOthersSendAskAndConnect(t *testing.T) {
	for range 10 {
		server, client := overTCP(t, nil)
		register(t, server, "echo", Endpoint{Concurrency: 3, Handlers: []Handler{echo(), Receive(func(context.Context, note) error { return nil })}})
		register(t, client, "echo", Endpoint{Handlers: []Handler{echo(), Receive(func(context.Context, note) error { return nil })}})
		var all sync.WaitGroup
		started := make(chan struct{}, 100)
		for g := range 16 {
			all.Go(func() {
				started <- struct{}{}
				envs := []*Env{server, client}
				from, to := envs[g%2], envs[g/2%2]
				for {
					ref := from.RefAt(to.Addr(), "echo")
					_, err := Ask[reply](context.Background(), ref, question{"x"})
					if again := Send(ref, note{}); err == nil {
						err = again
					}
					if errors.Is(err, ErrStopped) {
						return
					}
					if errors.Is(err, ErrTimeout) {
						t.Errorf("got %v", err)
					}
				}
			})
		}
		for range 16 {
			<-started
		}
		for range rand.N(2000) {
			runtime.Gosched()
		}
		var stops sync.WaitGroup
		for _, env := range []*Env{server, client, server} {
			stops.Go(func() { stopEnv(t, env) })
		}
		stops.Wait()
		all.Wait()
	}
}

func TestHooksAndStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asks, late, dropped atomic.Int64
		server, client := pair(t, func(_, b *Config) {
			b.Hooks = Hooks{
				AskDone: func(ref Ref, took time.Duration, err error) {
					if ref.Name() == "slow" && took != time.Second {
						t.Errorf("it took %s", took)
					}
					asks.Add(1)
				},
				LateReply: func(Addr) { late.Add(1) },
				Dropped:   func(_ string, n int, err error) { dropped.Add(int64(n)) },
			}
		})
		calls := make(chan Call[reply], 1)
		register(t, server, "slow", Endpoint{Handlers: []Handler{
			ReplyLater(func(_ context.Context, _ question, c Call[reply]) { calls <- c }),
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Ask[reply](ctx, client.RefAt(server.Addr(), "slow"), question{})
		wantErr(t, err, ErrTimeout)
		if err := (<-calls).Reply(reply{}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		for range 3 {
			if err := Send(client.RefAt("nowhere:1", "x"), note{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if asks.Load() != 1 || late.Load() != 1 || dropped.Load() != 3 {
			t.Fatalf("%d asks, %d late, %d dropped", asks.Load(), late.Load(), dropped.Load())
		}
		if s := client.Stats(); s.LateReplies != 1 || s.Dropped != 3 {
			t.Fatalf("%+v", s)
		}
	})
}

func TestInboxIsScheduledOncePerBusyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{Dispatchers: 1})
		gate := make(chan struct{})
		ref := register(t, env, "busy", Endpoint{Handlers: []Handler{
			Receive(func(context.Context, note) error { <-gate; return nil }),
		}})
		synctest.Wait()
		before := runtime.NumGoroutine()
		for range 1000 {
			if err := Send(ref, note{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n > 1 {
			t.Errorf("%d goroutines for one sequential endpoint", n)
		}
		close(gate)
	})
}

func TestMoreNamesThanAConnectionNumbers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		for i := range 3 {
			register(t, server, fmt.Sprint("e", i), Endpoint{Handlers: []Handler{echo()}})
		}
		keep := client.RefAt(server.Addr(), "e0")
		for i := range 2*maxTargets + 100 {
			name := fmt.Sprint("e", i)
			_, err := Ask[reply](t.Context(), client.RefAt(server.Addr(), name), question{"x"})
			if i < 3 && err != nil || i >= 3 && !errors.Is(err, ErrNotFound) {
				t.Fatalf("%s: %v", name, err)
			}
		}
		mustAsk(t, keep, "x", "x")
	})
}

func TestSenderLearnsOfMessagesWithoutAnEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		server, client := pair(t, func(_, b *Config) {
			b.Hooks.Dropped = func(_ string, n int, err error) {
				if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "nobody") {
					t.Errorf("dropped: %v", err)
				}
				told += n
			}
		})
		for range 3 {
			if err := Send(client.RefAt(server.Addr(), "nobody"), note{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if s := server.Stats(); told != 3 || s.Dropped != 3 {
			t.Fatalf("%+v", s)
		}
	})
}
