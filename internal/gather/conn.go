// Package gather lets who reads a TCP connection wait for many bytes at once.
// Database servers send a few KiB at a time, and to be woken for each of these
// costs both sides more than to copy it.
package gather

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// What a reader waits for at once, and how long at most, once it is seen to come
// slowly.
const (
	wanted    = 64 << 10
	firstWait = time.Millisecond
	lastWait  = 16 * time.Millisecond
)

// Conn is a TCP connection whose reads wait for many bytes while it gathers. What
// has come is never withheld for longer than lastWait, whoever reads and into
// however small a buffer.
type Conn struct {
	*net.TCPConn

	// mu orders the deadlines that are set from outside and by Read.
	mu        sync.Mutex
	gathering bool
	// deadline is the one that was set from outside; zero: none.
	deadline time.Time
}

// Dialer dials connections that can gather; those that are not of TCP remain
// what they are.
func Dialer(dialer *net.Dialer) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok && err == nil {
			return &Conn{TCPConn: tcp}, nil
		}
		return conn, err
	}
}

// Gather makes reads wait for many bytes, or for any as usual. A system that
// cannot have it leaves them as they are.
func (c *Conn) Gather(many bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if many == c.gathering {
		return
	}
	mark := 1
	if many {
		mark = wanted
	}
	if c.setLowWater(mark) != nil {
		return
	}
	c.gathering = many
	// Of a read that waits already, too.
	_ = c.TCPConn.SetReadDeadline(c.until(firstWait))
}

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = t
	return c.TCPConn.SetReadDeadline(c.until(firstWait))
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		if err := c.limit(wait); err != nil {
			return 0, err
		}
		n, err := c.TCPConn.Read(p)
		if !errors.Is(err, os.ErrDeadlineExceeded) || c.expired() {
			return n, err
		}
		if n, err := c.readNow(p); n > 0 || err != nil {
			return n, err
		}
	}
}

// limit bounds the next wait of a read that gathers.
func (c *Conn) limit(wait time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gathering {
		return nil
	}
	return c.TCPConn.SetReadDeadline(c.until(wait))
}

// until is when a read has to look again; zero: never. It needs the lock.
func (c *Conn) until(wait time.Duration) time.Time {
	if !c.gathering {
		return c.deadline
	}
	t := time.Now().Add(wait)
	if !c.deadline.IsZero() && c.deadline.Before(t) {
		return c.deadline
	}
	return t
}

// expired says that the deadline from outside has passed.
func (c *Conn) expired() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.deadline.IsZero() && !c.deadline.After(time.Now())
}
