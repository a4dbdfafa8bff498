package postgres

import (
	"errors"
	"io"
	"syscall"
	"time"
)

// setLowWater sets how many bytes have to be there for a reader to be woken.
func (c *gatherConn) setLowWater(bytes int) error {
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

// readNow reads what is there; nothing is no error.
func (c *gatherConn) readNow(p []byte) (n int, err error) {
	if err := c.TCPConn.SetReadDeadline(time.Time{}); err != nil {
		return 0, err
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		n, failed = syscall.Read(int(fd), p)
		return true
	})
	switch {
	case err != nil:
		return 0, err
	case errors.Is(failed, syscall.EAGAIN), errors.Is(failed, syscall.EINTR):
		return 0, nil
	case failed != nil:
		return 0, failed
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}
