package rpc

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

var update = flag.Bool("update", false, "write golden frames that are missing; one that is there is never changed")

// everything has a field of each form that the codec knows.
type everything struct {
	Bool     bool              `rpc:"1"`
	Int      int               `rpc:"2"`
	Small    int8              `rpc:"3"`
	Uint     uint64            `rpc:"4"`
	Half     float32           `rpc:"5"`
	Float    float64           `rpc:"6"`
	Text     string            `rpc:"7"`
	Raw      []byte            `rpc:"8"`
	ID       [4]byte           `rpc:"9"`
	When     time.Time         `rpc:"10"`
	Wait     time.Duration     `rpc:"11"`
	Nothing  *int              `rpc:"12"`
	Zero     *int              `rpc:"13"`
	Nested   note              `rpc:"14"`
	Pointer  *note             `rpc:"15"`
	Numbers  []int32           `rpc:"16"`
	Texts    []string          `rpc:"17"`
	Notes    []note            `rpc:"18"`
	Pointers []*note           `rpc:"19"`
	Map      map[string]int    `rpc:"20"`
	Notemap  map[uint32]note   `rpc:"21"`
	Flags    map[bool]string   `rpc:"22"`
	Ref      Ref               `rpc:"23"`
	Empty    []string          `rpc:"24"`
	Floats   []float64         `rpc:"25"`
	Left     map[string]string `rpc:"26"`
	Out      chan int          `rpc:"-"`
}

func full(env *Env) everything {
	zero := 0
	return everything{
		Bool: true, Int: -5, Small: -128, Uint: 1<<64 - 1, Half: 1.5, Float: -2.25, Text: "Gruß", Raw: []byte{0, 1, 255},
		ID: [4]byte{1, 2, 3, 4}, When: time.Date(2026, 12, 1, 13, 0, 0, 123456789, time.UTC), Wait: -time.Second,
		Zero: &zero, Nested: note{1, 2}, Pointer: &note{}, Numbers: []int32{1, -1, 1 << 30}, Texts: []string{"", "a"},
		Notes: []note{{}, {3, 4}}, Pointers: []*note{{5, 6}}, Map: map[string]int{"b": 2, "a": 1, "": 0},
		Notemap: map[uint32]note{7: {8, 9}}, Flags: map[bool]string{true: "yes", false: ""},
		Ref: env.RefAt("host:1", "worker"), Floats: []float64{0, 1},
	}
}

// goldens are the frames whose bytes are fixed for ever, by name.
func goldens(t *testing.T, env *Env) map[string][]byte {
	t.Helper()
	b := wire.NewBodies()
	codec := env.registry.byName["everything"].codec.(typed[everything])
	payload, err := codec.append(nil, full(env))
	if err != nil {
		t.Fatal(err)
	}
	nonce := bytes.Repeat([]byte{7}, wire.NonceSize)
	return map[string][]byte{
		"hello": b.Append(nil, wire.HandshakeVersion, wire.Hello, nil, wire.HelloBody{
			Magic: wire.Magic, MinVersion: 1, MaxVersion: 1, ID: [16]byte{1, 2}, Addr: "host:1", Number: 3, Nonce: nonce,
			Window: 1 << 20, MaxFrame: 16 << 20,
		}),
		"welcome": b.Append(nil, wire.HandshakeVersion, wire.Welcome, nil, wire.WelcomeBody{
			Version: 1, ID: [16]byte{3, 4}, Addr: "host:2", Nonce: nonce, Window: 1 << 20, MaxFrame: 16 << 20, Proof: nonce,
		}),
		"refusal": b.Append(nil, wire.HandshakeVersion, wire.Refusal, nil, wire.RefusalBody{Reason: "no"}),
		"proof":   b.Append(nil, wire.HandshakeVersion, wire.Proof, nil, wire.ProofBody{Proof: nonce}),
		"target":  wire.AppendDefine(nil, wire.Target, 0, "worker"),
		"type":    wire.AppendDefine(nil, wire.Type, 300, "everything"),
		"forget":  wire.AppendPlain(nil, wire.Version, wire.Forget, nil),
		"tell":    wire.AppendTell(nil, 0, 300, payload),
		"ask":     wire.AppendAsk(nil, 5<<32|6, 1500, 200, 1, []byte("payload")),
		"reply":   wire.AppendReply(nil, 5<<32|6, 1, []byte("payload")),
		"failure": b.Append(nil, wire.Version, wire.Failure, []byte{0, 0, 0, 5, 0, 0, 0, 6}, wire.FailureBody{Code: 1, Text: "t", Reason: "r"}),
		"credit":  wire.AppendCredit(nil, 200, 1<<20),
		"ping":    wire.AppendPlain(nil, wire.Version, wire.Ping, nil),
		"pong":    wire.AppendPlain(nil, wire.Version, wire.Pong, nil),
		"goodbye": b.Append(nil, wire.Version, wire.Goodbye, nil, wire.GoodbyeBody{Reason: "env stopped"}),
	}
}

// TestGoldenFrames holds that this release writes the newest version's frames
// byte by byte as they were fixed.
func TestGoldenFrames(t *testing.T) {
	env := newEnv(t, Config{Messages: append(messages(), Define[everything]("everything"))})
	folder := filepath.Join("testdata", "wire", "1")
	for name, data := range goldens(t, env) {
		path := filepath.Join(folder, name+".hex")
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) && *update {
			if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(path, []byte(hex.EncodeToString(data)+"\n"), 0o644)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(data); got != strings.TrimSpace(string(text)) {
			t.Errorf("%s is written as\n%s, fixed was\n%s", name, got, text)
		}
	}
}

// TestGoldenFramesOfEveryVersionAreRead replays the frames of each version that
// this release says it speaks, to an Env that handles them.
func TestGoldenFramesOfEveryVersionAreRead(t *testing.T) {
	versions, err := os.ReadDir(filepath.Join("testdata", "wire"))
	if err != nil || len(versions) != wire.Version-wire.MinVersion+1 {
		t.Fatalf("%d versions are fixed, %v", len(versions), err)
	}
	for _, version := range versions {
		t.Run(version.Name(), func(t *testing.T) {
			frame := func(name string) []byte {
				text, err := os.ReadFile(filepath.Join("testdata", "wire", version.Name(), name+".hex"))
				if err != nil {
					t.Fatal(err)
				}
				data, err := hex.DecodeString(strings.TrimSpace(string(text)))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			synctest.Test(t, func(t *testing.T) { replay(t, frame) })
		})
	}
}

func replay(t *testing.T, frame func(string) []byte) {
	network := NewMemory()
	server := newEnv(t, Config{
		Listen: "server:0", Transport: network, Messages: append(messages(), Define[everything]("everything")),
	})
	got := make(chan everything, 1)
	register(t, server, "worker", Endpoint{Handlers: []Handler{
		Receive(func(_ context.Context, e everything) error { got <- e; return nil }),
	}})
	s := dialStranger(t, network, server.Addr())
	s.send(frame("hello"))
	s.expect(wire.Welcome)
	// The numbers of the fixed frames are given in order first.
	var setup []byte
	for i := range 300 {
		setup = wire.AppendDefine(setup, wire.Type, uint32(i), "other")
	}
	s.send(setup)
	for _, name := range []string{"target", "type", "tell", "ping", "pong"} {
		s.send(frame(name))
	}
	e, want := <-got, full(server)
	if !reflect.DeepEqual(e, want) {
		t.Fatalf("read %+v, want %+v", e, want)
	}
	s.send(frame("forget"))
	s.send(frame("goodbye"))
	s.expectEnd()
	readBodies(t, frame)
}

// readBodies reads the frames that a listener does not get.
func readBodies(t *testing.T, frame func(string) []byte) {
	b := wire.NewBodies()
	body := func(name string, version uint8) []byte {
		f, size, err := wire.Cut(frame(name), version, 1<<20)
		if err != nil || size == 0 {
			t.Fatal(name, err)
		}
		return f.Body
	}
	var w wire.WelcomeBody
	var r wire.RefusalBody
	var p wire.ProofBody
	var f wire.FailureBody
	err := errors.Join(b.Decode(body("welcome", 0), &w), b.Decode(body("refusal", 0), &r), b.Decode(body("proof", 0), &p),
		b.Decode(body("failure", 1)[wire.IDSize:], &f))
	if err != nil || w.Addr != "host:2" || r.Reason != "no" || len(p.Proof) != wire.NonceSize || f.Text != "t" {
		t.Fatal(err, w, r, p, f)
	}
	ask, err := wire.ParseAsk(body("ask", 1))
	if err != nil || ask.ID != 5<<32|6 || ask.Millis != 1500 || ask.Target != 200 || string(ask.Payload) != "payload" {
		t.Fatal(err, ask)
	}
	rep, err := wire.ParseReply(body("reply", 1))
	if err != nil || rep.ID != 5<<32|6 || string(rep.Payload) != "payload" {
		t.Fatal(err, rep)
	}
	if target, n, err := wire.ParseCredit(body("credit", 1)); err != nil || target != 200 || n != 1<<20 {
		t.Fatal(err, target, n)
	}
}

// The two releases of a message in a rolling upgrade.
type (
	releaseOne struct {
		Name string `rpc:"1"`
		Old  int    `rpc:"2"`
	}
	releaseTwo struct {
		Name string          `rpc:"1"`
		New  map[string]note `rpc:"3"`
		Also *everything     `rpc:"4"`
		More []string        `rpc:"5"`
	}
)

func TestReleasesUnderstandEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		one := newEnv(t, Config{Listen: "one:0", Transport: network, Messages: []MessageType{Define[releaseOne]("m")}})
		two := newEnv(t, Config{Listen: "two:0", Transport: network, Messages: []MessageType{Define[releaseTwo]("m")}})
		olds, news := make(chan releaseOne, 1), make(chan releaseTwo, 1)
		register(t, one, "e", Endpoint{Handlers: []Handler{Receive(func(_ context.Context, m releaseOne) error { olds <- m; return nil })}})
		register(t, two, "e", Endpoint{Handlers: []Handler{Receive(func(_ context.Context, m releaseTwo) error { news <- m; return nil })}})
		e := full(two)
		err := errors.Join(
			Send(one.RefAt(two.Addr(), "e"), releaseOne{"n", 1}),
			Send(two.RefAt(one.Addr(), "e"), releaseTwo{"n", map[string]note{"x": {1, 2}}, &e, []string{"a", "b"}}),
		)
		if err != nil {
			t.Fatal(err)
		}
		if m := <-olds; m != (releaseOne{Name: "n"}) {
			t.Errorf("the old one reads %+v", m)
		}
		if m := <-news; !reflect.DeepEqual(m, releaseTwo{Name: "n"}) {
			t.Errorf("the new one reads %+v", m)
		}
	})
}
