package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leatdata/leat/heartbeat/heartbeattest"
)

// workerID is a store's own type for names: the interfaces fit whatever it is.
type workerID string

type counters = heartbeattest.Counters[workerID]

var (
	_ CounterWriter[workerID] = (*counters)(nil)
	_ CounterReader[workerID] = (*counters)(nil)
)

func newTally(t *testing.T, cfg CounterConfig) *CounterTally[workerID] {
	t.Helper()
	tally, err := NewCounterTally[workerID](cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tally
}

// reads gives a tally one read after the other, each a list like "a=1 b=2", and
// checks the events, like "a:seen b:lost".
func reads(t *testing.T, tally *CounterTally[workerID], script ...string) {
	t.Helper()
	for i, line := range script {
		read, want, _ := strings.Cut(line, "->")
		counters := map[workerID]uint64{}
		for field := range strings.FieldsSeq(read) {
			var v uint64
			w, value, _ := strings.Cut(field, "=")
			if _, err := fmt.Sscan(value, &v); err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
			counters[workerID(w)] = v
		}
		var got []string
		for _, e := range tally.Read(counters) {
			got = append(got, fmt.Sprintf("%s:%s", e.Worker, e.Kind))
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Fatalf("read %d, %q: events %v, want %v", i, read, got, strings.Fields(want))
		}
	}
}

// First sight is cached; a change is alive; equal is a miss; at the fourth miss the
// worker is lost, once.
func TestTallyCountsMissesInReads(t *testing.T) {
	t.Parallel()
	reads(t, newTally(t, CounterConfig{}),
		"a=1 b=7 -> a:seen b:seen",
		"a=2 b=7 ->", "a=2 b=7 ->", "a=2 b=7 ->",
		"a=3 b=7 -> b:lost",
		"a=3 b=7 ->", "a=3 b=7 ->", "a=3 b=7 ->",
		"a=3 b=7 -> a:lost",
		"a=3 b=7 ->",
		"a=4 b=7 -> a:moved",
	)
}

// Values are compared by change: a worker that was started anew counts from
// anywhere, also lower, or wraps around.
func TestTallyComparesByChange(t *testing.T) {
	t.Parallel()
	reads(t, newTally(t, CounterConfig{}),
		"a=18446744073709551615 -> a:seen", "a=0 ->", "a=0 ->", "a=0 ->", "a=0 ->",
		"a=18446744073709551615 ->", "a=5 ->", "a=4 ->", "a=4 ->", "a=3 ->", "a=3 ->", "a=3 ->", "a=3 ->",
		"a=3 -> a:lost",
	)
}

// A worker that has registered is expected: it is lost when it never writes. One
// whose node vanishes is lost as well, and forgotten then.
func TestTallyOfWorkersThatAreNotThere(t *testing.T) {
	t.Parallel()
	tally := newTally(t, CounterConfig{})
	tally.Expect("a")
	reads(t, tally,
		"b=1 -> b:seen", "b=2 ->", " ->", " -> a:lost", " -> a:gone", " -> b:lost", " -> b:gone",
		"b=2 -> b:seen",
	)
	if n := tally.Workers(); n != 1 {
		t.Errorf("%d workers", n)
	}
	// Registering anew starts anew, also while a counter is lost.
	reads(t, tally, "b=2 ->", "b=2 ->", "b=2 ->", "b=2 -> b:lost")
	tally.Expect("b")
	reads(t, tally, "b=2 -> b:seen", "b=2 ->", "b=2 ->", "b=2 ->", "b=2 -> b:lost")
}

// crowded is a read of n counters, those from still on with their old values.
func crowded(n, still int, value uint64) map[workerID]uint64 {
	m := map[workerID]uint64{}
	for i := range n {
		m[workerID(name(i))] = value
		if i >= still {
			m[workerID(name(i))] = 0
		}
	}
	return m
}

// Many that stand at once get as many reads more, once: the store may have taken no
// writes.
func TestTallyDoubtsWhenManyStand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ standing, lostAfter int }{{3, 4}, {6, 8}} {
		tally := newTally(t, CounterConfig{})
		tally.Read(crowded(20, 20, 0))
		for i := 1; i <= 12; i++ {
			events := tally.Read(crowded(20, 20-c.standing, uint64(i)))
			want := 0
			if i == c.lostAfter {
				want = c.standing
			}
			if len(events) != want {
				t.Errorf("%d standing, read %d: %v", c.standing, i, events)
			}
		}
	}
}

// The total of all writes is bounded: the interval is stretched when there are many
// workers, and the master allows as much more, also while workers have not heard
// yet that they are fewer.
func TestTotalWritesAreBounded(t *testing.T) {
	t.Parallel()
	cfg := CounterConfig{}.WithDefaults()
	for workers, want := range map[int]time.Duration{
		0: 5 * time.Second, 1: 5 * time.Second, 1000: 5 * time.Second,
		1001: 5005 * time.Millisecond, 2000: 10 * time.Second, 100_000: 500 * time.Second,
	} {
		every := cfg.Every(workers)
		if every != want {
			t.Errorf("%d workers: every %s, want %s", workers, every, want)
		}
		if perSecond := float64(workers) / every.Seconds(); perSecond > float64(cfg.MaxWrites)+0.001 {
			t.Errorf("%d workers write %.1f times per second", workers, perSecond)
		}
	}
	cfg.MaxWrites = 20
	tally := newTally(t, cfg)
	// 500 workers write each 25 s: each fifth read. Nobody is lost.
	for i := range 60 {
		if events := tally.Read(crowded(500, 500, uint64(i/5))); i > 0 && len(events) > 0 {
			t.Fatalf("read %d: %v", i, events)
		}
	}
	// All but ten leave. One of the ten goes on each 25 s for a while, and is not lost.
	slow := workerID(name(3))
	for i := range 40 {
		read := crowded(10, 10, uint64(100+i))
		read[slow] = uint64(100 + i/5)
		for _, e := range tally.Read(read) {
			if e.Worker < workerID(name(10)) {
				t.Fatalf("read %d: %v", i, e)
			}
		}
	}
	// Then they hear of it and write each 5 s; one that stops is lost in four reads.
	for i := range 10 {
		tally.Read(crowded(10, 10, uint64(200+i)))
	}
	for i := range 5 { // The first changes it.
		events := tally.Read(crowded(10, 9, uint64(300+i)))
		if want := i == 4; want != (len(events) == 1) {
			t.Fatalf("read %d after the stop: %v", i, events)
		}
	}
}

// keeper is a master's side of the counter heartbeat with what it has told.
type keeper struct {
	*loop
	watch  *CounterWatch[workerID]
	events []string
	began  time.Time
}

func newKeeper(t *testing.T, s *Services, store *counters) *keeper {
	t.Helper()
	k := &keeper{loop: newLoop(t), began: time.Now()}
	var err error
	k.watch, err = NewCounterWatch(s, CounterReader[workerID](store), k.run, func(events []CounterEvent[workerID]) {
		for _, e := range events {
			k.events = append(k.events, fmt.Sprintf("%s:%s", e.Worker, e.Kind))
		}
	})
	if err == nil {
		err = k.watch.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.watch.Stop)
	return k
}

func (k *keeper) told() (events []string) {
	k.do(func() { events = slices.Clone(k.events) })
	return events
}

func (k *keeper) want(t *testing.T, want ...string) {
	t.Helper()
	if got := k.told(); !slices.Equal(got, want) {
		t.Fatalf("events %v, want %v", got, want)
	}
}

// beater is a worker's side.
type beater struct {
	*loop
	beat   *CounterBeat[workerID]
	wrote  []time.Duration
	failed int
}

func newBeater(t *testing.T, s *Services, store *counters, id workerID) *beater {
	t.Helper()
	b := &beater{loop: newLoop(t)}
	var err error
	b.beat, err = NewCounterBeat(s, CounterWriter[workerID](store), id, b.run, func(began time.Duration, err error) {
		if err != nil {
			b.failed++
			return
		}
		b.wrote = append(b.wrote, began)
	})
	if err == nil {
		err = b.beat.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.beat.Stop)
	return b
}

// A worker writes from its own loop: one whose loop stands still does not beat, and
// is lost after as many of the master's reads as are allowed.
func TestCounterIsWrittenFromTheWorkersLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		s := unstarted(t, Config{})
		k := newKeeper(t, s, store)
		b := newBeater(t, s, store, "w")
		pass(10 * time.Minute)
		k.want(t, "w:seen")
		if n := store.Writes("w"); n < 119 || n > 122 {
			t.Errorf("%d writes in 120 intervals", n)
		}
		b.busy(time.Minute)
		before := store.Writes("w")
		pass(14 * time.Second)
		k.want(t, "w:seen")
		pass(12 * time.Second)
		k.want(t, "w:seen", "w:lost")
		if n := store.Writes("w") - before; n > 0 {
			t.Errorf("%d writes while the loop stood still", n)
		}
		pass(time.Minute)
		k.want(t, "w:seen", "w:lost", "w:moved")
		if n := store.Writes("w") - before; n > 8 {
			t.Errorf("%d writes in the half minute after the loop went on: missed beats were made up", n)
		}
	})
}

// A read that fails, or hangs, counts for nobody: half an hour without the store, on
// the master's side only or on both, and nobody is lost. Misses go on where they were.
func TestFailedReadsCountForNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		s := unstarted(t, Config{})
		k := newKeeper(t, s, store)
		newBeater(t, s, store, "w")
		pass(7 * time.Second) // A read lies between the two.
		dead := newBeater(t, s, store, "x")
		pass(time.Minute)
		dead.beat.Stop()
		pass(12 * time.Second)
		store.FailReads(errors.New("stale: the follower has lost its leader"))
		pass(30 * time.Minute)
		store.FailReads(nil)
		store.Hang(true)
		pass(30 * time.Minute)
		k.want(t, "w:seen", "x:seen")
		store.Hang(false)
		pass(16 * time.Second)
		k.want(t, "w:seen", "x:seen", "x:lost")
		pass(time.Hour)
		k.want(t, "w:seen", "x:seen", "x:lost")
	})
}

// A master that stands still, or is busy, counts no misses meanwhile.
func TestBusyMasterCountsNoMisses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		s := unstarted(t, Config{})
		k := newKeeper(t, s, store)
		b := newBeater(t, s, store, "w")
		pass(time.Minute)
		// The worker pauses for less than is allowed, while the master pauses for longer.
		b.busy(14 * time.Second)
		k.busy(10 * time.Minute)
		pass(11 * time.Minute)
		k.want(t, "w:seen")
	})
}

// A worker that cannot write for long enough fences itself, on its own loop, by the
// time at which its last good write was begun.
func TestWorkerThatCannotWriteFencesItself(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		s := unstarted(t, Config{})
		l := newLoop(t)
		fence := newFence(t, s.Config(), Counter, s.Now())
		failed := 0
		beat, err := NewCounterBeat(s, CounterWriter[workerID](store), "w", l.run, func(began time.Duration, err error) {
			if err != nil {
				failed++
				return
			}
			fence.Wrote(began)
		})
		if err == nil {
			err = beat.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		defer beat.Stop()
		reason := func() (r FenceReason) {
			l.do(func() { r = fence.Tick(s.Now()) })
			return r
		}
		pass(10 * time.Minute)
		store.FailWrites(errors.New("no quorum"))
		pass(54 * time.Second)
		if r := reason(); r != 0 {
			t.Errorf("fenced after 54 s: %s", r)
		}
		store.FailWrites(nil)
		pass(10 * time.Second)
		store.Hang(true)
		pass(54 * time.Second)
		if r := reason(); r != 0 {
			t.Errorf("fenced after 54 s: %s", r)
		}
		pass(7 * time.Second)
		if r := reason(); r != Orphaned || failed == 0 {
			t.Errorf("after 61 s: %s, %d writes failed", r, failed)
		}
		store.Hang(false)
		pass(time.Minute)
		if r := reason(); r != Orphaned {
			t.Error("a fenced worker let itself back in")
		}
		l.do(func() { fence.Registered(s.Now()) })
		if r := reason(); r != 0 {
			t.Errorf("registered anew: %s", r)
		}
	})
}

// The number of workers changes the interval of each at once, in both directions.
func TestIntervalFollowsTheNumberOfWorkers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		b := newBeater(t, unstarted(t, Config{}), store, "w")
		for _, c := range []struct {
			workers int
			every   time.Duration
		}{{1, 5 * time.Second}, {40_000, 200 * time.Second}, {20, 5 * time.Second}} {
			b.beat.SetWorkers(c.workers)
			pass(time.Second)
			before := store.Writes("w")
			pass(time.Hour)
			want := int(time.Hour / c.every)
			if n := store.Writes("w") - before; n < want-1 || n > want+1 || b.beat.Every() != c.every {
				t.Errorf("%d workers: %d writes in an hour, want %d", c.workers, n, want)
			}
		}
	})
}

// Both sides keep the contract of what is started and stopped.
func TestCounterLifecycle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		store := heartbeattest.NewCounters[workerID]()
		s := unstarted(t, Config{})
		type service interface {
			Start(ctx context.Context) error
			Stop()
		}
		inline := func(f func()) { f() }
		makers := []func() (service, error){
			func() (service, error) {
				return NewCounterWatch(s, CounterReader[workerID](store), inline, func([]CounterEvent[workerID]) {})
			},
			func() (service, error) {
				return NewCounterBeat(s, CounterWriter[workerID](store), "w", inline, func(time.Duration, error) {})
			},
			func() (service, error) { return New(Config{}) },
		}
		for _, maker := range makers {
			make := func() service {
				v, err := maker()
				if err != nil {
					t.Fatal(err)
				}
				return v
			}
			unstarted := make()
			unstarted.Stop()
			unstarted.Stop()
			if err := unstarted.Start(t.Context()); !errors.Is(err, ErrStopped) {
				t.Errorf("start after stop: %v", err)
			}
			v := make()
			if err := v.Start(t.Context()); err != nil {
				t.Error(err)
			}
			if err := v.Start(t.Context()); err == nil {
				t.Error("started twice")
			}
			pass(time.Minute)
			v.Stop()
			v.Stop()
			ended, cancel := context.WithCancel(t.Context())
			v = make()
			if err := v.Start(ended); err != nil {
				t.Error(err)
			}
			cancel()
			pass(time.Second)
			v.Stop()
		}
	})
}
