package zk

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const bubbleTimeout = 12 * time.Second

// bubble runs f in a bubble with a store of three servers, a, b and c, and
// expects that nothing is left of the clients.
func bubble(t *testing.T, f func(t *testing.T, m *memoryStore, cfg Config)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemoryStore(bubbleTimeout)
		clock := bubbleClock{time.Now()}
		f(t, m, Config{
			Servers: []string{"a:1", "b:1", "c:1"}, SessionTimeout: bubbleTimeout,
			Clock: clock, Dial: m.dial(clock),
			Lookup: func(_ context.Context, host string) ([]string, error) { return []string{host}, nil },
		})
		m.cut()
		m.serving.Wait()
	})
}

func mustOpen(t *testing.T, cfg Config) *Session {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func startClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	return c
}

func mustSession(t *testing.T, c *Client) *Session {
	t.Helper()
	s, err := c.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A cut off client is never told: its own clock has to say when trust ends.
func TestTrustEndsByOurClockWhenTheStoreIsGone(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		for range 10 {
			if err := pause(t.Context(), 3*time.Second); err != nil || !s.Trusted() {
				t.Fatal("an idle session lost its trust")
			}
		}
		synctest.Wait()
		last := s.TrustedUntil()
		m.behave(gone)
		m.cut()
		<-s.Done()
		if now := cfg.Clock.Now(); now != last {
			t.Errorf("the session ended at %s, trust ended at %s", now, last)
		}
		if err := s.Err(); !errors.Is(err, ErrSessionEnded) || !errors.Is(err, ErrTrustEnded) {
			t.Errorf("the session ended by %v", err)
		}
	})
}

// A follower that is cut off from its leader answers pings for long after the
// leader has expired the session.
func TestTrustEndsThoughPingsAreAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.behave(deaf)
		<-s.Done()
		if now, want := cfg.Clock.Now(), bubbleTimeout*3/4; now != want {
			t.Errorf("the session ended at %s, want %s", now, want)
		}
	})
}

func TestACutOffServerIsLeftForAnother(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		first := m.last()
		m.behave(deaf, first)
		if err := pause(t.Context(), 10*bubbleTimeout); err != nil {
			t.Fatal(err)
		}
		if !s.Trusted() || !s.Connected() {
			t.Errorf("the session was given up though two servers are well: %v", s.Err())
		}
	})
}

// Lost connections shorter than half the timeout change nothing, at any phase of
// the renewals.
func TestLossesShorterThanHalfOfTheTimeoutChangeNothing(t *testing.T) {
	for _, manner := range []manner{refuse, gone, mute, deaf} {
		for phase := time.Duration(0); phase < bubbleTimeout/6; phase += 250 * time.Millisecond {
			t.Run("", func(t *testing.T) {
				bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
					s := mustOpen(t, cfg)
					defer s.Close()
					_ = pause(t.Context(), bubbleTimeout+phase)
					m.behave(manner)
					if manner != deaf {
						m.cut()
					}
					_ = pause(t.Context(), bubbleTimeout/2-time.Millisecond)
					m.behave(good)
					_ = pause(t.Context(), bubbleTimeout)
					if !s.Trusted() || !s.Connected() {
						t.Errorf("manner %d at phase %s: %v", manner, phase, s.Err())
					}
				})
			})
		}
	}
}

func TestMuteServersAreLeftWithinASecond(t *testing.T) {
	for _, manner := range []manner{mute, half, gone} {
		t.Run("", func(t *testing.T) {
			bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
				m.behave(manner, "a:1", "b:1")
				s := mustOpen(t, cfg)
				defer s.Close()
				dials := m.attempts()
				for i, d := range dials[1:] {
					if waited := d.at - dials[i].at; waited > time.Second {
						t.Errorf("server %s was tried %s after server %s", d.addr, waited, dials[i].addr)
					}
				}
				if last := m.last(); last != "c:1" {
					t.Errorf("the session is with %s", last)
				}
			})
		})
	}
}

func TestAnExpiredSessionIsNeverReplacedUnderItsOwner(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		c := startClient(t, cfg)
		defer c.Stop()
		first := mustSession(t, c)
		synctest.Wait()
		m.expire(first.ID())
		m.cut()
		<-first.Done()
		if err := first.Err(); !errors.Is(err, ErrExpired) {
			t.Errorf("the session ended by %v", err)
		}
		second := mustSession(t, c)
		if first.ID() == second.ID() || second.Err() != nil {
			t.Errorf("the next session is %d (%v), after %d", second.ID(), second.Err(), first.ID())
		}
		if _, err := first.Get(t.Context(), "/x"); !errors.Is(err, ErrSessionEnded) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("a read in the old session: %v", err)
		}
		if _, err := first.Set(t.Context(), "/x", nil, AnyVersion); !errors.Is(err, ErrSessionEnded) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("a write in the old session: %v", err)
		}
		if _, err := second.Get(t.Context(), "/x"); !errors.Is(err, ErrNoNode) {
			t.Errorf("a read in the new session: %v", err)
		}
	})
}

// The store may say so on a connection that stands, too.
func TestAnExpiredSessionIsNoticedOnItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.expire(s.ID())
		_, err := s.Set(t.Context(), "/x", nil, AnyVersion)
		if !errors.Is(err, ErrSessionEnded) || !errors.Is(err, ErrExpired) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("a write was refused by %v", err)
		}
		<-s.Done()
	})
}

func TestWritesWithoutAnAnswerAreAmbiguous(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.behave(deaf)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Create(ctx, "/x", nil, Persistent); !errors.Is(err, ErrAmbiguous) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write that was not answered in time: %v", err)
		}
		if _, err := s.Get(ctx, "/x"); errors.Is(err, ErrAmbiguous) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a read that was not answered in time: %v", err)
		}
		failed := make(chan error)
		go func() {
			_, err := s.Create(t.Context(), "/x", nil, Persistent)
			failed <- err
		}()
		synctest.Wait()
		m.cut()
		if err := <-failed; !errors.Is(err, ErrAmbiguous) || !errors.Is(err, errLost) {
			t.Errorf("a write whose connection was lost: %v", err)
		}
	})
}

func TestWritesWithoutAConnectionWereNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.behave(refuse)
		m.cut()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := s.Create(ctx, "/x", nil, Persistent)
		if errors.Is(err, ErrAmbiguous) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a write without a connection: %v", err)
		}
		_, err = s.Create(t.Context(), "/x", nil, Persistent)
		if errors.Is(err, ErrAmbiguous) || !errors.Is(err, ErrSessionEnded) {
			t.Errorf("a write that waits for a connection until the session ends: %v", err)
		}
	})
}

func TestSettleWaitsForWhatIsUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.behave(deaf)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := s.Create(ctx, "/x", nil, Persistent); !errors.Is(err, ErrAmbiguous) {
			t.Fatal(err)
		}
		settled := make(chan error, 1)
		go func() { settled <- s.Settle(t.Context()) }()
		synctest.Wait()
		m.behave(good)
		if _, err := s.Get(t.Context(), "/x"); !errors.Is(err, ErrNoNode) {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-settled:
			t.Fatalf("settled (%v) while a write is not answered", err)
		default:
		}
		// The connection's end is the write's.
		m.cut()
		if err := <-settled; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseIsBounded(t *testing.T) {
	for _, manner := range []manner{good, deaf, mute, gone} {
		t.Run("", func(t *testing.T) {
			bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
				c := startClient(t, cfg)
				s := mustSession(t, c)
				synctest.Wait()
				m.behave(manner)
				if manner == gone {
					m.cut()
				}
				// More requests than the library queues.
				ended := make(chan error)
				for range 40 {
					go func() {
						_, err := s.Set(context.Background(), "/x", nil, AnyVersion)
						ended <- err
					}()
				}
				synctest.Wait()
				start := time.Now()
				c.Stop()
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("stopping took %s", took)
				}
				for range 40 {
					if err := <-ended; manner == deaf && !errors.Is(err, ErrSessionEnded) {
						t.Errorf("an operation ended with %v", err)
					}
				}
				c.Stop()
				if _, err := c.Session(t.Context()); !errors.Is(err, ErrStopped) {
					t.Errorf("after the stop: %v", err)
				}
			})
		})
	}
}

func TestASessionSaysGoodbye(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		mustOpen(t, cfg).Close()
		if n := m.count(func(m *memoryStore) int { return len(m.sessions) }); n != 0 || m.goodbyes() != 1 {
			t.Errorf("%d sessions are left after %d goodbyes", n, m.goodbyes())
		}
		// Also one that could not be renewed, as soon as its store hears it.
		s := mustOpen(t, cfg)
		synctest.Wait()
		m.behave(deaf)
		<-s.Done()
		m.behave(good)
		s.Close()
		if m.goodbyes() != 2 {
			t.Errorf("a session without trust has not said goodbye")
		}
	})
}

// A handler of what has become of the client may wait for the store.
func TestAHandlerThatBlocksKeepsNothingFromHappening(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		release := make(chan struct{})
		var told []State
		cfg.OnState = func(s State) {
			told = append(told, s)
			if s == StateSuspended {
				<-release
			}
		}
		c := startClient(t, cfg)
		first := mustSession(t, c)
		synctest.Wait()
		m.behave(refuse)
		m.cut()
		synctest.Wait()
		m.expire(first.ID())
		m.behave(good)
		second := mustSession(t, c)
		for second.ID() == first.ID() {
			<-first.Done()
			second = mustSession(t, c)
		}
		synctest.Wait()
		close(release)
		synctest.Wait()
		if got := c.State(); got != StateConnected || told[len(told)-1] != StateConnected {
			t.Errorf("the client is %s, told were %v", got, told)
		}
		c.Stop()
		if !slices.Equal(told, []State{StateConnecting, StateConnected, StateSuspended, StateConnected, StateStopped}) &&
			!slices.Equal(told, []State{StateConnected, StateSuspended, StateConnected, StateStopped}) {
			t.Errorf("told were %v", told)
		}
	})
}

func TestTheStoreMayComeLate(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		m.behave(refuse)
		c := startClient(t, cfg)
		defer c.Stop()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := c.Session(ctx)
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrStopped) {
			t.Errorf("without a store: %v", err)
		}
		var op *OpError
		if !errors.As(err, &op) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("the error does not say what the trouble is: %v", err)
		}
		before := cfg.Clock.Now()
		m.behave(good)
		mustSession(t, c)
		if took := cfg.Clock.Now() - before; took > time.Second {
			t.Errorf("the store is there for %s before it is asked", took)
		}
		if n := len(m.attempts()); n > 600 {
			t.Errorf("%d attempts in a minute", n)
		}
	})
}

func TestHostsAreResolvedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		var at atomic.Value
		at.Store("10.0.0.1")
		cfg.Servers = []string{"store:1"}
		cfg.Lookup = func(context.Context, string) ([]string, error) {
			if at.Load() == "" {
				return nil, &net.DNSError{Err: "no such host", Name: "store", IsNotFound: true}
			}
			return []string{at.Load().(string)}, nil
		}
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.behave(refuse, "10.0.0.1:1")
		m.cut()
		_ = pause(t.Context(), time.Second)
		at.Store("")
		_ = pause(t.Context(), time.Second)
		at.Store("10.0.0.2")
		_ = pause(t.Context(), bubbleTimeout)
		if last := m.last(); last != "10.0.0.2:1" || !s.Connected() {
			t.Errorf("the last server is %s, connected %t", last, s.Connected())
		}
	})
}

func TestCredentialsGoWithEachConnection(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		cfg.Auth = []Auth{Digest("user", "word")}
		s := mustOpen(t, cfg)
		defer s.Close()
		for range 5 {
			synctest.Wait()
			m.cut()
			_ = pause(t.Context(), bubbleTimeout/2)
		}
		if !s.Connected() || m.count(func(m *memoryStore) int { return len(m.auths) }) != 6 {
			t.Errorf("connected %t, with credentials presented %d times", s.Connected(), m.count(func(m *memoryStore) int { return len(m.auths) }))
		}
	})
}

// The library deadlocks for good when a connection fails while it presents
// credentials again.
func TestALossWhilePresentingCredentialsIsSurvived(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		cfg.Auth = []Auth{Digest("user", "word"), Digest("other", "word")}
		dial := cfg.Dial
		var attempts atomic.Int64
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if n := attempts.Add(1); err == nil && n > 1 && n < 8 {
				conn = &failingConn{Conn: conn, writes: 2}
			}
			return conn, err
		}
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		m.cut()
		_ = pause(t.Context(), bubbleTimeout/2)
		if !s.Connected() || !s.Trusted() {
			t.Errorf("after %d attempts: connected %t, %v", attempts.Load(), s.Connected(), s.Err())
		}
	})
}

// failingConn fails after some writes.
type failingConn struct {
	net.Conn
	writes int
}

func (f *failingConn) Write(p []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		_ = f.Close()
		return 0, errors.New("broken pipe")
	}
	return f.Conn.Write(p)
}

func TestTheClockMayBeStalled(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		clock := &jumpingClock{Clock: cfg.Clock}
		cfg.Clock = clock
		s := mustOpen(t, cfg)
		defer s.Close()
		synctest.Wait()
		// The machine was suspended: no timer has gone off, but time has passed.
		clock.jump.Store(int64(bubbleTimeout))
		if s.Trusted() {
			t.Error("the session is trusted after the machine was suspended")
		}
		if _, err := s.Set(t.Context(), "/x", nil, AnyVersion); !errors.Is(err, ErrTrustEnded) || errors.Is(err, ErrAmbiguous) {
			t.Errorf("a write after the machine was suspended: %v", err)
		}
	})
}

// Timers have stood still with the machine: that trust has run out is told by the
// clock, at the latest a sixth of the timeout after it wakes, though the store answers
// again and has kept the session.
func TestDoneComesSoonAfterTheMachineWasSuspended(t *testing.T) {
	for _, byOwner := range []bool{false, true} {
		for phase := time.Duration(0); phase < bubbleTimeout/6; phase += bubbleTimeout / 24 {
			t.Run("", func(t *testing.T) {
				bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
					clock := &jumpingClock{Clock: cfg.Clock}
					cfg.Clock, cfg.RenewedByOwner = clock, byOwner
					s := mustOpen(t, cfg)
					defer s.Close()
					_ = pause(t.Context(), phase)
					clock.jump.Store(int64(bubbleTimeout))
					woken := time.Now()
					<-s.Done()
					if late := time.Since(woken); late > bubbleTimeout/6 || !errors.Is(s.Err(), ErrTrustEnded) {
						t.Errorf("at phase %s Done came %s after the machine woke: %v", phase, late, s.Err())
					}
				})
			})
		}
	}
}

type jumpingClock struct {
	Clock
	jump atomic.Int64
}

func (c *jumpingClock) Now() time.Duration { return c.Clock.Now() + time.Duration(c.jump.Load()) }

func TestOwnersMayRenew(t *testing.T) {
	bubble(t, func(t *testing.T, m *memoryStore, cfg Config) {
		cfg.RenewedByOwner = true
		s := mustOpen(t, cfg)
		defer s.Close()
		for range 10 {
			_ = pause(t.Context(), bubbleTimeout/2)
			start := cfg.Clock.Now()
			if err := s.Renew(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, want := s.TrustedUntil(), start+bubbleTimeout*3/4; got != want {
				t.Errorf("trust ends at %s, want %s", got, want)
			}
		}
		start := cfg.Clock.Now()
		<-s.Done()
		if now := cfg.Clock.Now(); now-start != bubbleTimeout*3/4 || !errors.Is(s.Err(), ErrTrustEnded) {
			t.Errorf("it ended after %s: %v", now-start, s.Err())
		}
		if err := s.Renew(t.Context()); !errors.Is(err, ErrSessionEnded) {
			t.Errorf("a renewal after its end: %v", err)
		}
	})
}

// What the server did is told, not that the last attempt ran out of time: the
// dialer's clock may strike before the context's.
func TestOpenTellsOfTheLastAttemptThatHadTime(t *testing.T) {
	bubble(t, func(t *testing.T, _ *memoryStore, cfg Config) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		deadline, _ := ctx.Deadline()
		attempts := 0
		cfg.Servers, cfg.ConnectTimeout = cfg.Servers[:1], 10*time.Second
		cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
			if attempts++; attempts == 1 {
				return nil, syscall.ECONNREFUSED
			}
			timer := time.NewTimer(time.Until(deadline))
			<-timer.C
			return nil, os.ErrDeadlineExceeded
		}
		_, err := Open(ctx, cfg)
		if attempts < 2 || !errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("after %d attempts: %v", attempts, err)
		}
	})
}
