package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/anthdm/hollywood/actor"
	"github.com/leatdata/leat/rpc"
)

// local is a workload within one process: senders one-way messages, or an ask.
type local struct {
	name    string
	senders int // 0: an ask
}

func locals() []local {
	return []local{{"local one-way, 1 sender", 1}, {"local one-way, 8 senders", 8}, {"local ask", 0}}
}

const localTells = 4_000_000

// channel is the limit that Go itself sets.
func (l local) channel(d time.Duration) (float64, error) {
	if l.senders == 0 {
		return perSecond(d, channelAsk())
	}
	c := make(chan []byte, 4096)
	payload := make([]byte, 64)
	began := time.Now()
	var all sync.WaitGroup
	for range l.senders {
		all.Go(func() {
			for range localTells / l.senders {
				c <- payload
			}
		})
	}
	go func() { all.Wait(); close(c) }()
	n := 0
	for range c {
		n++
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// channelAsk is a request over a channel that carries the channel for its reply.
func channelAsk() func() error {
	type request struct {
		payload []byte
		reply   chan []byte
	}
	requests := make(chan request, 64)
	go func() {
		for r := range requests {
			r.reply <- r.payload
		}
	}()
	payload, reply := make([]byte, 64), make(chan []byte, 1)
	return func() error {
		requests <- request{payload, reply}
		<-reply
		return nil
	}
}

func perSecond(d time.Duration, f func() error) (float64, error) {
	began, n := time.Now(), 0
	for time.Since(began) < d {
		for range 100 {
			if err := f(); err != nil {
				return 0, err
			}
		}
		n += 100
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// hollywood is the same with an actor of that library.
func (l local) hollywood(d time.Duration) (float64, error) {
	engine, err := actor.NewEngine(actor.NewEngineConfig())
	if err != nil {
		return 0, err
	}
	n, want := 0, localTells/max(1, l.senders)*l.senders
	done := make(chan struct{})
	asked := l.senders == 0
	pid := engine.SpawnFunc(func(c *actor.Context) {
		if payload, ok := c.Message().([]byte); !ok {
			return
		} else if asked {
			c.Respond(payload)
			return
		}
		if n++; n == want {
			close(done)
		}
	}, "echo")
	defer func() { <-engine.Poison(pid).Done() }()
	payload := make([]byte, 64)
	if asked {
		return perSecond(d, func() error {
			_, err := engine.Request(pid, payload, time.Second).Result()
			return err
		})
	}
	began := time.Now()
	for range l.senders {
		go func() {
			for range localTells / l.senders {
				engine.Send(pid, payload)
			}
		}()
	}
	<-done
	return float64(want) / time.Since(began).Seconds(), nil
}

// leat is the same with an endpoint.
func (l local) leat(d time.Duration) (rate float64, err error) {
	env, err := rpc.New(rpc.Config{})
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	defer func() { err = errors.Join(err, env.Stop(ctx)) }()
	n, want := 0, localTells/max(1, l.senders)*l.senders
	done := make(chan struct{})
	ref, err := env.Register("echo", rpc.Endpoint{Handlers: []rpc.Handler{
		rpc.Reply(func(_ context.Context, b rpc.Bytes) (rpc.Bytes, error) { return b, nil }),
		rpc.Receive(func(context.Context, rpc.Bytes) error {
			if n++; n == want {
				close(done)
			}
			return nil
		}),
	}})
	if err != nil {
		return 0, err
	}
	payload := make(rpc.Bytes, 64)
	if l.senders == 0 {
		return perSecond(d, func() error {
			_, err := rpc.Ask[rpc.Bytes](ctx, ref, payload)
			return err
		})
	}
	began := time.Now()
	errs := make(chan error, l.senders)
	for range l.senders {
		go func() {
			for range localTells / l.senders {
				if err := rpc.SendWait(ctx, ref, payload); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	select {
	case <-done:
		return float64(want) / time.Since(began).Seconds(), nil
	case err := <-errs:
		return 0, err
	}
}
