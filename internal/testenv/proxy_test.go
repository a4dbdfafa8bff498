package testenv

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestProxyPassesBothWaysAndHalfCloses(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echoServer(t).addr)
	conn := dial(t, p)
	send(t, conn, "one\n")
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "one\n" {
		t.Errorf("read %q (%v)", got, err)
	}
	eventually(t, "no connection stands", func() bool { return p.Open() == 0 })
	if p.Accepted() != 1 {
		t.Errorf("%d connections accepted, want 1", p.Accepted())
	}
}

func TestProxyCutAll(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		style CutStyle
		want  error
	}{{"reset", Reset, syscall.ECONNRESET}, {"finish", Finish, io.EOF}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := NewProxy(t, echoServer(t).addr)
			p.Style(c.style)
			first, second := dial(t, p), dial(t, p)
			roundTrip(t, first, "a\n")
			roundTrip(t, second, "b\n")
			p.CutAll()
			for _, conn := range []net.Conn{first, second} {
				if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, c.want) {
					t.Errorf("read after the cut: %v, want %v", err, c.want)
				}
			}
			roundTrip(t, dial(t, p), "new\n")
		})
	}
}

func TestProxyCutAfter(t *testing.T) {
	t.Parallel()
	t.Run("to client", func(t *testing.T) {
		t.Parallel()
		p := NewProxy(t, echoServer(t).addr)
		p.Style(Finish)
		conn := dial(t, p)
		roundTrip(t, conn, "before\n")
		cut := p.CutAfter(ToClient, 5)
		send(t, conn, "0123456789\n")
		if got, err := io.ReadAll(conn); string(got) != "01234" || err != nil {
			t.Errorf("read %q (%v), want 5 bytes and the end", got, err)
		}
		<-cut
	})
	t.Run("to server", func(t *testing.T) {
		t.Parallel()
		server := echoServer(t)
		p := NewProxy(t, server.addr)
		p.Style(Finish)
		cut := p.CutAfter(ToServer, 5)
		send(t, dial(t, p), "0123456789\n")
		<-cut
		eventually(t, "the server got 5 bytes and no more", func() bool { return server.got() == "01234" })
		eventually(t, "no connection stands", func() bool { return p.Open() == 0 })
	})
}

func TestProxyBlackHole(t *testing.T) {
	t.Parallel()
	server := echoServer(t)
	p := NewProxy(t, server.addr)
	conn := dial(t, p)
	roundTrip(t, conn, "before\n")
	p.BlackHole(true)
	send(t, conn, "lost\n")
	late := dial(t, p)
	send(t, late, "late\n")
	for _, c := range []net.Conn{conn, late} {
		if err := c.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 9)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read %d bytes (%v) through a black hole", n, err)
		}
		_ = c.SetReadDeadline(time.Time{})
	}
	if server.got() != "before\n" {
		t.Errorf("the server got %q", server.got())
	}
	p.BlackHole(false)
	expect(t, conn, "lost\n")
	expect(t, late, "late\n")
}

func TestProxyBlackHoleWay(t *testing.T) {
	t.Parallel()
	for _, way := range []Direction{ToServer, ToClient} {
		server := echoServer(t)
		p := NewProxy(t, server.addr)
		conn := dial(t, p)
		roundTrip(t, conn, "before\n")
		p.BlackHoleWay(way, true)
		send(t, conn, "lost\n")
		if way == ToClient {
			eventually(t, "the server gets it", func() bool { return server.got() == "before\nlost\n" })
		}
		if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 9)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read %d bytes (%v) through a black hole", n, err)
		}
		if way == ToServer && server.got() != "before\n" {
			t.Errorf("the server got %q", server.got())
		}
		_ = conn.SetReadDeadline(time.Time{})
		p.BlackHoleWay(way, false)
		expect(t, conn, "lost\n")
	}
}

func TestProxyHalfOpen(t *testing.T) {
	t.Parallel()
	server := echoServer(t)
	p := NewProxy(t, server.addr)
	conn := dial(t, p)
	roundTrip(t, conn, "before\n")
	p.HalfOpen()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
	if p.Open() != 1 {
		t.Error("the server's end is closed")
	}
	roundTrip(t, dial(t, p), "after\n")
	p.CutAll()
	p.Await(t, func(p *Proxy) bool { return p.Open() == 0 })
}

func TestProxyCutsThroughABlackHole(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echoServer(t).addr)
	conn := dial(t, p)
	roundTrip(t, conn, "before\n")
	p.BlackHole(true)
	send(t, conn, "lost\n")
	p.CutAll()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
}

func TestProxyDelay(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echoServer(t).addr)
	conn := dial(t, p)
	const d = 40 * time.Millisecond
	p.Delay(d)
	start := time.Now()
	roundTrip(t, conn, "slow\n")
	if took := time.Since(start); took < 2*d {
		t.Errorf("there and back took %s, want at least %s", took, 2*d)
	}
}

func TestProxyRefuseNew(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echoServer(t).addr)
	old := dial(t, p)
	roundTrip(t, old, "a\n")
	p.RefuseNew(true)
	// The reset may come before the client's connect has returned, or after.
	fresh, err := net.Dial("tcp", p.Addr())
	if err == nil {
		_, err = fresh.Read(make([]byte, 1))
		_ = fresh.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a new connection gets %v", err)
	}
	roundTrip(t, old, "b\n")
	p.RefuseNew(false)
	roundTrip(t, dial(t, p), "c\n")
}

func TestProxyDropReply(t *testing.T) {
	t.Parallel()
	server := echoServer(t)
	p := NewProxy(t, server.addr)
	conn, other := dial(t, p), dial(t, p)
	roundTrip(t, conn, "a\n")
	roundTrip(t, other, "b\n")
	dropped := p.DropReply()
	send(t, conn, "write\n")
	if n, err := conn.Read(make([]byte, 9)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d bytes (%v), want none and a reset", n, err)
	}
	<-dropped
	if !strings.HasSuffix(server.got(), "write\n") {
		t.Errorf("the server got %q", server.got())
	}
	roundTrip(t, other, "goes on\n")
}

func TestProxyDropReplyTo(t *testing.T) {
	t.Parallel()
	server := echoServer(t)
	p := NewProxy(t, server.addr)
	conn, other := dial(t, p), dial(t, p)
	dropped := p.DropReplyTo("commit")
	roundTrip(t, conn, "insert\n")
	send(t, conn, "com") // the word may come in pieces
	expect(t, conn, "com")
	send(t, conn, "mit\n")
	if n, err := conn.Read(make([]byte, 9)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d bytes (%v), want none and a reset", n, err)
	}
	<-dropped
	if server.got() != "insert\ncommit\n" {
		t.Errorf("the server got %q", server.got())
	}
	roundTrip(t, other, "commit\n")
}

func TestProxyIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	p := NewProxy(t, echoServer(t).addr)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				conn, err := net.Dial("tcp", p.Addr())
				if err != nil {
					continue
				}
				_, _ = conn.Write([]byte("x\n"))
				_, _ = conn.Read(make([]byte, 2))
				_ = conn.Close()
			}
		})
		group.Go(func() {
			for range 20 {
				p.CutAfter(ToServer, 3)
				p.DropReplyTo("x")
				p.BlackHole(true)
				p.HalfOpen()
				p.CutAll()
				p.RefuseNew(true)
				p.Delay(time.Microsecond)
				p.RefuseNew(false)
				p.BlackHole(false)
			}
		})
	}
	group.Wait()
	eventually(t, "no connection stands", func() bool { return p.Open() == 0 })
}

// echo is a server that sends back what it gets.
type echo struct {
	addr string
	mu   sync.Mutex
	text strings.Builder
}

func (e *echo) got() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text.String()
}

func echoServer(t *testing.T) *echo {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{addr: listener.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { e.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return e
}

func (e *echo) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	buf := make([]byte, 1024)
	for {
		n, err := conn.Read(buf)
		e.mu.Lock()
		e.text.Write(buf[:n])
		e.mu.Unlock()
		if n > 0 {
			_, _ = conn.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func dial(t *testing.T, p *Proxy) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn.(*net.TCPConn)
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	buf := make([]byte, len(text))
	if _, err := io.ReadFull(conn, buf); err != nil || string(buf) != text {
		t.Fatalf("read %q (%v), want %q", buf, err, text)
	}
}

func roundTrip(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	send(t, conn, text)
	expect(t, conn, text)
}
