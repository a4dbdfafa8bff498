package rpc

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"

	"github.com/leatdata/leat/rpc/internal/pipe"
)

// Memory is a network within one process, for Envs that share it: for a cluster
// in one process, and for tests in a testing/synctest bubble, where sockets do
// not work. An address is any text; one that ends in ":0" gets a free number.
type Memory struct {
	mu        sync.Mutex
	listeners map[string]*memoryListener
	last      int
}

// NewMemory makes a network without listeners.
func NewMemory() *Memory { return &Memory{listeners: map[string]*memoryListener{}} }

// Listen implements [Transport].
func (m *Memory) Listen(_ context.Context, addr string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if host, ok := strings.CutSuffix(addr, ":0"); ok {
		m.last++
		addr = fmt.Sprintf("%s:%d", host, m.last)
	}
	if m.listeners[addr] != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, syscall.EADDRINUSE)
	}
	l := &memoryListener{network: m, addr: pipe.Addr(addr), queue: make(chan net.Conn), closed: make(chan struct{})}
	m.listeners[addr] = l
	return l, nil
}

// Dial implements [Transport].
func (m *Memory) Dial(ctx context.Context, addr Addr) (net.Conn, error) {
	m.mu.Lock()
	l := m.listeners[string(addr)]
	m.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	}
	ours, theirs := pipe.New("dialler", l.addr)
	select {
	case l.queue <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s: %w", addr, syscall.ECONNREFUSED)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s: %w", addr, context.Cause(ctx))
	}
}

type memoryListener struct {
	network *Memory
	addr    pipe.Addr
	queue   chan net.Conn
	once    sync.Once
	closed  chan struct{}
}

// Accept implements net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.queue:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *memoryListener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, l.addr.String())
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

// Addr implements net.Listener.
func (l *memoryListener) Addr() net.Addr { return l.addr }
