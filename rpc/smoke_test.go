package rpc

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestSmoke(t *testing.T) {
	env := newEnv(t, Config{})
	ref := register(t, env, "echo", Endpoint{Handlers: []Handler{echo()}})
	mustAsk(t, ref, "a", "a")
	server, client := overTCP(t, nil)
	register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
	mustAsk(t, client.RefAt(server.Addr(), "echo"), "b", "b")
	synctest.Test(t, func(t *testing.T) {
		server, client := pair(t, nil)
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "b", "b")
	})
}

func BenchmarkLocalTell(b *testing.B) {
	env := newEnv(b, Config{})
	done := make(chan struct{})
	n, total := 0, b.N
	ref := register(b, env, "sink", Endpoint{Handlers: []Handler{Receive(func(context.Context, Bytes) error {
		if n++; n == total {
			close(done)
		}
		return nil
	})}})
	msg := Bytes(make([]byte, 64))
	b.ReportAllocs()
	b.ResetTimer()
	for range total {
		if err := SendWait(context.Background(), ref, msg); err != nil {
			b.Fatal(err)
		}
	}
	<-done
}

func BenchmarkLocalAsk(b *testing.B) {
	env := newEnv(b, Config{})
	ref := register(b, env, "sink", Endpoint{Handlers: []Handler{Reply(func(_ context.Context, m Bytes) (Bytes, error) {
		return m, nil
	})}})
	msg := Bytes(make([]byte, 64))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ask[Bytes](context.Background(), ref, msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChannelAsk(b *testing.B) {
	reqs, resps := make(chan []byte), make(chan []byte)
	go func() {
		for r := range reqs {
			resps <- r
		}
	}()
	msg := make([]byte, 64)
	for b.Loop() {
		reqs <- msg
		<-resps
	}
	close(reqs)
}

func BenchmarkChannelTell(b *testing.B) {
	c := make(chan []byte, 1024)
	done := make(chan int)
	go func() {
		n := 0
		for range c {
			n++
		}
		done <- n
	}()
	msg := make([]byte, 64)
	for b.Loop() {
		c <- msg
	}
	close(c)
	<-done
}

func BenchmarkRemoteTell(b *testing.B) {
	server, client := overTCP(b, nil)
	done := make(chan struct{})
	n, total := 0, b.N
	register(b, server, "sink", Endpoint{Handlers: []Handler{Receive(func(context.Context, Bytes) error {
		if n++; n == total {
			close(done)
		}
		return nil
	})}})
	ref := client.RefAt(server.Addr(), "sink")
	msg := Bytes(make([]byte, 64))
	b.ReportAllocs()
	b.ResetTimer()
	for range total {
		if err := SendWait(context.Background(), ref, msg); err != nil {
			b.Fatal(err)
		}
	}
	<-done
}

func BenchmarkRemoteAsk(b *testing.B) {
	server, client := overTCP(b, nil)
	register(b, server, "sink", Endpoint{Handlers: []Handler{Reply(func(_ context.Context, m Bytes) (Bytes, error) {
		return m, nil
	})}})
	ref := client.RefAt(server.Addr(), "sink")
	msg := Bytes(make([]byte, 64))
	for _, n := range []int{1, 64} {
		b.Run(map[int]string{1: "1", 64: "64"}[n], func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(n / 2)
			if n == 1 {
				for b.Loop() {
					if _, err := Ask[Bytes](context.Background(), ref, msg); err != nil {
						b.Fatal(err)
					}
				}
				return
			}
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := Ask[Bytes](context.Background(), ref, msg); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
