package zk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"time"
)

// identity is what a connection asks the store for: a new session (the zero id),
// or one that stands.
type identity struct {
	id       int64
	password []byte
	// zxid is the newest transaction that the session has seen: a server that is
	// behind it refuses the connection.
	zxid    int64
	timeout time.Duration
}

const passwordSize = 16

// maxGreeting bounds a server's first message; it has 37 bytes.
const maxGreeting = 1 << 10

// greeting is the store's answer.
type greeting struct {
	id       int64
	password []byte
	timeout  time.Duration
	// frame is the message as it came, with its length.
	frame []byte
}

// encode is the first message of a connection: its length, the protocol's
// version, the newest transaction, the timeout in milliseconds, the session's id
// and its password.
func (i identity) encode() []byte {
	b := make([]byte, 4, 48)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(i.zxid))
	b = binary.BigEndian.AppendUint32(b, uint32(min(i.timeout.Milliseconds(), math.MaxInt32)))
	b = binary.BigEndian.AppendUint64(b, uint64(i.id))
	password := i.password
	if len(password) == 0 {
		password = make([]byte, passwordSize)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	b = append(b, password...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

// greet exchanges the first messages. ErrExpired says that the session that was
// asked for is no more. Whoever calls it bounds it by closing the connection.
func greet(conn net.Conn, as identity) (greeting, error) {
	if _, err := conn.Write(as.encode()); err != nil {
		return greeting{}, fmt.Errorf("ask for a session: %w", err)
	}
	frame := make([]byte, 4, 64)
	if _, err := io.ReadFull(conn, frame); err != nil {
		return greeting{}, fmt.Errorf("await a session: %w", explain(err))
	}
	size := binary.BigEndian.Uint32(frame)
	if size < 20 || size > maxGreeting {
		return greeting{}, fmt.Errorf("await a session: the answer's length is %d: not a ZooKeeper, or one that wants TLS", size)
	}
	frame = append(frame, make([]byte, size)...)
	if _, err := io.ReadFull(conn, frame[4:]); err != nil {
		return greeting{}, fmt.Errorf("await a session: %w", explain(err))
	}
	return decodeGreeting(frame, as)
}

// explain says what an end of the connection means at this point.
func explain(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the server has ended the connection: it has no quorum, is behind, or wants TLS")
	}
	return err
}

func decodeGreeting(frame []byte, as identity) (greeting, error) {
	body := frame[4:]
	g := greeting{
		timeout: time.Duration(binary.BigEndian.Uint32(body[4:])) * time.Millisecond,
		id:      int64(binary.BigEndian.Uint64(body[8:])),
		frame:   frame,
	}
	size := int64(binary.BigEndian.Uint32(body[16:]))
	if size > int64(len(body)-20) {
		return greeting{}, errors.New("await a session: the answer is cut short")
	}
	g.password = body[20 : 20+size]
	switch {
	case g.id == 0 && as.id == 0:
		return greeting{}, errors.New("await a session: the server has given none")
	case g.id == 0:
		return greeting{}, ErrExpired
	case as.id != 0 && g.id != as.id:
		return greeting{}, fmt.Errorf("await session %#x: the server has given %#x", as.id, g.id)
	case g.timeout <= 0:
		return greeting{}, errors.New("await a session: the server has given it no time")
	}
	return g, nil
}
