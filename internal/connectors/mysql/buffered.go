package mysql

import (
	"bufio"
	"errors"
	"net"
	"syscall"
)

// readBuffer takes what is there by one call; the driver asks for 4 KiB at a time.
const readBuffer = 64 << 10

// buffered is a connection whose reads go through a buffer.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func newBuffered(conn net.Conn) *buffered {
	return &buffered{Conn: conn, reader: bufio.NewReaderSize(conn, readBuffer)}
}

// Read implements net.Conn.
func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }

// SyscallConn lets the driver look whether the server has closed the connection.
func (b *buffered) SyscallConn() (syscall.RawConn, error) {
	conn, ok := b.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}
