package heartbeat

import (
	"context"
	"sync"
	"testing"
	"time"
)

// busiest is a store that knows how many writes there were in each second.
type busiest struct {
	mu     sync.Mutex
	began  time.Time
	writes map[int]int
}

// Write implements CounterWriter.
func (b *busiest) Write(context.Context, workerID, uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writes[int(time.Since(b.began)/time.Second)]++
	return nil
}

// most is the most that were written in one second, from one on.
func (b *busiest) most(from time.Duration) (most, all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for second, n := range b.writes {
		if second >= int(from/time.Second) {
			most, all = max(most, n), all+n
		}
	}
	return most, all
}

func (b *busiest) now() time.Duration { return time.Since(b.began) }

// The bound on all writes holds in each second, and not only on average: workers
// that were started together, and hear together that they are many, or fewer, do
// not write together.
func TestWritesAreSpreadWhenTheIntervalChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const workers, maxWrites = 600, 40
		s := unstarted(t, Config{Counter: CounterConfig{MaxWrites: maxWrites}})
		store := &busiest{began: time.Now(), writes: map[int]int{}}
		var beats []*CounterBeat[workerID]
		for i := range workers {
			beat, err := NewCounterBeat(s, CounterWriter[workerID](store), workerID(name(i)), func(f func()) { f() },
				func(time.Duration, error) {})
			if err == nil {
				err = beat.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(beat.Stop)
			beats = append(beats, beat)
		}
		pass(12 * time.Second)
		for _, c := range []struct{ told, perSecond int }{
			{workers, maxWrites}, // Each 15 s.
			{workers + 7, maxWrites},
			{1, workers / 5}, // Each 5 s, and all at once on no account.
			{workers, maxWrites},
		} {
			for range 5 { // As with each heartbeat of their master's.
				for _, beat := range beats {
					beat.SetWorkers(c.told)
				}
				pass(3 * time.Second)
			}
			from := store.now()
			pass(2 * time.Minute)
			most, all := store.most(from - 14*time.Second)
			// The phases are chance: six times its spread, and it is no chance.
			if bound := c.perSecond + 6*root(c.perSecond); most > bound {
				t.Errorf("told %d: %d writes in one second, want %d, and by chance %d", c.told, most, c.perSecond, bound)
			}
			if want := 134 * c.perSecond; all < want*9/10 || all > want*11/10 {
				t.Errorf("told %d: %d writes in 134 s, want %d", c.told, all, want)
			}
		}
	})
}

// root is a square root, rounded up.
func root(n int) (r int) {
	for r*r < n {
		r++
	}
	return r
}
