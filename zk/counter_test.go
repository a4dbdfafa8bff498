package zk

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// A set that was done and whose reply is lost costs its number, and no more.
func TestCounterSkipsNumbersWhoseReplyIsLost(t *testing.T) {
	r := newRig(t)
	c, ctx := NewCounter(r.client(t, r.only(0, longTimeout)), "/counters/ids"), bounded(t)
	var last int64
	for i := range 20 {
		if i%3 == 1 {
			dropped := r.proxies[0].DropZooKeeperReply(testenv.ZooKeeperSetData, "/counters/ids")
			defer func() { happens(t, dropped, "the loss of a reply") }()
		}
		n, err := c.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if n <= last {
			t.Errorf("number %d after %d", n, last)
		}
		last = n
	}
	if last < 20+6 {
		t.Errorf("20 numbers, with 7 sets whose reply was lost, end at %d", last)
	}
	if first, err := c.Take(ctx, 10); err != nil || first != last+1 {
		t.Errorf("took ten from %d on, after %d (%v)", first, last, err)
	}
	if next, err := c.Next(ctx); err != nil || next != last+11 {
		t.Errorf("after ten: %d (%v)", next, err)
	}
}

// Cut: many count at once while connections are cut and replies lost.
func TestCounterUnderCutsGivesNoNumberTwice(t *testing.T) {
	r := newRig(t)
	ctx := bounded(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	seen := map[int64]bool{}
	var counting sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		c := NewCounter(r.client(t, r.proxied(longTimeout)), "/ids")
		counting.Go(func() {
			var last int64
			for range 40 {
				n, err := c.Next(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[n] || n <= last {
					t.Errorf("number %d was given before, or after %d", n, last)
				}
				seen[n], last = true, n
				mu.Unlock()
			}
		})
	}
	var cutting sync.WaitGroup
	cutting.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 0))
		for {
			p := r.proxies[rng.IntN(len(r.proxies))]
			var event <-chan struct{}
			if rng.IntN(2) == 0 {
				event = p.DropZooKeeperReply(testenv.ZooKeeperSetData, "/ids")
			} else {
				event = p.CutAfter(testenv.Direction(rng.IntN(2)), rng.Int64N(2000))
			}
			select {
			case <-event:
			case <-done:
				return
			}
		}
	})
	counting.Wait()
	close(done)
	cutting.Wait()
}

func TestCounterRefusesWhatIsNoNumber(t *testing.T) {
	r := newRig(t)
	client, ctx := r.client(t, r.direct(longTimeout)), bounded(t)
	if _, err := mustSession(t, client).Create(ctx, "/ids", []byte("many"), Persistent); err != nil {
		t.Fatal(err)
	}
	c := NewCounter(client, "/ids")
	if _, err := c.Next(ctx); !errors.Is(err, ErrBadArguments) {
		t.Errorf("error is %v", err)
	}
	if _, err := c.Take(ctx, 0); !errors.Is(err, ErrBadArguments) {
		t.Errorf("error is %v", err)
	}
}
