package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// raw is frames of a length over TCP and nothing else, written and read in the
// largest pieces there are: what the kernel and the loopback allow.
type raw struct {
	mu   sync.Mutex
	conn net.Conn
	in   *bufio.Reader
	out  *bufio.Writer
	buf  []byte
}

// The top bits of a length say what a frame is.
const (
	rawTell  = 1 << 31
	rawCount = 1 << 30
)

func serveRaw() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	var received atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = echoRaw(conn, &received) }()
		}
	}()
	return l.Addr().String(), nil
}

func echoRaw(conn net.Conn, received *atomic.Int64) error {
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	for {
		head, err := in.Peek(4)
		if err != nil {
			return err
		}
		n := binary.BigEndian.Uint32(head)
		size := int(n &^ (rawTell | rawCount))
		frame, err := in.Peek(4 + size)
		if err != nil {
			return err
		}
		switch {
		case n&rawTell != 0:
			received.Add(1)
		case n&rawCount != 0:
			binary.BigEndian.PutUint64(frame[4:], uint64(received.Load()))
			fallthrough
		default:
			if _, err := out.Write(frame); err != nil {
				return err
			}
		}
		if _, err := in.Discard(4 + size); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func dialRaw(addr string) (client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return newRaw(conn), nil
}

func newRaw(conn net.Conn) *raw {
	return &raw{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), out: bufio.NewWriterSize(conn, 64<<10)}
}

func (r *raw) write(flags uint32, payload []byte) error {
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], flags|uint32(len(payload)))
	if _, err := r.out.Write(head[:]); err != nil {
		return err
	}
	_, err := r.out.Write(payload)
	return err
}

func (r *raw) read() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.in, head[:]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(head[:]) &^ (rawTell | rawCount))
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	_, err := io.ReadFull(r.in, r.buf[:n])
	return r.buf[:n], err
}

func (r *raw) ask(payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.write(0, payload); err != nil {
		return err
	}
	if err := r.out.Flush(); err != nil {
		return err
	}
	_, err := r.read()
	return err
}

func (r *raw) tell(payload []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.write(rawTell, payload)
}

func (r *raw) received() (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.write(rawCount, make([]byte, 8)); err != nil {
		return 0, err
	}
	if err := r.out.Flush(); err != nil {
		return 0, err
	}
	got, err := r.read()
	if err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(got)), nil
}

// pipeline sends as many as have come back, all at once.
func (r *raw) pipeline(inFlight int, payload []byte, stop func() bool) (int64, error) {
	var done int64
	for free := inFlight; !stop(); {
		for range free {
			if err := r.write(0, payload); err != nil {
				return done, err
			}
		}
		if err := r.out.Flush(); err != nil {
			return done, err
		}
		free = 0
		for free == 0 || free < inFlight && r.in.Buffered() >= 4+len(payload) {
			if _, err := r.read(); err != nil {
				return done, err
			}
			free++
			done++
		}
	}
	return done, nil
}
