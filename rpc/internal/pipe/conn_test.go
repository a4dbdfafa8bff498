package pipe

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatWasWrittenIsReadBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := New("a", "b")
		data := bytes.Repeat([]byte("0123456789"), Buffer/5)
		go func() {
			if n, err := a.Write(data); n != len(data) || err != nil {
				t.Errorf("wrote %d, %v", n, err)
			}
			_ = a.Close()
		}()
		got, err := io.ReadAll(b)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("read %d of %d bytes, %v", len(got), len(data), err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("write to a closed end: %v", err)
		}
	})
}

func TestResetLosesWhatIsOnTheWay(t *testing.T) {
	a, b := New("a", "b")
	if _, err := a.Write([]byte("lost")); err != nil {
		t.Fatal(err)
	}
	a.Reset()
	for _, c := range []*Conn{a, b} {
		if _, err := c.Read(make([]byte, 4)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read: %v", err)
		}
	}
}

func TestDeadlinesEndWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := New("a", "b")
		began := time.Now()
		_ = a.SetReadDeadline(began.Add(time.Second))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Fatalf("read: %v after %s", err, time.Since(began))
		}
		_ = a.SetDeadline(time.Now().Add(time.Second))
		if n, err := a.Write(make([]byte, 2*Buffer)); n != Buffer || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("wrote %d, %v", n, err)
		}
		_ = a.SetDeadline(time.Time{})
		go func() { _, _ = b.Write([]byte("x")) }()
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Fatalf("read %d, %v", n, err)
		}
	})
}

func TestHalfClose(t *testing.T) {
	a, b := New("a", "b")
	if err := a.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read: %v", err)
	}
	if _, err := b.Write([]byte("x")); err != nil {
		t.Errorf("write: %v", err)
	}
	if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("read %d, %v", n, err)
	}
}
