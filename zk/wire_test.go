package zk

import (
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
)

// failing is a connection that was reset.
type failing struct{ net.Conn }

func (failing) Read([]byte) (int, error)  { return 0, syscall.ECONNRESET }
func (failing) Write([]byte) (int, error) { return 0, syscall.EPIPE }
func (failing) Close() error              { return nil }

// The library tells of a failed write before it closes the connection: a read must
// not be taken for one that the store has refused, since it is sent again.
func TestAFailedConnectionIsGoneBeforeAnybodyHearsOfIt(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(*wire) error{
		"read":  func(w *wire) error { _, err := w.Read(make([]byte, 1)); return err },
		"write": func(w *wire) error { _, err := w.Write([]byte{0}); return err },
	} {
		w := newWire(failing{}, greeting{}, new(atomic.Int64))
		w.asked = true
		err := use(w)
		v, reason := judge(&link{wire: w}, err)
		if v != lost || !errors.Is(reason, errLost) || errors.Is(reason, ErrRefused) {
			t.Errorf("%s: %v is judged as %d, %v", name, err, v, reason)
		}
	}
}
