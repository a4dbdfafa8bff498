package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// workload is what is measured: asks with a number in flight, or one-way
// messages.
type workload struct {
	name     string
	tell     bool
	inFlight int
	size     int
	// among is who takes part, the first being the limit.
	among []string
}

func workloads() []workload {
	return []workload{
		{"ask, 1 in flight, 64 B", false, 1, 64, []string{"raw", "leat", "leat-tls", "grpc-stream", "grpc-unary", "net/rpc", "nats"}},
		{"ask, 64 in flight, 64 B", false, 64, 64, []string{"raw", "raw-callers", "leat", "leat-tls", "leat-typed", "grpc-stream", "grpc-typed", "grpc-unary", "net/rpc", "nats"}},
		{"ask, 64 in flight, 1 KiB", false, 64, 1024, []string{"raw", "raw-callers", "leat", "leat-tls", "grpc-stream", "grpc-unary", "net/rpc", "nats"}},
		{"one-way, 1 sender, 64 B", true, 1, 64, []string{"raw", "leat", "leat-tls", "grpc-stream", "nats"}},
	}
}

// result is what one run of a workload gave.
type result struct {
	// Rate is messages per second, P50 the median time of one ask.
	Rate float64
	P50  time.Duration
	// CPU is what both processes used per message.
	CPU time.Duration
	// Allocs is the client's allocations per message.
	Allocs float64
}

// run does a workload for about d.
func (w workload) run(c client, d time.Duration) (result, int64, error) {
	payload := make([]byte, w.size)
	for range 200 {
		if err := c.ask(payload); err != nil {
			return result{}, 0, err
		}
	}
	switch p, pipelines := c.(pipeliner); {
	case w.tell:
		return w.runTell(c, payload, d)
	case w.inFlight == 1:
		return w.runOne(c, payload, d)
	case pipelines:
		end := time.Now().Add(d)
		began := time.Now()
		n, err := p.pipeline(w.inFlight, payload, func() bool { return time.Now().After(end) })
		return result{Rate: float64(n) / time.Since(began).Seconds()}, n, err
	default:
		return w.runMany(c, payload, d)
	}
}

func (w workload) runOne(c client, payload []byte, d time.Duration) (result, int64, error) {
	took := make([]time.Duration, 0, 1<<18)
	began := time.Now()
	for time.Since(began) < d {
		start := time.Now()
		if err := c.ask(payload); err != nil {
			return result{}, 0, err
		}
		took = append(took, time.Since(start))
	}
	n := int64(len(took))
	rate := float64(n) / time.Since(began).Seconds()
	slices.Sort(took)
	return result{Rate: rate, P50: took[len(took)/2]}, n, nil
}

func (w workload) runMany(c client, payload []byte, d time.Duration) (result, int64, error) {
	var done atomic.Int64
	var stop atomic.Bool
	var failed atomic.Value
	var all sync.WaitGroup
	began := time.Now()
	for range w.inFlight {
		all.Go(func() {
			n := int64(0)
			for !stop.Load() {
				if err := c.ask(payload); err != nil {
					failed.Store(err)
					break
				}
				n++
			}
			done.Add(n)
		})
	}
	timer := time.NewTimer(d)
	<-timer.C
	stop.Store(true)
	all.Wait()
	took := time.Since(began)
	err, _ := failed.Load().(error)
	return result{Rate: float64(done.Load()) / took.Seconds()}, done.Load(), err
}

// runTell counts what has been handled, not what was sent.
func (w workload) runTell(c client, payload []byte, d time.Duration) (result, int64, error) {
	began := time.Now()
	sent := int64(0)
	for time.Since(began) < d {
		for range 1000 {
			if err := c.tell(payload); err != nil {
				return result{}, 0, err
			}
		}
		sent += 1000
	}
	for {
		got, err := c.received()
		if err != nil {
			return result{}, 0, err
		}
		took := time.Since(began)
		switch {
		case got == sent:
			return result{Rate: float64(sent) / took.Seconds()}, sent, nil
		case got > sent, took > d+30*time.Second:
			return result{}, 0, fmt.Errorf("%d sent, %d arrived", sent, got)
		}
	}
}
