package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"
)

// The messages of the tests.
type (
	note struct {
		From int `rpc:"1"`
		Seq  int `rpc:"2"`
	}
	question struct {
		Text string `rpc:"1"`
	}
	reply struct {
		Text string   `rpc:"1"`
		List []string `rpc:"2"`
	}
	letter struct {
		To   Ref    `rpc:"1"`
		Body []byte `rpc:"2"`
	}
	stray struct {
		N int `rpc:"1"`
	}
)

func messages() []MessageType {
	return []MessageType{
		Define[note]("note"), Define[question]("question"), Define[reply]("reply"),
		Define[letter]("letter"), Define[stray]("stray"),
	}
}

// newEnv starts an Env and stops it with the test.
func newEnv(t testing.TB, cfg Config) *Env {
	t.Helper()
	if cfg.Messages == nil {
		cfg.Messages = messages()
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
	env, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopEnv(t, env) })
	return env
}

func stopEnv(t testing.TB, env *Env) {
	t.Helper()
	if err := env.Stop(context.Background()); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// pair is two Envs of one in-memory network.
func pair(t testing.TB, change func(server, client *Config)) (server, client *Env) {
	t.Helper()
	network := NewMemory()
	a := Config{Listen: "server:0", Transport: network}
	b := Config{Listen: "client:0", Transport: network}
	if change != nil {
		change(&a, &b)
	}
	return newEnv(t, a), newEnv(t, b)
}

// overTCP is pair over loopback sockets.
func overTCP(t testing.TB, change func(server, client *Config)) (server, client *Env) {
	t.Helper()
	return pair(t, func(a, b *Config) {
		a.Transport, b.Transport = nil, nil
		a.Listen, b.Listen = "127.0.0.1:0", "127.0.0.1:0"
		if change != nil {
			change(a, b)
		}
	})
}

func register(t testing.TB, env *Env, name string, ep Endpoint) Ref {
	t.Helper()
	ref, err := env.Register(name, ep)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// echo answers a question with its text.
func echo() Handler {
	return Reply(func(_ context.Context, q question) (reply, error) { return reply{Text: q.Text}, nil })
}

// mustAsk asks and checks the text of the reply.
func mustAsk(t testing.TB, ref Ref, text, want string) {
	t.Helper()
	got, err := Ask[reply](t.Context(), ref, question{text})
	if err != nil || got.Text != want {
		t.Fatalf("ask %s %q: got %q, %v; want %q", ref, text, got.Text, err, want)
	}
}

func wantErr(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got the error %v, want %v", got, want)
	}
}

// receive waits for a value, with a bound that only a broken test meets.
func receive[T any](t testing.TB, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatal("nothing came for a minute")
		panic("unreachable")
	}
}

// eventually waits for a condition that something else brings about.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for range 60_000 {
		if holds() {
			return
		}
		<-ticker.C
	}
	t.Fatal("never came about: " + what)
}

var errBroken = fmt.Errorf("broken on purpose")
