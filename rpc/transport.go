package rpc

import (
	"context"
	"net"
	"time"
)

// Transport makes the connections: [TCP], or a [Memory] network.
type Transport interface {
	// Dial connects to an address before ctx ends.
	Dial(ctx context.Context, addr Addr) (net.Conn, error)
	// Listen takes connections at an address.
	Listen(ctx context.Context, addr string) (net.Listener, error)
}

// TCP connects over TCP. The zero value is ready.
type TCP struct {
	// Dialer and ListenConfig may be set for what they can do beyond the default.
	Dialer       net.Dialer
	ListenConfig net.ListenConfig
}

// Dial implements [Transport].
func (t TCP) Dial(ctx context.Context, addr Addr) (net.Conn, error) {
	conn, err := t.Dialer.DialContext(ctx, "tcp", string(addr))
	if err != nil {
		return nil, err
	}
	return tuned(conn), nil
}

// Listen implements [Transport].
func (t TCP) Listen(ctx context.Context, addr string) (net.Listener, error) {
	return t.ListenConfig.Listen(ctx, "tcp", addr)
}

// tuned lets the kernel, too, give up a peer that acknowledges nothing.
func tuned(conn net.Conn) net.Conn {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3})
	}
	return conn
}
