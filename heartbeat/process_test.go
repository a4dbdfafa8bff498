package heartbeat_test

import (
	"context"
	"fmt"
	"math/rand/v2"
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
type watchdog struct {
	late, worst atomic.Int64
	stop        chan struct{}
	done        sync.WaitGroup
}

const watchEvery = 5 * time.Millisecond

func watch(t *testing.T) *watchdog {
	t.Helper()
	w := &watchdog{stop: make(chan struct{})}
	w.done.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		last := time.Now()
		for {
			select {
			case <-ticker.C:
			case <-w.stop:
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
		close(w.stop)
		w.done.Wait()
	})
	return w
}

// excuse is what a bound on the wall clock is extended by: a report goes through
// about three goroutines (a timer, the owner's loop, a connection), each of which
// may have to wait as long as the watchdog had to.
func (w *watchdog) excuse() time.Duration { return 3 * time.Duration(w.late.Load()) }

func (w *watchdog) reset() {
	w.late.Store(0)
	w.worst.Store(0)
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
	}
	if err := services.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := startBoss(t.Context(), services, c.boss); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		services.Stop()
		if err := c.env.Stop(context.Background()); err != nil {
			t.Errorf("stop the master: %v", err)
		}
	})
	return c
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

// drain empties a channel of what came before.
func drain[T any](c <-chan T) {
	for {
		select {
		case <-c:
		default:
			return
		}
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

// The case "dead worker found only after 50 s": one that is killed is noticed by its refused connections, within two
// intervals and half a second, whenever in the interval it happens.
func TestKilledWorkerIsNoticed(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "LEAT_KILLS", 2), number(t, "LEAT_SEED", time.Now().UnixNano())
	t.Logf("LEAT_SEED=%d", seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	cfg := heartbeat.Config{Interval: time.Second, Timeout: time.Minute}
	dog := watch(t)
	c := newChief(t, cfg, nil)
	for i := range kills {
		id := heartbeat.ID(fmt.Sprintf("worker-%d", i))
		worker := startProcess(t, "worker", id, c.env.Addr(), cfg)
		drain(c.heard)
		for range 2 {
			receive(t, c.heard)
		}
		<-time.NewTimer(time.Duration(random.Int64N(int64(cfg.Interval)))).C
		dog.reset()
		began := time.Now()
		worker.Kill(t)
		l := receive(t, c.lost)
		took, excuse := l.at.Sub(began), dog.excuse()
		t.Logf("noticed after %s (excused: %s)", took, excuse)
		if l.id != id || l.Reason != heartbeat.Refusals {
			t.Errorf("lost %s by %s, want %s by refusals", l.id, l.Reason, id)
		}
		if bound := 2*cfg.Interval + 500*time.Millisecond; took-excuse > bound {
			t.Errorf("noticed after %s, of which %s are excused: more than %s", took, excuse, bound)
		}
	}
}

// A worker behind a black hole, in both directions, is noticed within the timeout
// and a tenth of the interval, and never before timeout - interval.
//
// The lower bounds are strict. The upper one is on the time since the last
// heartbeat, or since the cut when that was later; it is extended by the stalls
// that moved the deadlines and by what the watchdog has seen.
func TestBlackHoleCutIsNoticedInTime(t *testing.T) {
	t.Parallel()
	for range number(t, "LEAT_KILLS", 1) {
		cutOff(t)
	}
}

func cutOff(t *testing.T) {
	cfg := heartbeat.Config{Interval: 500 * time.Millisecond, Timeout: 2 * time.Second}
	dog := watch(t)
	var toWorker *testenv.Proxy
	c := newChief(t, cfg, func(addr rpc.Addr) rpc.Addr {
		toWorker = testenv.NewProxy(t, string(addr))
		return rpc.Addr(toWorker.Addr())
	})
	toMaster := testenv.NewProxy(t, string(c.env.Addr()))
	startProcess(t, "worker", "worker", rpc.Addr(toMaster.Addr()), cfg)
	for range 3 {
		receive(t, c.heard)
	}
	drain(c.heard)
	receive(t, c.heard)
	dog.reset()
	stalled := c.services.Stalled()
	cut := time.Now()
	toWorker.BlackHole(true)
	toMaster.BlackHole(true)
	l := receive(t, c.lost)
	since := l.LastHeartbeat
	if l.at.Sub(since) < cfg.Timeout || l.Silent < cfg.Timeout || l.Reason != heartbeat.Silence {
		t.Errorf("lost by %s after %s of silence (%s by the loss), timeout %s", l.Reason, l.at.Sub(since), l.Silent, cfg.Timeout)
	}
	if before := cut.Sub(since); before <= cfg.Interval && l.at.Sub(cut) < cfg.Timeout-cfg.Interval {
		t.Errorf("lost %s after the cut, before timeout - interval", l.at.Sub(cut))
	}
	if since.Before(cut) {
		since = cut
	}
	late := l.at.Sub(since) - cfg.Timeout
	excuse := dog.excuse() + c.services.Stalled() - stalled
	t.Logf("noticed %s after the timeout (excused: %s)", late, excuse)
	if late-excuse > cfg.Interval/10 {
		t.Errorf("noticed %s after the timeout, of which %s are excused: more than %s", late, excuse, cfg.Interval/10)
	}
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
	t.Cleanup(s.stop)
	for i := range n {
		h := &hand{
			id: heartbeat.ID(fmt.Sprintf("hand-%d", i)), master: env.RefAt(master, "master"),
			onAsked: s.asked[i].Store,
			onLost:  func(heartbeat.Loss) { s.dropped.Add(1) },
		}
		if err := startHand(t.Context(), env, services, h); err != nil {
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

// awaitAsked waits until each of the first n has been asked so often since from.
func (s *staff) awaitAsked(t *testing.T, n int, times int64) {
	t.Helper()
	from := make([]int64, n)
	for i := range n {
		from[i] = s.asked[i].Load()
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for i := range n {
		for range 60_000 {
			if s.asked[i].Load() >= from[i]+times {
				break
			}
			<-ticker.C
		}
		if s.asked[i].Load() < from[i]+times {
			t.Fatalf("worker %d was asked %d times only", i, s.asked[i].Load()-from[i])
		}
	}
}

// The case "a detector that was itself stalled declares everyone dead": a master
// that is stopped by SIGSTOP for three timeouts and goes on declares
// nobody dead, though it has heard nobody meanwhile: its workers live in this
// process and never give it up, so that none of them is saved by registering
// again. The one that fell silent in the meantime is found.
//
// Who is judged is this process. A round in which it stood still itself for half a
// timeout, on a machine that is far too busy, shows nothing, and is done again.
func TestFreezeOfMasterDeclaresNobodyDead(t *testing.T) {
	t.Parallel()
	for range number(t, "LEAT_KILLS", 1) {
		freeze(t)
	}
}

func freeze(t *testing.T) {
	cfg := heartbeat.Config{Interval: 500 * time.Millisecond, Timeout: 2 * time.Second}
	const workers, rounds = 8, 5
	for round := range rounds {
		dog := watch(t)
		master := startProcess(t, "master", "master", "", cfg)
		master.WaitStdout(t, "\n")
		addr := rpc.Addr(strings.TrimSpace(strings.TrimPrefix(master.Stdout(), "listening ")))
		s := newStaff(t, workers, addr, heartbeat.Config{Interval: cfg.Interval, Timeout: time.Hour, SuspectLimit: time.Hour})
		s.awaitAsked(t, workers, 3)
		if !master.Freeze(t) {
			t.Fatalf("the master has ended:\n%s", master.Stderr())
		}
		silent := s.hands[workers-1]
		if err := rpc.Send(silent.self, turn{func() { silent.mute = true }}); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(3 * cfg.Timeout).C
		master.Thaw(t)
		s.awaitAsked(t, workers-1, 8)
		master.WaitStdout(t, "lost "+string(silent.id))
		lost := strings.Count(master.Stdout(), "lost ")
		worst := time.Duration(dog.worst.Load())
		master.Signal(t, syscall.SIGKILL)
		s.stop()
		switch {
		case lost == 1 && s.dropped.Load() == 0:
			return
		case worst < cfg.Timeout/2:
			t.Fatalf("the master lost %d workers, want the silent one only; %d workers gave it up:\n%s",
				lost, s.dropped.Load(), master.Stdout())
		default:
			t.Logf("round %d: this process stood still for %s", round, worst)
		}
	}
	t.Fatalf("in each of %d rounds this process stood still for too long", rounds)
}
