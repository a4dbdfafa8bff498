package rpc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Each test here is a fault that message-passing layers have had, in the order
// of the project's list of cases.

func TestCaseSendsBeforeTheConnectionKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		var got []int
		register(t, server, "sink", Endpoint{Handlers: []Handler{
			Receive(func(_ context.Context, n note) error { got = append(got, n.Seq); return nil }),
			echo(),
		}})
		ref := client.RefAt(server.Addr(), "sink")
		for i := range 100 {
			if err := Send(ref, note{Seq: i}); err != nil {
				t.Fatal(err)
			}
		}
		mustAsk(t, ref, "all", "all")
		for i := range 100 {
			if i >= len(got) || got[i] != i {
				t.Fatalf("arrived: %v", got)
			}
		}
	})
}

func TestCaseConcurrentStopWaitsForTheLastWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{})
		var active, stops, after atomic.Int32
		gate := make(chan struct{})
		ref := register(t, env, "wide", Endpoint{
			Concurrency: 4,
			Handlers: []Handler{Receive(func(context.Context, note) error {
				active.Add(1)
				<-gate
				if stops.Load() > 0 {
					after.Add(1)
				}
				active.Add(-1)
				return nil
			})},
			OnStop: func(context.Context) error {
				if active.Load() != 0 {
					t.Error("OnStop runs beside a handler")
				}
				stops.Add(1)
				return nil
			},
		})
		for i := range 20 {
			if err := Send(ref, note{Seq: i}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := active.Load(); n != 4 {
			t.Fatalf("%d handlers at once, want 4", n)
		}
		stopped := make(chan error)
		go func() { stopped <- env.Unregister(context.Background(), "wide") }()
		synctest.Wait()
		wantErr(t, Send(ref, note{}), ErrNotFound)
		close(gate)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		if stops.Load() != 1 || after.Load() != 0 {
			t.Fatalf("%d stops, %d messages after", stops.Load(), after.Load())
		}
	})
}

func TestCaseHandlerThatDiesLeavesTheEndpointAtWork(t *testing.T) {
	for name, die := range map[string]func(){
		"panic": func() { panic("on purpose") }, "goexit": runtime.Goexit,
	} {
		for _, width := range []int{1, 3} {
			t.Run(fmt.Sprint(name, width), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					env := newEnv(t, Config{})
					faults := make(chan error, 10)
					ref := register(t, env, "frail", Endpoint{
						Concurrency: width,
						Handlers: []Handler{echo(), Receive(func(_ context.Context, n note) error {
							if n.Seq%2 == 0 {
								die()
							}
							return nil
						})},
						OnError: func(_ context.Context, err error) error { faults <- err; die(); return nil },
					})
					for i := range 6 {
						if err := Send(ref, note{Seq: i}); err != nil {
							t.Fatal(err)
						}
					}
					mustAsk(t, ref, "still here", "still here")
					synctest.Wait()
					if len(faults) != 3 {
						t.Fatalf("%d faults, want 3", len(faults))
					}
					for range 3 {
						err := <-faults
						if h, ok := errors.AsType[*HandlerError](err); !ok || h.Message != "note" || h.Panicked != (name == "panic") {
							t.Errorf("fault: %v", err)
						}
					}
				})
			})
		}
	}
}

func TestCaseAskWhoseHandlerDiesFailsAtOnce(t *testing.T) {
	for _, die := range []func(){func() { panic("on purpose") }, runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			server, client := pair(t, func(a, _ *Config) { a.Dispatchers = 1 })
			register(t, server, "frail", Endpoint{Handlers: []Handler{
				Reply(func(context.Context, question) (reply, error) { die(); return reply{}, nil }),
			}})
			register(t, server, "other", Endpoint{Handlers: []Handler{echo()}})
			for _, ref := range []Ref{server.Ref("frail"), client.RefAt(server.Addr(), "frail")} {
				began := time.Now()
				_, err := Ask[reply](t.Context(), ref, question{"x"})
				if r, ok := errors.AsType[*RemoteError](err); !ok || !r.Panicked || r.Endpoint != "frail" {
					t.Fatalf("got %v", err)
				}
				if took := time.Since(began); took > time.Second {
					t.Fatalf("it took %s", took)
				}
			}
			mustAsk(t, client.RefAt(server.Addr(), "other"), "x", "x")
		})
	}
}

func TestCaseBlockingAskWithinOneLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{Dispatchers: 1})
		b := register(t, env, "b", Endpoint{Handlers: []Handler{echo()}})
		a := register(t, env, "a", Endpoint{Handlers: []Handler{
			Reply(func(ctx context.Context, q question) (reply, error) { return Ask[reply](ctx, b, q) }),
		}})
		mustAsk(t, a, "through", "through")
	})
}

func TestCaseStopFromAHandler(t *testing.T) {
	for name, stop := range map[string]func(ctx context.Context, env *Env) error{
		"stop":    func(ctx context.Context, env *Env) error { return env.Stop(ctx) },
		"derived": func(ctx context.Context, env *Env) error { return env.Stop(context.WithoutCancel(ctx)) },
		"begin":   func(_ context.Context, env *Env) error { env.Shutdown(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t, Config{})
				stopped := false
				ref := register(t, env, "exit", Endpoint{
					Handlers: []Handler{Receive(func(ctx context.Context, _ note) error { return stop(ctx, env) })},
					OnStop:   func(context.Context) error { stopped = true; return nil },
				})
				began := time.Now()
				if err := Send(ref, note{}); err != nil {
					t.Fatal(err)
				}
				<-env.Done()
				if !stopped || time.Since(began) > time.Second {
					t.Fatalf("stopped: %v, after %s", stopped, time.Since(began))
				}
			})
		})
	}
}

func TestCaseSelfIsValidInOnStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, Config{})
		own := env.Ref("self")
		seen := make(chan int, 1)
		got := register(t, env, "self", Endpoint{
			OnStart: func(ctx context.Context, self Ref) error {
				if again, ok := Self(ctx); self != own || !ok || again != own {
					t.Errorf("self is %v, was to be %v", self, own)
				}
				return Send(self, note{Seq: 7})
			},
			Handlers: []Handler{Receive(func(_ context.Context, n note) error { seen <- n.Seq; return nil })},
		})
		if got != own || <-seen != 7 {
			t.Fatal("the ref made before is another")
		}
	})
}

func TestCaseShutdownRunsOnStopAndTellsOfNoDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		var stops, gone, up int
		register(t, client, "watch", Endpoint{
			OnConnected:    func(context.Context, Addr) error { up++; return nil },
			OnDisconnected: func(context.Context, Addr) error { gone++; return nil },
			OnStop:         func(context.Context) error { stops++; return nil },
		})
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		stopEnv(t, client)
		if stops != 1 || gone != 0 || up != 1 {
			t.Fatalf("%d stops, %d connects, %d disconnects", stops, up, gone)
		}
	})
}

func TestCaseStopRacesPost(t *testing.T) {
	for round := range 50 {
		env := newEnv(t, Config{})
		var handled atomic.Int64
		ref := register(t, env, "sink", Endpoint{Handlers: []Handler{
			Receive(func(context.Context, note) error { handled.Add(1); return nil }),
		}})
		unregister := round%2 == 0
		want, other := ErrStopped, ErrNotFound
		if unregister {
			want, other = other, want
		}
		var accepted atomic.Int64
		var senders sync.WaitGroup
		started := make(chan struct{}, 4)
		for range 4 {
			senders.Go(func() {
				started <- struct{}{}
				for {
					switch err := Send(ref, note{}); {
					case err == nil:
						accepted.Add(1)
					case errors.Is(err, ErrFull):
						runtime.Gosched()
					case !errors.Is(err, want) || errors.Is(err, other):
						t.Errorf("got %v, want %v", err, want)
						return
					default:
						return
					}
				}
			})
		}
		<-started
		if unregister {
			if err := env.Unregister(context.Background(), "sink"); err != nil {
				t.Fatal(err)
			}
		} else {
			stopEnv(t, env)
		}
		senders.Wait()
		if handled.Load() != accepted.Load() {
			t.Fatalf("%d accepted, %d handled", accepted.Load(), handled.Load())
		}
		stopEnv(t, env)
	}
}

func TestCaseTenThousandAsksTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 10_000
		server, client := pair(t, func(a, b *Config) { a.Window, b.Window = 64<<20, 64<<20 })
		var calls []Call[reply]
		register(t, server, "mute", Endpoint{Handlers: []Handler{
			ReplyLater(func(_ context.Context, _ question, c Call[reply]) { calls = append(calls, c) }),
		}})
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		ref := client.RefAt(server.Addr(), "mute")
		var asks sync.WaitGroup
		var timeouts atomic.Int64
		for range n {
			asks.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := Ask[reply](ctx, ref, question{"x"}); errors.Is(err, ErrTimeout) && errors.Is(err, context.DeadlineExceeded) {
					timeouts.Add(1)
				}
			})
		}
		asks.Wait()
		synctest.Wait()
		if s := client.Stats(); timeouts.Load() != n || len(s.Outboxes) != 1 || s.Outboxes[0].Asks != 0 || !s.Outboxes[0].Connected {
			t.Fatalf("%d timeouts, %+v", timeouts.Load(), s)
		}
		late := len(calls)
		for _, c := range calls {
			if err := c.Reply(reply{Text: "late"}); err != nil {
				t.Fatal(err)
			}
		}
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		synctest.Wait()
		if s := client.Stats(); s.LateReplies != uint64(late) || late != n {
			t.Fatalf("%d late replies of %d", s.LateReplies, late)
		}
	})
}

func TestCaseLongRequestKeepsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		register(t, server, "slow", Endpoint{Handlers: []Handler{
			Reply(func(ctx context.Context, q question) (reply, error) {
				timer := time.NewTimer(time.Hour)
				defer timer.Stop()
				<-timer.C
				return reply{Text: q.Text}, nil
			}),
		}})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		got, err := Ask[reply](ctx, client.RefAt(server.Addr(), "slow"), question{"x"})
		if err != nil || got.Text != "x" {
			t.Fatal(got, err)
		}
	})
}

func TestCaseTimedOutAskIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		var handled atomic.Int32
		register(t, server, "slow", Endpoint{Handlers: []Handler{
			ReplyLater(func(context.Context, question, Call[reply]) { handled.Add(1) }),
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := Ask[reply](ctx, client.RefAt(server.Addr(), "slow"), question{"x"})
		wantErr(t, err, ErrTimeout)
		timer := time.NewTimer(time.Hour)
		<-timer.C
		if handled.Load() != 1 {
			t.Fatalf("handled %d times", handled.Load())
		}
	})
}

func TestCaseCancelRacesTheReply(t *testing.T) {
	server, client := overTCP(t, nil)
	register(t, server, "echo", Endpoint{Concurrency: 8, Handlers: []Handler{echo()}})
	for _, ref := range []Ref{client.RefAt(server.Addr(), "echo"), server.Ref("echo")} {
		var asks sync.WaitGroup
		var answered, cancelled atomic.Int64
		for g := range 8 {
			asks.Go(func() {
				for i := range 300 {
					ctx, cancel := context.WithCancel(t.Context())
					go func() {
						for range (i * 7) % 40 {
							runtime.Gosched()
						}
						cancel()
					}()
					text := fmt.Sprint(g, "-", i)
					switch got, err := Ask[reply](ctx, ref, question{text}); {
					case err == nil && got.Text == text:
						answered.Add(1)
					case errors.Is(err, context.Canceled):
						cancelled.Add(1)
					default:
						t.Errorf("got %q, %v", got.Text, err)
					}
					cancel()
				}
			})
		}
		asks.Wait()
		if answered.Load()+cancelled.Load() != 8*300 {
			t.Fatalf("%d answered, %d cancelled", answered.Load(), cancelled.Load())
		}
		for _, o := range client.Stats().Outboxes {
			if o.Asks != 0 {
				t.Fatalf("%d asks left", o.Asks)
			}
		}
	}
}

func TestCaseBlockedHandlersLeaveOthersAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, func(a, _ *Config) { a.Dispatchers = 1 })
		gate := make(chan struct{})
		for i := range 50 {
			name := fmt.Sprint("stuck", i)
			register(t, server, name, Endpoint{Handlers: []Handler{
				Receive(func(context.Context, note) error { <-gate; return nil }),
			}})
			for _, ref := range []Ref{server.Ref(name), client.RefAt(server.Addr(), name)} {
				if err := Send(ref, note{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		synctest.Wait()
		began := time.Now()
		mustAsk(t, server.Ref("echo"), "x", "x")
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		if time.Since(began) != 0 {
			t.Fatalf("it took %s", time.Since(began))
		}
		close(gate)
	})
}

func TestCaseFastProducerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, func(a, b *Config) { a.Window = 64 << 10; b.OutboxBytes = 256 << 10 })
		gate := make(chan struct{})
		handled := 0
		register(t, server, "slow", Endpoint{MaxMessages: 100, MaxBytes: 1 << 20, Handlers: []Handler{
			Receive(func(context.Context, Bytes) error { <-gate; handled++; return nil }),
		}})
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		sent := 0
		for _, ref := range []Ref{server.Ref("slow"), client.RefAt(server.Addr(), "slow")} {
			var err error
			for err == nil {
				if err = Send(ref, make(Bytes, 1000)); err == nil {
					sent++
				}
			}
			wantErr(t, err, ErrFull)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err = SendWait(ctx, ref, make(Bytes, 1000))
			cancel()
			wantErr(t, err, ErrFull)
			wantErr(t, err, context.DeadlineExceeded)
		}
		synctest.Wait()
		if s := server.Stats(); sent > 200 || s.Inboxes[1].Bytes > 1<<18 {
			t.Fatalf("%d sent, %+v", sent, s.Inboxes)
		}
		// A full endpoint takes nothing from another on the same connection.
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		waiting := make(chan error, 2)
		for _, ref := range []Ref{server.Ref("slow"), client.RefAt(server.Addr(), "slow")} {
			go func() { waiting <- SendWait(context.Background(), ref, make(Bytes, 1000)) }()
		}
		synctest.Wait()
		close(gate)
		for range 2 {
			if err := <-waiting; err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if handled != sent+2 {
			t.Fatalf("%d sent, %d handled", sent+2, handled)
		}
	})
}

func TestCaseReplyBeforeTheAskerWaits(t *testing.T) {
	env := newEnv(t, Config{})
	ref := register(t, env, "echo", Endpoint{Handlers: []Handler{echo()}})
	c := env.newCall("echo", true)
	if !c.reply(c.generation(), &parcel{}) {
		t.Fatal("the reply was not taken")
	}
	<-c.done
	for range 2000 {
		mustAsk(t, ref, "x", "x")
	}
}

func TestAskWithoutADeadlineEndsByTheConfig(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, func(a, b *Config) { a.AskTimeout, b.AskTimeout = 8*time.Second, 8*time.Second })
		register(t, server, "mute", Endpoint{Handlers: []Handler{
			ReplyLater(func(_ context.Context, q question, c Call[reply]) {
				if q.Text != "" {
					_ = c.Reply(reply{Text: q.Text})
				}
			}),
		}})
		for _, ref := range []Ref{server.Ref("mute"), client.RefAt(server.Addr(), "mute")} {
			for range 3 {
				mustAsk(t, ref, "x", "x")
				began := time.Now()
				_, err := Ask[reply](context.Background(), ref, question{})
				wantErr(t, err, ErrTimeout)
				if took := time.Since(began); took < 8*time.Second || took > 10*time.Second {
					t.Errorf("it took %s", took)
				}
			}
		}
	})
}
