package heartbeat_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/rpc"
)

// The workers of the benchmark: many endpoints on each of many connections.
const (
	benchEnvs    = 100
	benchPerEnv  = 100
	benchTargets = benchEnvs * benchPerEnv
)

var _ = heartbeat.AsProcess("workers", workersProcess)

// workersProcess answers for all workers of the benchmark, until it is killed.
func workersProcess() {
	ctx := context.Background()
	var at []string
	one := int64(1)
	for range benchEnvs {
		env, err := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: messages()})
		if err == nil {
			err = env.Start(ctx)
		}
		if err != nil {
			fail(err)
		}
		master := env.RefAt(rpc.Addr(os.Getenv(masterKey)), "master")
		for i := range benchPerEnv {
			name := fmt.Sprintf("worker-%d-%d", len(at), i)
			_, err := env.Register(name, rpc.Endpoint{Handlers: []rpc.Handler{
				rpc.Receive(func(_ context.Context, m pulse[int64]) error {
					return rpc.Send(master, pulse[int64]{From: heartbeat.ID(name), Payload: &one})
				}),
			}})
			if err != nil {
				fail(err)
			}
		}
		at = append(at, string(env.Addr()))
	}
	fmt.Printf("at %s\n", strings.Join(at, " "))
	select {}
}

// The processor's share that a sender of 10,000 targets takes, over loopback rpc on
// 100 connections, at an interval of one second: at the default of ten it is a
// tenth. The master's process is measured, with its rpc; the workers' is another.
// An iteration is an interval.
func BenchmarkSenderOverRPC(b *testing.B) {
	cfg := heartbeat.Config{Interval: time.Second, Timeout: 5 * time.Second}
	services, err := heartbeat.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	heard := 0
	lost := make(chan heartbeat.ID, benchTargets)
	master := &boss{onHeard: func(heartbeat.ID) { heard++ }, onLost: func(id heartbeat.ID, _ heartbeat.Loss) { lost <- id }}
	if err := services.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := startBoss(b.Context(), services, master); err != nil {
		b.Fatal(err)
	}
	defer func() {
		services.Stop()
		_ = master.env.Stop(context.Background())
	}()
	workers := testenv.StartProcess(b, testenv.Command{Path: os.Args[0], Env: []string{
		roleKey + "=workers", masterKey + "=" + string(master.env.Addr()),
	}})
	workers.WaitStdout(b, "\n")
	self := loopOf(master.env.Ref("master"))
	count := func(f func()) {
		done := make(chan struct{})
		self(func() {
			defer close(done)
			f()
		})
		<-done
	}
	for i, addr := range strings.Fields(strings.TrimPrefix(workers.Stdout(), "at ")) {
		for j := range benchPerEnv {
			name := fmt.Sprintf("worker-%d-%d", i, j)
			if _, err := master.sender.Monitor(heartbeat.ID(name), target[int64](master.env.RefAt(rpc.Addr(addr), name))); err != nil {
				b.Fatal(err)
			}
		}
	}
	<-time.NewTimer(2 * cfg.Interval).C // Connections are made in the first.
	count(func() { heard = 0 })
	used, began := used(b), time.Now()
	ticker := time.NewTicker(cfg.Interval)
	defer ticker.Stop()
	for b.Loop() {
		<-ticker.C
	}
	cpu, wall := usedSince(b, used), time.Since(began)
	count(func() {
		b.ReportMetric(float64(heard)/wall.Seconds(), "answers/s")
		b.ReportMetric(100*cpu.Seconds()/wall.Seconds(), "%cpu")
		b.ReportMetric(float64(cpu.Nanoseconds())/float64(max(1, heard)), "cpu-ns/heartbeat")
	})
	select {
	case id := <-lost:
		b.Errorf("%s was lost", id)
	default:
	}
}

func used(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func usedSince(b *testing.B, before time.Duration) time.Duration {
	b.Helper()
	return used(b) - before
}
