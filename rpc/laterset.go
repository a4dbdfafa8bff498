package rpc

import (
	"sync"
	"time"
)

// laterSet is an endpoint's calls that are to be answered later.
type laterSet struct {
	mu      sync.Mutex
	pending map[*pendingReply]struct{}
}

func (s *laterSet) add(p *pendingReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pending == nil {
		s.pending = map[*pendingReply]struct{}{}
	}
	s.pending[p] = struct{}{}
}

func (s *laterSet) remove(p *pendingReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, p)
}

// abandon fails all that are left when the endpoint has ended.
func (s *laterSet) abandon() {
	s.mu.Lock()
	rest := s.pending
	s.pending = nil
	s.mu.Unlock()
	for p := range rest {
		p.abandon()
	}
}

// sweepEvery is how often the janitor looks for calls that were let go.
const sweepEvery = time.Second

// janitor fails the calls that the garbage collector has found. The collector's
// own goroutine must not do it: it must neither wait nor call back.
type janitor struct {
	mu   sync.Mutex
	left []*pendingReply
}

func (j *janitor) leave(p *pendingReply) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.left = append(j.left, p)
}

func (j *janitor) sweep() {
	j.mu.Lock()
	left := j.left
	j.left = nil
	j.mu.Unlock()
	for _, p := range left {
		p.abandon()
	}
}

// run sweeps until stop is closed.
func (j *janitor) run(stop <-chan struct{}) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			j.sweep()
		case <-stop:
			return
		}
	}
}
