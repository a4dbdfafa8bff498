package rpc

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"errors"
	"io"
	"math/big"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert, key, pool}
}

// config is a TLS config for a process of this name.
func (a *authority) config(t testing.TB, name string) *tls.Config {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"server"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:   time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		RootCAs:      a.pool, ClientCAs: a.pool,
	}
}

func TestTLSIsMutualAndNew(t *testing.T) {
	ca := newAuthority(t)
	server, client := overTCP(t, func(a, b *Config) {
		a.TLS, b.TLS = ca.config(t, "master"), ca.config(t, "worker 7")
	})
	names := make(chan string, 1)
	register(t, server, "echo", Endpoint{Handlers: []Handler{
		Reply(func(ctx context.Context, q question) (reply, error) {
			from, _ := Sender(ctx)
			names <- from.Certificate.Subject.CommonName
			return reply{Text: q.Text}, nil
		}),
	}})
	mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
	if name := <-names; name != "worker 7" {
		t.Errorf("the peer is %q", name)
	}
	other := newAuthority(t)
	for name, change := range map[string]func(*Config){
		"plain":              func(*Config) {},
		"another authority":  func(c *Config) { c.TLS = other.config(t, "stranger"); c.TLS.RootCAs = ca.pool },
		"server not trusted": func(c *Config) { c.TLS = ca.config(t, "x"); c.TLS.RootCAs = other.pool },
		"old version":        func(c *Config) { c.TLS = ca.config(t, "x"); c.TLS.MaxVersion = tls.VersionTLS12 },
	} {
		cfg := Config{ConnectTimeout: 2 * time.Second}
		change(&cfg)
		stranger := newEnv(t, cfg)
		_, err := Ask[reply](t.Context(), stranger.RefAt(server.Addr(), "echo"), question{})
		if !errors.Is(err, ErrUnreachable) && !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without any certificate of its own.
	conn, err := tls.Dial("tcp", string(server.Addr()), &tls.Config{RootCAs: ca.pool})
	if err == nil {
		_, err = conn.Read(make([]byte, 1))
		_ = conn.Close()
	}
	if err == nil {
		t.Error("a stranger without a certificate was let in")
	}
	mustAsk(t, client.RefAt(server.Addr(), "echo"), "still", "still")
	<-names
}

func TestTLSConfigHasToHoldBothSides(t *testing.T) {
	_, err := New(Config{TLS: &tls.Config{}})
	if err == nil {
		t.Fatal("a TLS config without anything was taken")
	}
}

func TestSecretIsRequiredOfBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		with := func(secret, listen string) *Env {
			cfg := Config{Listen: listen, Transport: network}
			if secret != "" {
				cfg.Secret = []byte(secret)
			}
			return newEnv(t, cfg)
		}
		server, open := with("sesame", "server:0"), with("", "open:0")
		for _, env := range []*Env{server, open} {
			register(t, env, "echo", Endpoint{Handlers: []Handler{echo()}})
		}
		mustAsk(t, with("sesame", "").RefAt(server.Addr(), "echo"), "x", "x")
		for _, c := range []struct {
			secret string
			to     *Env
		}{{"", server}, {"wrong", server}, {"sesame", open}} {
			_, err := Ask[reply](t.Context(), with(c.secret, "").RefAt(c.to.Addr(), "echo"), question{})
			wantErr(t, err, ErrRefused)
		}
		// One who skips the proof and sends at once is not heard.
		conn, err := network.Dial(t.Context(), server.Addr())
		if err != nil {
			t.Fatal(err)
		}
		s := stranger{t, conn}
		s.hello(wire.MinVersion, wire.Version)
		s.expect(wire.Welcome)
		s.send(wire.AppendPlain(nil, wire.HandshakeVersion, wire.Proof, nil))
		s.expectEnd()
	})
}

// stranger speaks the protocol by hand.
type stranger struct {
	t    testing.TB
	conn net.Conn
}

func (s stranger) send(data []byte) {
	s.t.Helper()
	if _, err := s.conn.Write(data); err != nil {
		s.t.Logf("write: %v", err)
	}
}

func (s stranger) hello(minVersion, maxVersion uint32) {
	s.t.Helper()
	s.send(wire.NewBodies().Append(nil, wire.HandshakeVersion, wire.Hello, nil, wire.HelloBody{
		Magic: wire.Magic, MinVersion: minVersion, MaxVersion: maxVersion, ID: [16]byte{1}, Number: 1,
		Nonce: make([]byte, wire.NonceSize), Window: 1 << 20, MaxFrame: 1 << 20,
	}))
}

func (s stranger) expect(kind wire.Kind) wire.Frame {
	s.t.Helper()
	f, err := wire.ReadHandshake(s.conn)
	if err != nil || f.Kind != kind {
		s.t.Fatalf("got kind %d, %v; want %d", f.Kind, err, kind)
	}
	return f
}

func (s stranger) expectEnd() {
	s.t.Helper()
	if _, err := io.Copy(io.Discard, s.conn); err != nil && !errors.Is(err, net.ErrClosed) {
		s.t.Logf("the end: %v", err)
	}
	_ = s.conn.Close()
}

func dialStranger(t testing.TB, network *Memory, addr Addr) stranger {
	t.Helper()
	conn, err := network.Dial(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return stranger{t, conn}
}

func TestStrangersAreCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		server := newEnv(t, Config{Listen: "server:0", Transport: network, MaxStrangers: 8, ConnectTimeout: 3 * time.Second})
		register(t, server, "echo", Endpoint{Handlers: []Handler{echo()}})
		began := time.Now()
		within := func(what string) {
			t.Helper()
			if took := time.Since(began); took > 4*time.Second {
				t.Errorf("%s: it took %s", what, took)
			}
			began = time.Now()
		}
		silent := dialStranger(t, network, server.Addr())
		silent.expectEnd()
		within("a silent one")

		slow := dialStranger(t, network, server.Addr())
		go func() {
			for range 100 {
				timer := time.NewTimer(500 * time.Millisecond)
				<-timer.C
				if _, err := slow.conn.Write([]byte{0}); err != nil {
					return
				}
			}
		}()
		slow.expectEnd()
		within("a slow one")

		for _, garbage := range [][]byte{
			[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
			binary.BigEndian.AppendUint32(nil, 1<<31),
			binary.BigEndian.AppendUint32(nil, 1),
			append(binary.BigEndian.AppendUint32(nil, 4), 0, 99, 0, 0),
			append(binary.BigEndian.AppendUint32(nil, 4), 7, 1, 0, 0),
			wire.AppendPlain(nil, wire.HandshakeVersion, wire.Hello, []byte{0xff, 0xff, 0xff}),
		} {
			s := dialStranger(t, network, server.Addr())
			s.send(garbage)
			s.expectEnd()
			if time.Since(began) != 0 {
				t.Errorf("%q: it took %s", garbage, time.Since(began))
			}
			began = time.Now()
		}

		// Too many at once: those above the bound are turned away at once.
		synctest.Wait()
		var crowd []stranger
		for range 8 {
			crowd = append(crowd, dialStranger(t, network, server.Addr()))
		}
		synctest.Wait()
		dialStranger(t, network, server.Addr()).expectEnd()
		if time.Since(began) != 0 {
			t.Error("one too many was kept waiting")
		}
		for _, s := range crowd {
			s.expectEnd()
		}
		client := newEnv(t, Config{Transport: network})
		mustAsk(t, client.RefAt(server.Addr(), "echo"), "x", "x")
		synctest.Wait()
		if n := server.Stats().Refused; n != 17 {
			t.Errorf("%d connections refused", n)
		}
	})
}

func TestVersionsThatDoNotMeetAreRefusedInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		server := newEnv(t, Config{Listen: "server:0", Transport: network})
		s := dialStranger(t, network, server.Addr())
		s.hello(wire.Version+1, wire.Version+5)
		f := s.expect(wire.Refusal)
		var r wire.RefusalBody
		if err := wire.NewBodies().Decode(f.Body, &r); err != nil || r.Reason == "" {
			t.Fatal(r, err)
		}
		s.expectEnd()
		// A newer release that still speaks ours is welcome.
		s = dialStranger(t, network, server.Addr())
		s.hello(wire.Version, wire.Version+5)
		f = s.expect(wire.Welcome)
		var w wire.WelcomeBody
		if err := wire.NewBodies().Decode(f.Body, &w); err != nil || w.Version != wire.Version {
			t.Fatal(w, err)
		}
		_ = s.conn.Close()
	})
}

// TestBadFramesEndTheConnection sends what no peer of ours would, after a
// handshake in order.
func TestBadFramesEndTheConnection(t *testing.T) {
	target := wire.AppendDefine(nil, wire.Target, 0, "echo")
	typ := wire.AppendDefine(nil, wire.Type, 0, "note")
	flood := append(append([]byte(nil), target...), typ...)
	for range 40 {
		flood = wire.AppendTell(flood, 0, 0, make([]byte, 64<<10))
	}
	for name, data := range map[string][]byte{
		"length":           binary.BigEndian.AppendUint32(nil, 1<<30),
		"version":          append(binary.BigEndian.AppendUint32(nil, 2), 9, byte(wire.Ping)),
		"kind":             wire.AppendPlain(nil, wire.Version, 99, nil),
		"number undefined": wire.AppendTell(nil, 3, 0, nil),
		"number skipped":   wire.AppendDefine(nil, wire.Target, 5, "x"),
		"cut short":        wire.AppendPlain(nil, wire.Version, wire.Ask, []byte{1, 2}),
		"failure":          wire.AppendPlain(nil, wire.Version, wire.Failure, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff}),
		"flood":            flood,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := NewMemory()
				server := newEnv(t, Config{Listen: "server:0", Transport: network})
				gate := make(chan struct{})
				register(t, server, "echo", Endpoint{Handlers: []Handler{
					Receive(func(context.Context, note) error { <-gate; return nil }),
				}, OnError: func(context.Context, error) error { return nil }})
				s := dialStranger(t, network, server.Addr())
				s.hello(wire.MinVersion, wire.Version)
				s.expect(wire.Welcome)
				go func() { _, _ = s.conn.Write(data) }()
				s.expectEnd()
				close(gate)
			})
		})
	}
}

// TestMemoryIsNotTakenForAClaim holds what a peer can make us take: no more than
// twice what it has sent.
func TestMemoryIsNotTakenForAClaim(t *testing.T) {
	left := binary.BigEndian.AppendUint32(nil, 16<<20-100)
	left = append(left, wire.Version, byte(wire.Tell))
	for range 3 {
		buf, _, _ := refill(left, 16<<20)
		if len(buf) > max(chunkSize, 2*len(left)) {
			t.Fatalf("%d bytes for %d that came", len(buf), len(left))
		}
		left = append(left, make([]byte, 10*len(left)+100<<10)...)
	}
	network := NewMemory()
	server := newEnv(t, Config{Listen: "server:0", Transport: network, MaxStrangers: 200, ConnectTimeout: time.Minute})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all []stranger
	for range 200 {
		s := dialStranger(t, network, server.Addr())
		s.send(binary.BigEndian.AppendUint32(nil, wire.HandshakeLimit))
		all = append(all, s)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("200 strangers take %d bytes", grown)
	}
	for _, s := range all {
		_ = s.conn.Close()
	}
}

// TestNewerConnectionSilencesTheOlder: what an older connection of a peer still
// holds unread is dropped once a newer one is up.
func TestNewerConnectionSilencesTheOlder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := NewMemory()
		server := newEnv(t, Config{Listen: "server:0", Transport: network})
		var got []int
		register(t, server, "sink", Endpoint{Handlers: []Handler{
			Receive(func(_ context.Context, n note) error { got = append(got, n.Seq); return nil }),
		}})
		connect := func(number uint64) stranger {
			s := dialStranger(t, network, server.Addr())
			s.send(wire.NewBodies().Append(nil, wire.HandshakeVersion, wire.Hello, nil, wire.HelloBody{
				Magic: wire.Magic, MinVersion: 1, MaxVersion: 1, ID: [16]byte{1}, Number: number,
				Nonce: make([]byte, wire.NonceSize), Window: 1 << 20, MaxFrame: 1 << 20,
			}))
			return s
		}
		say := func(s stranger, seq int) {
			data := append(wire.AppendDefine(nil, wire.Target, 0, "sink"), wire.AppendDefine(nil, wire.Type, 0, "note")...)
			s.send(wire.AppendTell(data, 0, 0, []byte{2 << 3, byte(seq << 1)}))
		}
		older := connect(1)
		older.expect(wire.Welcome)
		say(older, 1)
		synctest.Wait()
		newer := connect(2)
		newer.expect(wire.Welcome)
		synctest.Wait()
		go say(older, 2)
		say(newer, 3)
		synctest.Wait()
		stale := connect(1)
		stale.expect(wire.Welcome)
		stale.expectEnd()
		older.expectEnd()
		if len(got) != 2 || got[0] != 1 || got[1] != 3 {
			t.Fatalf("arrived: %v", got)
		}
		_ = newer.conn.Close()
	})
}
