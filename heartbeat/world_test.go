package heartbeat

import (
	"sync"
	"testing"
	"time"
)

// world runs what is to happen at its time, to a millisecond, one after the other on
// one goroutine: a network and the loops of very many workers, at the cost of none each.
type world struct {
	began time.Time
	wake  chan struct{}

	mu sync.Mutex
	// slots are a wheel of milliseconds, of which those before passed are over. The
	// goroutine sleeps until the one that is numbered next.
	slots        [4096][]func()
	passed, next int64
}

func newWorld(t *testing.T) *world {
	w := &world{began: time.Now(), wake: make(chan struct{}, 1)}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.serve(end)
	}()
	t.Cleanup(func() {
		close(end)
		<-ended
	})
	return w
}

// after lets something happen in d, behind what happens at the same time already. It
// may be called from any goroutine.
func (w *world) after(d time.Duration, f func()) {
	at := int64((time.Since(w.began) + d + time.Millisecond - 1) / time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if at-w.passed >= int64(len(w.slots)) {
		panic("too far in the future for this world")
	}
	slot := &w.slots[at%int64(len(w.slots))]
	*slot = append(*slot, f)
	if at < w.next {
		w.next = at
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

func (w *world) serve(end chan struct{}) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		due, wait := w.due()
		for _, f := range due {
			f()
		}
		if due != nil {
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-w.wake:
		case <-end:
			return
		}
	}
}

// due takes the first slot whose time has come; nil: none, for so long.
func (w *world) due() (due []func(), wait time.Duration) {
	now := time.Since(w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	n := int64(len(w.slots))
	for ; w.passed <= int64(now/time.Millisecond); w.passed++ {
		if slot := &w.slots[w.passed%n]; len(*slot) > 0 {
			due, *slot = *slot, nil
			return due, 0
		}
	}
	for w.next = w.passed; w.next < w.passed+n-1 && len(w.slots[w.next%n]) == 0; {
		w.next++
	}
	return nil, time.Duration(w.next)*time.Millisecond - now
}

// villager is a worker of a world. Its loop is the world's, unless it is busy.
type villager struct {
	*world
	manager *passive
	busy    time.Time
	lost    int
}

// run is its Executor.
func (v *villager) run(f func()) {
	v.after(0, func() { v.turn(f) })
}

func (v *villager) turn(f func()) {
	if wait := time.Until(v.busy); wait > 0 {
		v.after(wait, func() { v.turn(f) })
		return
	}
	f()
}

// pause keeps it from handling anything for d.
func (v *villager) pause(d time.Duration) { v.run(func() { v.busy = time.Now().Add(d) }) }

// Timeout implements Listener.
func (v *villager) Timeout(ID, Loss) { v.lost++ }

// ReportPayload implements Listener.
func (v *villager) ReportPayload(ID, *string) {}

// RetrievePayload implements Listener.
func (v *villager) RetrievePayload(ID) *string { return nil }
