package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Version is the newest version of the protocol, MinVersion the oldest spoken.
// Each has its golden frames in testdata/wire of package rpc.
const (
	HandshakeVersion = 0
	MinVersion       = 1
	Version          = 1
)

// HeaderSize is what precedes a body: length, version and kind.
const HeaderSize = 6

// IDSize is the size of an ask's number in a frame.
const IDSize = 8

// Overhead is what a message counts against a window beside its payload, on both
// sides alike: about what an inbox takes for it.
const Overhead = 64

// Kind says what a frame is.
type Kind uint8

// The kinds.
const (
	Hello   Kind = 1
	Welcome Kind = 2
	Refusal Kind = 3
	Proof   Kind = 4

	Target Kind = 16
	Type   Kind = 17
	Forget Kind = 18

	Tell    Kind = 32
	Ask     Kind = 33
	Reply   Kind = 34
	Failure Kind = 35
	Credit  Kind = 36

	Ping    Kind = 48
	Pong    Kind = 49
	Goodbye Kind = 50
)

// What can be wrong with the bytes of a peer.
var (
	ErrLength  = errors.New("frame length out of bounds")
	ErrVersion = errors.New("frame of another version")
	ErrBody    = errors.New("frame body is cut short or malformed")
)

// Frame is one frame; Body is a part of the bytes it was cut from.
type Frame struct {
	Kind Kind
	Body []byte
}

// Size reads from the first bytes of a frame how many it has in all; 0 when
// there are too few to tell.
func Size(data []byte, limit int) (int, error) {
	if len(data) < 4 {
		return 0, nil
	}
	n := binary.BigEndian.Uint32(data)
	if n < 2 || int64(n) > int64(limit) {
		return 0, fmt.Errorf("%w: %d bytes, at most %d", ErrLength, n, limit)
	}
	return int(n) + 4, nil
}

// Cut takes the first frame off data; size 0 says that it is not all there yet.
func Cut(data []byte, version uint8, limit int) (f Frame, size int, err error) {
	size, err = Size(data, limit)
	if err != nil || size == 0 || size > len(data) {
		return Frame{}, 0, err
	}
	if data[4] != version {
		return Frame{}, 0, fmt.Errorf("%w: %d, agreed was %d", ErrVersion, data[4], version)
	}
	return Frame{Kind: Kind(data[5]), Body: data[HeaderSize:size:size]}, size, nil
}

// Begin writes a frame's header behind dst; End puts in the length.
func Begin(dst []byte, version uint8, kind Kind) []byte {
	return append(dst, 0, 0, 0, 0, version, byte(kind))
}

// End completes the frame that was begun at start.
func End(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// AppendPlain writes a frame whose body is ready.
func AppendPlain(dst []byte, version uint8, kind Kind, body []byte) []byte {
	start := len(dst)
	dst = Begin(dst, version, kind)
	return End(append(dst, body...), start)
}

// AppendDefine writes a Target or Type frame.
func AppendDefine(dst []byte, kind Kind, number uint32, name string) []byte {
	start := len(dst)
	dst = Begin(dst, Version, kind)
	dst = binary.AppendUvarint(dst, uint64(number))
	return End(append(dst, name...), start)
}

// AppendTell writes a one-way message.
func AppendTell(dst []byte, target, typ uint32, payload []byte) []byte {
	start := len(dst)
	dst = Begin(dst, Version, Tell)
	dst = appendNumber(dst, target)
	dst = appendNumber(dst, typ)
	dst = append(dst, payload...)
	return End(dst, start)
}

// AppendAsk writes a request.
func AppendAsk(dst []byte, id uint64, millis uint64, target, typ uint32, payload []byte) []byte {
	start := len(dst)
	dst = Begin(dst, Version, Ask)
	dst = binary.BigEndian.AppendUint64(dst, id)
	dst = binary.AppendUvarint(dst, millis)
	dst = appendNumber(dst, target)
	dst = appendNumber(dst, typ)
	dst = append(dst, payload...)
	return End(dst, start)
}

// AppendReply writes an answer.
func AppendReply(dst []byte, id uint64, typ uint32, payload []byte) []byte {
	start := len(dst)
	dst = Begin(dst, Version, Reply)
	dst = binary.BigEndian.AppendUint64(dst, id)
	dst = appendNumber(dst, typ)
	dst = append(dst, payload...)
	return End(dst, start)
}

// AppendCredit writes how many bytes of a target's messages were handled.
func AppendCredit(dst []byte, target uint32, bytes uint64) []byte {
	start := len(dst)
	dst = Begin(dst, Version, Credit)
	dst = appendNumber(dst, target)
	return End(binary.AppendUvarint(dst, bytes), start)
}

// appendNumber is binary.AppendUvarint, which the compiler does not inline.
func appendNumber(dst []byte, n uint32) []byte {
	if n < 0x80 {
		return append(dst, byte(n))
	}
	return binary.AppendUvarint(dst, uint64(n))
}

// CutNumber takes a number below 1<<32 off a body.
func CutNumber(body []byte) (uint32, []byte, error) {
	if len(body) > 0 && body[0] < 0x80 {
		return uint32(body[0]), body[1:], nil
	}
	n, size := binary.Uvarint(body)
	if size <= 0 || n > 1<<32-1 {
		return 0, nil, ErrBody
	}
	return uint32(n), body[size:], nil
}

// CutLong takes a number of up to 64 bits off a body.
func CutLong(body []byte) (uint64, []byte, error) {
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return 0, nil, ErrBody
	}
	return n, body[size:], nil
}

// CutID takes an ask's number off a body.
func CutID(body []byte) (uint64, []byte, error) {
	if len(body) < IDSize {
		return 0, nil, ErrBody
	}
	return binary.BigEndian.Uint64(body), body[IDSize:], nil
}
