package postgres

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// What a gathering reader waits for at once, and how long at most, once it is
// seen to come slowly.
const (
	gatherBytes = 64 << 10
	firstGather = time.Millisecond
	lastGather  = 16 * time.Millisecond
)

// gatherConn is a TCP connection whose reader may wait for many bytes at once.
// The server sends 8 KiB at a time, and to be woken for each of them costs both
// sides more than to copy it. What has come is never withheld for longer than
// lastGather.
type gatherConn struct {
	*net.TCPConn
	gathering bool
	// cut says that a deadline that has passed was set, which ends a Read.
	cut atomic.Bool
}

// dialGathering dials connections that can gather, where the system can.
func dialGathering(dialer *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			return &gatherConn{TCPConn: tcp}, nil
		}
		return conn, err
	}
}

// gather makes reads wait for many bytes, or for any as usual. It is called by
// who reads.
func (c *gatherConn) gather(many bool) {
	mark := 1
	if many {
		mark = gatherBytes
	}
	if c.setLowWater(mark) != nil || many == c.gathering {
		return
	}
	c.gathering = many
	if !many && !c.cut.Load() {
		_ = c.TCPConn.SetReadDeadline(time.Time{})
	}
}

// SetDeadline implements net.Conn.
func (c *gatherConn) SetDeadline(t time.Time) error {
	c.cut.Store(!t.IsZero() && !t.After(time.Now()))
	return c.TCPConn.SetDeadline(t)
}

// Read implements net.Conn.
func (c *gatherConn) Read(p []byte) (int, error) {
	if !c.gathering || len(p) < gatherBytes {
		return c.TCPConn.Read(p)
	}
	for wait := firstGather; ; wait = min(2*wait, lastGather) {
		if c.cut.Load() {
			return 0, os.ErrDeadlineExceeded
		}
		if err := c.TCPConn.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return 0, err
		}
		n, err := c.TCPConn.Read(p)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if n, err := c.readNow(p); n > 0 || err != nil {
			return n, err
		}
	}
}
