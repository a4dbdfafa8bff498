package rpc

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// FuzzListener sends anything at all to a listener, as a stranger and as a peer
// whose handshake has passed: whatever it is, the next peer is served.
func FuzzListener(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), false)
	f.Add(wire.AppendTell(wire.AppendDefine(wire.AppendDefine(nil, wire.Target, 0, "echo"), wire.Type, 0, "question"), 0, 0, []byte{1<<3 | 2, 1, 'x'}), true)
	f.Add(wire.AppendAsk(wire.AppendDefine(wire.AppendDefine(nil, wire.Target, 0, "echo"), wire.Type, 0, "question"), 1, 5, 0, 0, nil), true)
	f.Add(wire.AppendCredit(wire.AppendReply(nil, 3, 0, nil), 9, 1<<40), true)
	f.Fuzz(func(t *testing.T, data []byte, introduced bool) {
		synctest.Test(t, func(t *testing.T) {
			network := NewMemory()
			server := newEnv(t, Config{Listen: "server:0", Transport: network})
			register(t, server, "echo", Endpoint{
				Handlers: []Handler{echo()}, OnError: func(context.Context, error) error { return nil },
			})
			s := dialStranger(t, network, server.Addr())
			if introduced {
				s.hello(wire.MinVersion, wire.Version)
				s.expect(wire.Welcome)
			}
			s.send(data)
			synctest.Wait()
			_ = s.conn.Close()
			client := newEnv(t, Config{Transport: network})
			mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		})
	})
}

// FuzzDecode holds that no bytes make the codec panic, and that what it reads it
// writes in a form that it reads the same.
func FuzzDecode(f *testing.F) {
	env, err := New(Config{Messages: append(messages(), Define[everything]("everything"))})
	if err != nil {
		f.Fatal(err)
	}
	codec := env.registry.byName["everything"].codec.(typed[everything])
	seed, err := codec.append(nil, full(env))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := codec.decode(data, env)
		if err != nil {
			return
		}
		again, err := codec.append(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		e2, err := codec.decode(again, env)
		if err != nil {
			t.Fatal(err)
		}
		third, err := codec.append(nil, e2)
		if err != nil || string(again) != string(third) {
			t.Fatalf("%x, then %x, %v", again, third, err)
		}
	})
}
