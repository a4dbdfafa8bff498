package rpc

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// dial connects to an outbox's address and introduces us.
func (env *Env) dial(ctx context.Context, o *outbox) (*link, error) {
	conn, err := env.cfg.Transport.Dial(ctx, o.addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	l, err := env.shake(ctx, conn, func() (*link, error) { return env.greet(ctx, conn, o) })
	if err != nil && !errors.Is(err, ErrRefused) {
		err = fmt.Errorf("%w: handshake: %w", ErrUnreachable, err)
	}
	return l, err
}

// shake runs one side of a handshake, within the time of ctx; without success
// the connection is closed.
func (env *Env) shake(ctx context.Context, conn net.Conn, side func() (*link, error)) (*link, error) {
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	l, err := side()
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = l.conn.SetDeadline(time.Time{})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return l, nil
}

// greet is the dialler's side.
func (env *Env) greet(ctx context.Context, conn net.Conn, o *outbox) (*link, error) {
	l := &link{env: env, out: o, conn: conn, addr: o.addr, ended: make(chan struct{})}
	l.peer.Addr = o.addr
	if env.cfg.TLS != nil {
		host, _, err := net.SplitHostPort(string(o.addr))
		if err != nil {
			host = string(o.addr)
		}
		if err := l.secure(ctx, tls.Client(conn, env.cfg.clientTLS(host))); err != nil {
			return nil, err
		}
	}
	hello := wire.HelloBody{
		Magic: wire.Magic, MinVersion: wire.MinVersion, MaxVersion: wire.Version,
		ID: env.id, Addr: string(env.advertised()), Number: env.numbers.Add(1), Nonce: nonce(),
		Window: uint64(env.cfg.Window), MaxFrame: uint64(env.cfg.MaxFrame),
	}
	if err := l.put(wire.Hello, hello); err != nil {
		return nil, err
	}
	var w wire.WelcomeBody
	if err := l.get(wire.Welcome, &w); err != nil {
		return nil, err
	}
	if w.Version < wire.MinVersion || w.Version > wire.Version {
		return nil, fmt.Errorf("%w: it chose version %d, we speak %d to %d", ErrRefused, w.Version, wire.MinVersion, wire.Version)
	}
	l.peer.id = w.ID
	if err := l.limits(w.Window, w.MaxFrame); err != nil {
		return nil, err
	}
	if env.cfg.Secret == nil && len(w.Proof) > 0 {
		return nil, fmt.Errorf("%w: it requires a secret, and we have none", ErrRefused)
	}
	if env.cfg.Secret == nil {
		return l, nil
	}
	binding := l.binding()
	if !hmac.Equal(w.Proof, wire.Prove(env.cfg.Secret, "listener", hello, unproven(w), binding)) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, errBadProof)
	}
	proof := wire.Prove(env.cfg.Secret, "dialler", hello, unproven(w), binding)
	return l, l.put(wire.Proof, wire.ProofBody{Proof: proof})
}

// receive is the listener's side. What a stranger sends is bounded in size and
// time, and nothing of it is kept until it has passed.
func (env *Env) receive(ctx context.Context, conn net.Conn) (*link, error) {
	l := &link{env: env, conn: conn, ended: make(chan struct{})}
	if env.cfg.TLS != nil {
		if err := l.secure(ctx, tls.Server(conn, env.cfg.serverTLS())); err != nil {
			return nil, err
		}
	}
	var h wire.HelloBody
	if err := l.get(wire.Hello, &h); err != nil {
		return nil, err
	}
	if err := l.judge(h); err != nil {
		_ = l.put(wire.Refusal, wire.RefusalBody{Reason: err.Error()})
		return nil, err
	}
	w := wire.WelcomeBody{
		Version: min(h.MaxVersion, wire.Version), ID: env.id, Addr: string(env.advertised()), Nonce: nonce(),
		Window: uint64(env.cfg.Window), MaxFrame: uint64(env.cfg.MaxFrame),
	}
	binding := l.binding()
	if env.cfg.Secret != nil {
		w.Proof = wire.Prove(env.cfg.Secret, "listener", h, unproven(w), binding)
	}
	if err := l.put(wire.Welcome, w); err != nil {
		return nil, err
	}
	if env.cfg.Secret == nil {
		return l, nil
	}
	var p wire.ProofBody
	if err := l.get(wire.Proof, &p); err != nil {
		return nil, err
	}
	if !hmac.Equal(p.Proof, wire.Prove(env.cfg.Secret, "dialler", h, unproven(w), binding)) {
		return nil, fmt.Errorf("%w: %w", ErrRefused, errBadProof)
	}
	return l, nil
}

// judge says whether a Hello is one that we can answer, and takes over what it
// says.
func (l *link) judge(h wire.HelloBody) error {
	switch {
	case h.Magic != wire.Magic:
		return fmt.Errorf("%w: not a peer of this protocol", ErrRefused)
	case h.MaxVersion < wire.MinVersion || h.MinVersion > wire.Version || h.MinVersion > h.MaxVersion:
		return fmt.Errorf("%w: it speaks versions %d to %d, we speak %d to %d",
			ErrRefused, h.MinVersion, h.MaxVersion, wire.MinVersion, wire.Version)
	case len(h.Nonce) < wire.NonceSize || len(h.Addr) > maxName || id(h.ID) == id{} || h.Number == 0:
		return fmt.Errorf("%w: its introduction is not complete", ErrRefused)
	case id(h.ID) == l.env.id:
		return fmt.Errorf("%w: we have reached ourselves", ErrRefused)
	}
	l.peer.id, l.number = h.ID, h.Number
	l.addr = Addr(h.Addr)
	if l.addr == "" || l.addr[0] == '@' {
		l.addr = l.peer.id.addr()
	}
	l.peer.Addr = l.addr
	return l.limits(h.Window, h.MaxFrame)
}

func (l *link) limits(window, maxFrame uint64) error {
	const most = 1 << 30
	if window < wire.InitialWindow || maxFrame < 1<<10 {
		return fmt.Errorf("%w: its limits are too small", ErrRefused)
	}
	l.peerWindow, l.peerMaxFrame = int(min(window, most)), int(min(maxFrame, most))
	return nil
}

// secure makes a TLS connection of a plain one.
func (l *link) secure(ctx context.Context, conn *tls.Conn) error {
	if err := conn.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("%w: TLS: %w", ErrRefused, err)
	}
	l.conn = conn
	l.peer.Certificate = peerCertificate(conn)
	return nil
}

func peerCertificate(conn *tls.Conn) *x509.Certificate {
	if list := conn.ConnectionState().PeerCertificates; len(list) > 0 {
		return list[0]
	}
	return nil
}

// binding is what this TLS connection has of its own; nil without TLS.
func (l *link) binding() []byte {
	conn, ok := l.conn.(*tls.Conn)
	if !ok {
		return nil
	}
	state := conn.ConnectionState()
	key, err := state.ExportKeyingMaterial("EXPORTER-leat-rpc", nil, 32)
	if err != nil {
		return nil
	}
	return key
}

func (l *link) put(kind wire.Kind, body any) error {
	_, err := l.conn.Write(l.env.bodies.Append(nil, wire.HandshakeVersion, kind, nil, body))
	return err
}

// get reads a frame of a kind, or why the peer refuses us.
func (l *link) get(kind wire.Kind, body any) error {
	f, err := wire.ReadHandshake(l.conn)
	switch {
	case err != nil:
		return err
	case f.Kind == wire.Refusal:
		var r wire.RefusalBody
		if err := l.env.bodies.Decode(f.Body, &r); err != nil {
			return err
		}
		return fmt.Errorf("%w: it says: %.200q", ErrRefused, r.Reason)
	case f.Kind != kind:
		return fmt.Errorf("%w: frame of kind %d rather than %d", wire.ErrBody, f.Kind, kind)
	}
	return l.env.bodies.Decode(f.Body, body)
}

func unproven(w wire.WelcomeBody) wire.WelcomeBody {
	w.Proof = nil
	return w
}

func nonce() []byte {
	n := make([]byte, wire.NonceSize)
	_, _ = rand.Read(n) // It never fails: crypto/rand ends the process instead.
	return n
}
