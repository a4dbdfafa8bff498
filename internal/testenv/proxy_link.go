package testenv

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// link is one connection through a proxy.
type link struct {
	proxy  *Proxy
	client net.Conn
	gone   chan struct{}

	// tail and armed belong to the proxy's mutex.
	tail  []byte
	armed *dropRule
	// frames holds what is not yet a whole message, for each direction.
	frames [2][]byte
	// swallow is the number of the request whose reply is not to pass.
	swallow *zookeeperSwallow
	// etcd is what is known of an etcd's streams.
	etcd *etcdLink

	mu        sync.Mutex
	server    net.Conn
	cutNow    bool
	abandoned bool
}

func newLink(p *Proxy, client net.Conn) *link {
	return &link{proxy: p, client: client, gone: make(chan struct{})}
}

// run connects to the server and carries both directions until both have ended.
func (l *link) run() {
	defer l.proxy.forget(l)
	if !l.proxy.gate(l, ToServer) {
		return
	}
	server, err := net.Dial("tcp", l.proxy.target)
	if err != nil {
		l.cut(Reset)
		return
	}
	l.mu.Lock()
	l.server = server
	already := l.cutNow
	l.mu.Unlock()
	if already {
		_ = server.Close()
		return
	}
	var pumps sync.WaitGroup
	pumps.Go(func() { l.pump(ToServer, l.client, server) })
	pumps.Go(func() { l.pump(ToClient, server, l.client) })
	pumps.Wait()
	l.cut(Finish)
}

// pump carries one direction. An orderly end is passed on and leaves the other
// direction open; anything else cuts the link.
func (l *link) pump(d Direction, from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !l.carry(d, to, buf[:n]) {
			return
		}
		if errors.Is(err, io.EOF) {
			if l.proxy.gate(l, d) {
				_ = to.(*net.TCPConn).CloseWrite()
			}
			return
		}
		if err != nil {
			if l.isAbandoned() {
				<-l.gone
			}
			l.cut(Reset)
			return
		}
	}
}

// carry passes one piece on, as the proxy's settings have it; false ends the
// pump.
func (l *link) carry(d Direction, to net.Conn, data []byte) bool {
	if !l.proxy.gate(l, d) || !l.wait() {
		return false
	}
	v := l.proxy.judge(l, d, data)
	if len(v.pass) > 0 {
		if _, err := to.Write(v.pass); err != nil {
			if l.isAbandoned() {
				// The server goes on talking to nobody.
				return true
			}
			l.cut(Reset)
			l.proxy.finish(l, v)
			return false
		}
	}
	l.proxy.finish(l, v)
	return !l.isCut()
}

// wait holds a piece for the proxy's delay; false says that the link was cut.
func (l *link) wait() bool {
	l.proxy.mu.Lock()
	d := l.proxy.delay
	l.proxy.mu.Unlock()
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.gone:
		return false
	}
}

// cut ends both sides, once.
func (l *link) cut(style CutStyle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cutNow {
		return
	}
	l.cutNow = true
	close(l.gone)
	for _, conn := range []net.Conn{l.client, l.server} {
		if conn == nil {
			continue
		}
		if tcp, ok := conn.(*net.TCPConn); ok && style == Reset {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
}

// abandon resets the client's end; the server's stays open until the proxy is cut.
func (l *link) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = true
	if tcp, ok := l.client.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = l.client.Close()
}

func (l *link) isAbandoned() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.abandoned && !l.cutNow
}

func (l *link) isCut() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}
