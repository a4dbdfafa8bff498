package rpc

import (
	"context"
	"testing"
)

// sinkOf registers an endpoint that echoes asks, and closes done behind the nth
// one-way message.
func sinkOf(b testing.TB, env *Env, n int) (done chan struct{}) {
	b.Helper()
	done = make(chan struct{})
	register(b, env, "sink", Endpoint{Handlers: []Handler{
		Receive(func(context.Context, Bytes) error {
			if n--; n == 0 {
				close(done)
			}
			return nil
		}),
		Reply(func(_ context.Context, m Bytes) (Bytes, error) { return m, nil }),
		echo(),
	}})
	return done
}

func benchTell(b *testing.B, env *Env, ref Ref) {
	b.Helper()
	done := sinkOf(b, env, b.N)
	msg := make(Bytes, 64)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := SendWait(context.Background(), ref, msg); err != nil {
			b.Fatal(err)
		}
	}
	<-done
}

func BenchmarkTellLocal(b *testing.B) {
	env := newEnv(b, Config{})
	benchTell(b, env, env.Ref("sink"))
}

func BenchmarkTellTCP(b *testing.B) {
	server, client := overTCP(b, nil)
	benchTell(b, server, client.RefAt(server.Addr(), "sink"))
}

func benchAsk(b *testing.B, ref Ref) {
	b.Helper()
	msg := make(Bytes, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ask[Bytes](context.Background(), ref, msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAskLocal(b *testing.B) {
	env := newEnv(b, Config{})
	sinkOf(b, env, 0)
	benchAsk(b, env.Ref("sink"))
}

func BenchmarkAskTCP(b *testing.B) {
	server, client := overTCP(b, nil)
	sinkOf(b, server, 0)
	benchAsk(b, client.RefAt(server.Addr(), "sink"))
}

func BenchmarkAskTCPInParallel(b *testing.B) {
	server, client := overTCP(b, nil)
	sinkOf(b, server, 0)
	ref := client.RefAt(server.Addr(), "sink")
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		msg := make(Bytes, 64)
		for p.Next() {
			if _, err := Ask[Bytes](context.Background(), ref, msg); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
