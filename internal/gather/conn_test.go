package gather

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns a gathering connection and its other end.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { check(t, l.Close()) }()
	conn := must(Dialer(&net.Dialer{})(t.Context(), "tcp", l.Addr().String()))(t)
	other := must(l.Accept())(t)
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	c, ok := conn.(*Conn)
	if !ok {
		t.Fatalf("a %T", conn)
	}
	c.Gather(true)
	return c, other
}

// Fewer bytes than are waited for are read as well, and so is the end.
func TestGatheringWithholdsNothing(t *testing.T) {
	t.Parallel()
	c, other := pair(t)
	sent := make(chan []byte, 1)
	go func() {
		var all []byte
		for i := range 300 {
			piece := bytes.Repeat([]byte{byte(i)}, i*i%9000+1)
			all = append(all, piece...)
			_, _ = other.Write(piece)
		}
		_ = other.Close()
		sent <- all
	}()
	var got []byte
	buf := make([]byte, wanted)
	for {
		n, err := c.Read(buf)
		got = append(got, buf[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		check(t, err)
	}
	if !bytes.Equal(got, <-sent) {
		t.Error("other bytes were read than were sent")
	}
}

// A question is answered by few bytes, and the next comes only after it.
func TestGatheringTalks(t *testing.T) {
	t.Parallel()
	c, other := pair(t)
	go func() { _, _ = io.Copy(other, other) }()
	buf := make([]byte, wanted)
	for i := range 20 {
		must(c.Write([]byte{byte(i)}))(t)
		if n, err := c.Read(buf); n != 1 || err != nil || buf[0] != byte(i) {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}
	// And as ever once it gathers no more.
	c.Gather(false)
	must(c.Write([]byte{7}))(t)
	if n, err := c.Read(buf); n != 1 || err != nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
}

// A deadline that has passed ends a read, as the end of a context sets it.
func TestGatheringIsCutOff(t *testing.T) {
	t.Parallel()
	c, _ := pair(t)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, wanted))
		ended <- err
	}()
	check(t, c.SetDeadline(time.Unix(1, 0)))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
	if _, err := c.Read(make([]byte, wanted)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the next read ended with %v", err)
	}
}

// Small buffers get what is there, too, whether a read began before or while
// the connection gathers: a driver may read in the background.
func TestGatheringIntoSmallBuffers(t *testing.T) {
	t.Parallel()
	c, other := pair(t)
	buf := make([]byte, 10)
	for range 50 {
		c.Gather(false)
		began, read := make(chan struct{}), make(chan int, 1)
		go func() {
			close(began)
			n, _ := c.Read(buf)
			read <- n
		}()
		<-began
		c.Gather(true)
		must(other.Write(make([]byte, 25)))(t)
		total := <-read
		for total < 25 {
			n := must(c.Read(buf))(t)
			total += n
		}
	}
}

// A deadline in the future ends a read that gathers, and nothing else does.
func TestGatheringKeepsDeadlines(t *testing.T) {
	t.Parallel()
	c, other := pair(t)
	check(t, c.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	if n, err := c.Read(make([]byte, wanted)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes, %v", n, err)
	}
	check(t, c.SetReadDeadline(time.Time{}))
	c.Gather(false)
	c.Gather(true)
	must(other.Write([]byte{1}))(t)
	if n, err := c.Read(make([]byte, wanted)); n != 1 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A connection that is reset is an error of the network.
func TestGatheringTellsOfAReset(t *testing.T) {
	t.Parallel()
	c, other := pair(t)
	check(t, other.(*net.TCPConn).SetLinger(0)) //nolint:forcetypeassert // it was accepted from TCP
	check(t, other.Close())
	_, err := c.Read(make([]byte, wanted))
	if _, ok := errors.AsType[net.Error](err); !ok {
		t.Errorf("%v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		check(t, err)
		return v
	}
}
