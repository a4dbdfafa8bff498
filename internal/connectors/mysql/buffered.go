package mysql

import (
	"bufio"
	"errors"
	"net"
	"runtime/debug"
	"syscall"

	"github.com/leatdata/leat/internal/gather"
)

// readBuffer takes what is there by one call; the driver asks for 4 KiB at a time.
const readBuffer = 64 << 10

// hugePacket is a length that only a part of a packet of 16 MiB has, of which
// a value of hundreds of megabytes has many.
const hugePacket = 15 << 20

// buffered is a connection whose reads go through a buffer.
type buffered struct {
	net.Conn
	reader *bufio.Reader
	// huge says that a packet of 16 MiB is being read.
	huge bool
	// encrypted says that the driver has begun to speak TLS.
	encrypted bool
	// closing is told of the end.
	closing func()
}

func newBuffered(conn net.Conn) *buffered {
	return &buffered{Conn: conn, reader: bufio.NewReaderSize(conn, readBuffer)}
}

// plain says whether the protocol's packets can be read from the connection.
func (b *buffered) plain() bool { return b != nil && !b.encrypted }

// Write implements net.Conn. It looks for the first record of a TLS handshake. A
// packet that begins alike, which is possible at one length only, costs no more
// than speed.
func (b *buffered) Write(p []byte) (int, error) {
	if len(p) > 3 && p[0] == 0x16 && p[1] == 3 && p[2] > 0 {
		b.encrypted = true
	}
	return b.Conn.Write(p)
}

// Close implements net.Conn.
func (b *buffered) Close() error {
	if b.closing != nil {
		b.closing()
	}
	return b.Conn.Close()
}

// Read implements net.Conn. The driver puts a value of many packets together by
// copying it over and over; what each packet leaves behind is collected before
// the next, else a value takes several times the memory that it needs.
func (b *buffered) Read(p []byte) (int, error) {
	if huge := len(p) > hugePacket; huge != b.huge {
		if b.huge = huge; huge {
			debug.FreeOSMemory()
		}
	}
	return b.reader.Read(p)
}

// gather makes reads wait for many bytes, or for any as usual.
func (b *buffered) gather(many bool) {
	if c, ok := b.Conn.(*gather.Conn); ok {
		c.Gather(many)
	}
}

// SyscallConn lets the driver look whether the server has closed the connection.
func (b *buffered) SyscallConn() (syscall.RawConn, error) {
	conn, ok := b.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}
