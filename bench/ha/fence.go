package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/leatdata/leat/zk"
)

// fenced is what writes have taken.
type fenced struct {
	writes        int
	plain, fenced []time.Duration
}

// fence measures plain and fenced writes of one node, one after the other.
func (m *meter) fence(ctx context.Context, writes int) (*fenced, error) {
	cfg := zk.Config{SessionTimeout: 10 * time.Second}
	for _, member := range m.ensemble.Members() {
		cfg.Servers = append(cfg.Servers, member.Addr())
	}
	client, err := zk.New(cfg)
	if err != nil {
		return nil, err
	}
	terms := make(chan *zk.Term, 1)
	leader, err := zk.NewLeader(zk.LeaderConfig{
		Client: client, Path: "/fence",
		Lead: func(ctx context.Context, t *zk.Term) {
			terms <- t
			<-ctx.Done()
		},
	})
	if err != nil {
		return nil, err
	}
	if err := client.Start(ctx); err != nil {
		return nil, err
	}
	defer client.Stop()
	if err := leader.Start(ctx); err != nil {
		return nil, err
	}
	defer leader.Stop()
	term := <-terms
	if _, err := term.Session().Create(ctx, "/written", nil, zk.Persistent); err != nil {
		return nil, err
	}
	f := &fenced{writes: writes}
	data := make([]byte, 100)
	for i := range writes + writes/10 {
		start := time.Now()
		_, err := term.Session().Set(ctx, "/written", data, zk.AnyVersion)
		plain := time.Since(start)
		if err != nil {
			return nil, err
		}
		start = time.Now()
		if _, err := term.Multi(ctx, zk.SetOp("/written", data, zk.AnyVersion)); err != nil {
			return nil, err
		}
		if i >= writes/10 {
			f.plain, f.fenced = append(f.plain, plain), append(f.fenced, time.Since(start))
		}
	}
	return f, nil
}

func (f *fenced) print(w io.Writer) {
	ratio := float64(quantile(f.fenced, 0.5)) / float64(quantile(f.plain, 0.5))
	fmt.Fprintf(w, "%d writes of 100 bytes of each kind, in turn\n\n", f.writes)
	fmt.Fprintln(w, "| write | p50 | p99 |")
	fmt.Fprintln(w, "| --- | ---: | ---: |")
	fmt.Fprintf(w, "| plain | %s | %s |\n", micro(quantile(f.plain, 0.5)), micro(quantile(f.plain, 0.99)))
	fmt.Fprintf(w, "| fenced (zk.Term.Multi) | %s | %s |\n\n", micro(quantile(f.fenced, 0.5)), micro(quantile(f.fenced, 0.99)))
	fmt.Fprintf(w, "| goal | reached | |\n| --- | ---: | --- |\n| fenced ≤ 1.2 × plain, p50 | %.2f | %s |\n", ratio, verdict(ratio <= 1.2))
}

func micro(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
