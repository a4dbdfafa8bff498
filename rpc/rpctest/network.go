// Package rpctest is a network within one process that can be made to fail, for
// tests of what is built on package rpc. It works in a testing/synctest bubble.
package rpctest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"

	"github.com/leatdata/leat/rpc"
)

// Network is a [rpc.Memory] network with faults. Its methods may be called at any
// time from any goroutine.
type Network struct {
	memory *rpc.Memory

	mu sync.Mutex
	// changed is closed and replaced whenever a connection has to look again.
	changed chan struct{}
	conns   map[*conn]struct{}
	hole    bool
	refuse  bool
	dials   int
}

// NewNetwork makes a network without faults.
func NewNetwork() *Network {
	return &Network{memory: rpc.NewMemory(), changed: make(chan struct{}), conns: map[*conn]struct{}{}}
}

// Dial implements [rpc.Transport].
func (n *Network) Dial(ctx context.Context, addr rpc.Addr) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	refuse := n.refuse
	n.mu.Unlock()
	if refuse {
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	}
	c, err := n.memory.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return n.wrap(c), nil
}

// Listen implements [rpc.Transport].
func (n *Network) Listen(ctx context.Context, addr string) (net.Listener, error) {
	l, err := n.memory.Listen(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &listener{Listener: l, network: n}, nil
}

// Dials is how often somebody has tried to connect.
func (n *Network) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Cut ends all connections as a reset does: what is on the way is lost.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for c := range n.conns {
		if r, ok := c.Conn.(interface{ Reset() }); ok {
			r.Reset()
		}
	}
}

// Refuse lets no new connection come up while it is on.
func (n *Network) Refuse(on bool) {
	n.set(func() { n.refuse = on })
}

// BlackHole withholds everything while it is on, also the end of a connection.
func (n *Network) BlackHole(on bool) {
	n.set(func() { n.hole = on })
}

func (n *Network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *Network) wrap(c net.Conn) *conn {
	w := &conn{Conn: c, network: n, closed: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[w] = struct{}{}
	return w
}

// conn is one end of a connection.
type conn struct {
	net.Conn
	network *Network
	once    sync.Once
	closed  chan struct{}
}

// gate waits while the black hole is on; false: this end was closed.
func (c *conn) gate() bool {
	for {
		c.network.mu.Lock()
		hole, changed := c.network.hole, c.network.changed
		c.network.mu.Unlock()
		if !hole {
			return true
		}
		select {
		case <-changed:
		case <-c.closed:
			return false
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if !c.gate() {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.gate() {
		return 0, net.ErrClosed
	}
	return n, err
}

// Close implements net.Conn. The peer is told when the black hole is off.
func (c *conn) Close() error {
	c.once.Do(func() {
		close(c.closed)
		c.network.mu.Lock()
		delete(c.network.conns, c)
		hole := c.network.hole
		c.network.mu.Unlock()
		if hole {
			// Our own reader has to end; the peer's sees nothing.
			if r, ok := c.Conn.(interface{ CloseRead() }); ok {
				r.CloseRead()
				return
			}
		}
		_ = c.Conn.Close()
	})
	return nil
}

type listener struct {
	net.Listener
	network *Network
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.network.wrap(c), nil
}
