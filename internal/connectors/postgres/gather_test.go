package postgres

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// gatherPair returns a gathering connection and its other end.
func gatherPair(t *testing.T) (*gatherConn, net.Conn) {
	t.Helper()
	l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { check(t, l.Close()) }()
	conn := must(dialGathering(&net.Dialer{})(t.Context(), "tcp", l.Addr().String()))(t)
	other := must(l.Accept())(t)
	t.Cleanup(func() { _, _ = conn.Close(), other.Close() })
	c, ok := conn.(*gatherConn)
	if !ok {
		t.Fatalf("a %T", conn)
	}
	c.gather(true)
	return c, other
}

// Fewer bytes than are waited for are read as well, and so is the end.
func TestGatheringWithholdsNothing(t *testing.T) {
	t.Parallel()
	c, other := gatherPair(t)
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
	buf := make([]byte, gatherBytes)
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
	c, other := gatherPair(t)
	go func() { _, _ = io.Copy(other, other) }()
	buf := make([]byte, gatherBytes)
	for i := range 20 {
		must(c.Write([]byte{byte(i)}))(t)
		if n, err := c.Read(buf); n != 1 || err != nil || buf[0] != byte(i) {
			t.Fatalf("read %d bytes, %v", n, err)
		}
	}
	// And as ever once it gathers no more.
	c.gather(false)
	must(c.Write([]byte{7}))(t)
	if n, err := c.Read(buf); n != 1 || err != nil {
		t.Fatalf("read %d bytes, %v", n, err)
	}
}

// A deadline that has passed ends a read, as the end of a context sets it.
func TestGatheringIsCutOff(t *testing.T) {
	t.Parallel()
	c, _ := gatherPair(t)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, gatherBytes))
		ended <- err
	}()
	check(t, c.SetDeadline(time.Unix(1, 0)))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the read ended with %v", err)
	}
	if _, err := c.Read(make([]byte, gatherBytes)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the next read ended with %v", err)
	}
}
