package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/rpc"
)

// What the other processes are told, by their environment.
const (
	roleKey     = "LEAT_HEARTBEAT_TEST_PROCESS"
	idKey       = "LEAT_HEARTBEAT_TEST_ID"
	masterKey   = "LEAT_HEARTBEAT_TEST_MASTER"
	intervalKey = "LEAT_HEARTBEAT_TEST_INTERVAL"
	timeoutKey  = "LEAT_HEARTBEAT_TEST_TIMEOUT"
)

var (
	_ = heartbeat.AsProcess("worker", workerProcess)
	_ = heartbeat.AsProcess("master", masterProcess)
)

// workerProcess is a worker until it is killed.
func workerProcess() {
	ctx := context.Background()
	services, err := startServices(ctx)
	if err != nil {
		fail(err)
	}
	env, err := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: messages()})
	if err == nil {
		err = env.Start(ctx)
	}
	if err != nil {
		fail(err)
	}
	h := &hand{id: heartbeat.ID(os.Getenv(idKey)), master: env.RefAt(rpc.Addr(os.Getenv(masterKey)), "master")}
	if err := startHand(ctx, env, services, h); err != nil {
		fail(err)
	}
	select {}
}

// masterProcess is a master that writes what happens, until it is killed.
func masterProcess() {
	ctx := context.Background()
	services, err := startServices(ctx)
	if err != nil {
		fail(err)
	}
	b := &boss{onLost: func(id heartbeat.ID, loss heartbeat.Loss) { fmt.Printf("lost %s by %s\n", id, loss.Reason) }}
	if err := startBoss(ctx, services, b); err != nil {
		fail(err)
	}
	fmt.Printf("listening %s\n", b.env.Addr())
	select {}
}

func startServices(ctx context.Context) (*heartbeat.Services, error) {
	interval, err := time.ParseDuration(os.Getenv(intervalKey))
	if err != nil {
		return nil, err
	}
	timeout, err := time.ParseDuration(os.Getenv(timeoutKey))
	if err != nil {
		return nil, err
	}
	services, err := heartbeat.New(heartbeat.Config{Interval: interval, Timeout: timeout})
	if err != nil {
		return nil, err
	}
	return services, services.Start(ctx)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func startProcess(t *testing.T, role string, id heartbeat.ID, master rpc.Addr, cfg heartbeat.Config) *testenv.Process {
	t.Helper()
	return testenv.StartProcess(t, testenv.Command{Path: os.Args[0], Env: []string{
		roleKey + "=" + role, idKey + "=" + string(id), masterKey + "=" + string(master),
		intervalKey + "=" + cfg.Interval.String(), timeoutKey + "=" + cfg.Timeout.String(),
	}})
}

// watchdog measures how late this process is: a goroutine that means to wake each
// few milliseconds. On a quiet machine it finds next to nothing.
type watchdog struct{ late, worst atomic.Int64 }

const watchEvery = 5 * time.Millisecond

func watch(t *testing.T) *watchdog {
	t.Helper()
	w := &watchdog{}
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		last := time.Now()
		for {
			select {
			case <-ticker.C:
			case <-stop:
				return
			}
			now := time.Now()
			if late := int64(now.Sub(last) - watchEvery); late > int64(watchEvery) {
				w.late.Add(late)
				w.worst.Store(max(w.worst.Load(), late))
			}
			last = now
		}
	})
	t.Cleanup(func() {
		close(stop)
		done.Wait()
	})
	return w
}

func (w *watchdog) reset() {
	w.late.Store(0)
	w.worst.Store(0)
}

// slower repeats a try with everything twice as slow, until it can be judged and is
// well. What holds at any load fails the test within a try. Bounds on the wall clock
// do not: a machine that is too busy for one is not for one that is as much longer,
// while a program that is late by its own fault is so by intervals, at any pace.
func slower(t *testing.T, interval time.Duration, try func(t *testing.T, interval time.Duration) (well bool)) {
	t.Helper()
	const tries = 5
	for range tries {
		if try(t, interval) {
			return
		}
		interval *= 2
	}
	t.Errorf("not once in %d tries, each twice as slow as the one before", tries)
}

// lostAt is a loss and when it was reported.
type lostAt struct {
	heartbeat.Loss
	id heartbeat.ID
	at time.Time
}

// chief is a boss in this process.
type chief struct {
	*boss
	services *heartbeat.Services
	heard    chan heartbeat.ID
	lost     chan lostAt
	// refused is how many connections were.
	refused atomic.Int64
}

func newChief(t *testing.T, cfg heartbeat.Config, via func(rpc.Addr) rpc.Addr) *chief {
	t.Helper()
	services, err := heartbeat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c := &chief{services: services, heard: make(chan heartbeat.ID, 1<<12), lost: make(chan lostAt, 1<<12)}
	c.boss = &boss{
		via:     via,
		onHeard: func(id heartbeat.ID) { c.heard <- id },
		onLost:  func(id heartbeat.ID, loss heartbeat.Loss) { c.lost <- lostAt{loss, id, time.Now()} },
		onFailed: func(err error) {
			if errors.Is(err, syscall.ECONNREFUSED) {
				c.refused.Add(1)
			}
		},
	}
	if err := services.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := startBoss(t.Context(), services, c.boss); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *chief) stop(t *testing.T) {
	c.services.Stop()
	if err := c.env.Stop(context.Background()); err != nil {
		t.Errorf("stop the master: %v", err)
	}
}

// receive waits for a value, with a bound that only a broken test meets.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(3 * time.Minute)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatal("nothing came for three minutes")
		panic("unreachable")
	}
}

func number(t *testing.T, key string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(key)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	return n
}

// The case "dead worker found only after 50 s": one that is killed is noticed by its
// refused connections, within two intervals and half a second, whenever in the interval
// of a second it happens; and by two of them, neither one nor silence.
func TestKilledWorkerIsNoticed(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "LEAT_KILLS", 2), number(t, "LEAT_SEED", time.Now().UnixNano())
	t.Logf("LEAT_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	for i := range kills {
		phase := random.Float64()
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dog := watch(t)
			slower(t, time.Second, func(t *testing.T, interval time.Duration) bool {
				return killWorker(t, dog, interval, phase)
			})
		})
	}
}

func killWorker(t *testing.T, dog *watchdog, interval time.Duration, phase float64) (well bool) {
	cfg := heartbeat.Config{Interval: interval, Timeout: time.Minute}
	var at rpc.Addr
	c := newChief(t, cfg, func(addr rpc.Addr) rpc.Addr {
		at = addr
		return addr
	})
	defer c.stop(t)
	worker := startProcess(t, "worker", "worker", c.env.Addr(), cfg)
	for range 2 {
		receive(t, c.heard)
	}
	<-time.NewTimer(time.Duration(phase * float64(interval))).C
	dog.reset()
	began := time.Now()
	worker.Kill(t)
	gone := time.Now()
	l := receive(t, c.lost)
	t.Logf("noticed after %s, of which it took %s to die; this process was %s late",
		l.at.Sub(began), gone.Sub(began), time.Duration(dog.late.Load()))
	if l.Reason != heartbeat.Refusals && reached(at) {
		t.Log("somebody else has its address now")
		return false
	}
	if l.Reason != heartbeat.Refusals || c.refused.Load() < 2 {
		t.Fatalf("lost by %s, %d connections were refused", l.Reason, c.refused.Load())
	}
	return l.at.Sub(began) <= 2*interval+interval/2
}

// reached says whether somebody listens at an address.
func reached(addr rpc.Addr) bool {
	conn, err := net.DialTimeout("tcp", string(addr), 10*time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}

// A worker behind a black hole, in both directions, is noticed within the timeout
// and a tenth of the interval, and never before timeout - interval.
//
// The lower bounds hold at any load. The upper one is on the time since the last
// heartbeat, or since the cut when that was later. It does not count the stalls that
// have moved the deadlines, nor what the sweeper and the owner's loop may have waited
// for a processor: for each, as long as the watchdog once had to.
func TestBlackHoleCutIsNoticedInTime(t *testing.T) {
	t.Parallel()
	for i := range number(t, "LEAT_KILLS", 1) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dog := watch(t)
			slower(t, 500*time.Millisecond, func(t *testing.T, interval time.Duration) bool {
				return cutOff(t, dog, interval)
			})
		})
	}
}

func cutOff(t *testing.T, dog *watchdog, interval time.Duration) (well bool) {
	cfg := heartbeat.Config{Interval: interval, Timeout: 4 * interval}
	var toWorker *testenv.Proxy
	c := newChief(t, cfg, func(addr rpc.Addr) rpc.Addr {
		toWorker = testenv.NewProxy(t, string(addr))
		return rpc.Addr(toWorker.Addr())
	})
	defer c.stop(t)
	toMaster := testenv.NewProxy(t, string(c.env.Addr()))
	worker := startProcess(t, "worker", "worker", rpc.Addr(toMaster.Addr()), cfg)
	for range 3 {
		receive(t, c.heard)
	}
	defer func() { // Before the master stops, which says goodbye.
		worker.Signal(t, syscall.SIGKILL)
		toWorker.BlackHole(false)
		toMaster.BlackHole(false)
	}()
	dog.reset()
	stalled, cut := c.services.Stalled(), time.Now()
	toWorker.BlackHole(true)
	toMaster.BlackHole(true)
	l := receive(t, c.lost)
	since := l.LastHeartbeat
	if l.at.Sub(since) < cfg.Timeout || l.Silent < cfg.Timeout || l.Reason != heartbeat.Silence {
		t.Fatalf("lost by %s after %s of silence (%s by the loss), timeout %s", l.Reason, l.at.Sub(since), l.Silent, cfg.Timeout)
	}
	if l.at.Before(cut) {
		t.Log("the worker was silent for the timeout before the cut")
		return false
	}
	if before := cut.Sub(since); before <= cfg.Interval && l.at.Sub(cut) < cfg.Timeout-cfg.Interval {
		t.Fatalf("lost %s after the cut, before timeout - interval", l.at.Sub(cut))
	}
	if since.Before(cut) {
		since = cut
	}
	late, stalls := l.at.Sub(since)-cfg.Timeout, c.services.Stalled()-stalled
	waited := time.Duration(dog.worst.Load())
	t.Logf("noticed %s after the timeout, of an interval of %s; stalled for %s, %s late", late, interval, stalls, waited)
	return late-stalls-2*waited <= cfg.Interval/10
}

// staff are workers in this process.
type staff struct {
	env      *rpc.Env
	services *heartbeat.Services
	hands    []*hand
	asked    []atomic.Int64
	// dropped counts the workers that gave up their master.
	dropped atomic.Int64
}

func newStaff(t *testing.T, n int, master rpc.Addr, cfg heartbeat.Config) *staff {
	t.Helper()
	env, err := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: messages()})
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	services, err := heartbeat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := services.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &staff{env: env, services: services, asked: make([]atomic.Int64, n)}
	for i := range n {
		h := &hand{
			id: heartbeat.ID(fmt.Sprintf("hand-%d", i)), master: env.RefAt(master, "master"),
			onAsked: s.asked[i].Store,
			onLost:  func(heartbeat.Loss) { s.dropped.Add(1) },
		}
		if err := startHand(t.Context(), env, services, h); err != nil {
			s.stop()
			t.Fatal(err)
		}
		s.hands = append(s.hands, h)
	}
	return s
}

func (s *staff) stop() {
	s.services.Stop()
	_ = s.env.Stop(context.Background())
}

// awaitAsked waits until each of the first n has been asked so often from now on, or
// ends; false: that came first.
func (s *staff) awaitAsked(t *testing.T, n int, times int64, ends func() bool) bool {
	t.Helper()
	until := make([]int64, n)
	for i := range n {
		until[i] = s.asked[i].Load() + times
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for i := range n {
		for waited := 0; s.asked[i].Load() < until[i]; waited++ {
			if ends() {
				return false
			}
			if waited == 36_000 { // Three minutes.
				t.Fatalf("worker %d was asked %d times only", i, s.asked[i].Load()-until[i]+times)
			}
			<-ticker.C
		}
	}
	return true
}

// The case "a detector that was itself stalled declares everyone dead": a master
// that is stopped by SIGSTOP for three timeouts and goes on declares
// nobody dead, though it has heard nobody meanwhile: its workers live in this
// process and never give it up, so that none of them is saved by registering
// again. The one that fell silent in the meantime is found.
//
// Who is judged is this process. A try in which it stood still itself for a tenth of a
// timeout shows nothing.
func TestFreezeOfMasterDeclaresNobodyDead(t *testing.T) {
	t.Parallel()
	for i := range number(t, "LEAT_KILLS", 1) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dog := watch(t)
			slower(t, 250*time.Millisecond, func(t *testing.T, interval time.Duration) bool {
				return freeze(t, dog, interval)
			})
		})
	}
}

func freeze(t *testing.T, dog *watchdog, interval time.Duration) (well bool) {
	const workers = 4 // Too few to be many at once, which would be doubted for that.
	cfg := heartbeat.Config{Interval: interval, Timeout: 4 * interval}
	master := startProcess(t, "master", "master", "", cfg)
	defer master.Signal(t, syscall.SIGKILL)
	master.WaitStdout(t, "\n")
	addr := rpc.Addr(strings.TrimSpace(strings.TrimPrefix(master.Stdout(), "listening ")))
	dog.reset()
	s := newStaff(t, workers, addr, heartbeat.Config{Interval: cfg.Interval, Timeout: time.Hour, SuspectLimit: time.Hour})
	defer s.stop()
	silent := s.hands[workers-1]
	lostAny := func() bool { return strings.Contains(master.Stdout(), "lost ") }
	lostAnother := func() bool {
		out := master.Stdout()
		return strings.Count(out, "lost ") > strings.Count(out, "lost "+string(silent.id))
	}
	if s.awaitAsked(t, workers, 3, lostAny) {
		if !master.Freeze(t) {
			t.Fatalf("the master has ended:\n%s", master.Stderr())
		}
		if err := rpc.Send(silent.self, turn{func() { silent.mute = true }}); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(3 * cfg.Timeout).C
		master.Thaw(t)
		if s.awaitAsked(t, workers-1, 8, lostAnother) {
			master.WaitStdout(t, "lost "+string(silent.id))
		}
	}
	lost, dropped, worst := strings.Count(master.Stdout(), "lost "), s.dropped.Load(), time.Duration(dog.worst.Load())
	if lost == 1 && dropped == 0 && !lostAnother() {
		return true
	}
	if worst < cfg.Timeout/10 {
		t.Fatalf("the master lost %d workers, want the silent one only; %d workers gave it up; this process was %s late at most:\n%s",
			lost, dropped, worst, master.Stdout())
	}
	t.Logf("timeout %s: this process stood still for %s", cfg.Timeout, worst)
	return false
}
