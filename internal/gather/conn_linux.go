package gather

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// setLowWater sets how many bytes have to be there for a reader to be woken. A
// reader that waits already is looked at anew.
func (c *Conn) setLowWater(bytes int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, bytes)
	})
	return errors.Join(err, failed)
}

// readNow reads what is there; nothing is no error. No deadline counts for it.
func (c *Conn) readNow(p []byte) (n int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { n, failed = syscall.Read(int(fd), p) })
	switch {
	case err != nil:
		return 0, err
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return 0, nil
	case failed != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", failed)}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}
