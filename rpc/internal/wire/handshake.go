package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"reflect"

	"github.com/leatdata/leat/rpc/internal/codec"
)

// Magic opens a Hello, so that a stranger of another protocol is known as one.
const Magic = "leat-rpc"

// HandshakeLimit bounds a frame of the handshake: all that a stranger can make
// us hold.
const HandshakeLimit = 4 << 10

// InitialWindow is the credit that every target has before the Welcome or Hello
// of the receiver has said how much it really is; no window is smaller.
const InitialWindow = 64 << 10

// NonceSize is how many random bytes each side gives.
const NonceSize = 32

// HelloBody is how the dialler introduces itself.
type HelloBody struct {
	Magic      string   `rpc:"1"`
	MinVersion uint32   `rpc:"2"`
	MaxVersion uint32   `rpc:"3"`
	ID         [16]byte `rpc:"4"` // of this start of the Env
	Addr       string   `rpc:"5"` // where it listens; empty when it does not
	Number     uint64   `rpc:"6"` // grows with each connection of this Env to this peer
	Nonce      []byte   `rpc:"7"`
	Window     uint64   `rpc:"8"`
	MaxFrame   uint64   `rpc:"9"`
}

// WelcomeBody is the listener's answer.
type WelcomeBody struct {
	Version  uint32   `rpc:"1"`
	ID       [16]byte `rpc:"2"`
	Addr     string   `rpc:"3"`
	Nonce    []byte   `rpc:"4"`
	Window   uint64   `rpc:"5"`
	MaxFrame uint64   `rpc:"6"`
	Proof    []byte   `rpc:"7"` // empty when no secret is required
}

// RefusalBody says why there will be no connection.
type RefusalBody struct {
	Reason string `rpc:"1"`
}

// ProofBody shows that the dialler has the secret.
type ProofBody struct {
	Proof []byte `rpc:"1"`
}

// NoAsk is the id of a Failure that is of no ask but of Lost one-way messages,
// which found no endpoint of the name in Text.
const NoAsk = 1<<64 - 1

// FailureBody is why an ask has no reply.
type FailureBody struct {
	Code   uint32 `rpc:"1"`
	Text   string `rpc:"2"`
	Reason string `rpc:"3"` // the application's own code
	Lost   uint32 `rpc:"4"`
}

// GoodbyeBody is why a connection ends.
type GoodbyeBody struct {
	Reason string `rpc:"1"`
}

// Bodies writes and reads the bodies that are structs.
type Bodies struct {
	plans map[reflect.Type]*codec.Plan
}

// NewBodies prepares the plans.
func NewBodies() *Bodies {
	b := &Bodies{plans: map[reflect.Type]*codec.Plan{}}
	for _, t := range []reflect.Type{
		reflect.TypeFor[HelloBody](), reflect.TypeFor[WelcomeBody](), reflect.TypeFor[RefusalBody](),
		reflect.TypeFor[ProofBody](), reflect.TypeFor[FailureBody](), reflect.TypeFor[GoodbyeBody](),
	} {
		plan, err := codec.Compile(t)
		if err != nil {
			panic(fmt.Sprintf("wire: %v", err))
		}
		b.plans[t] = plan
	}
	return b
}

// Append writes a frame with a struct as its body.
func (b *Bodies) Append(dst []byte, version uint8, kind Kind, prefix []byte, body any) []byte {
	start := len(dst)
	dst = append(Begin(dst, version, kind), prefix...)
	v := reflect.ValueOf(body)
	dst, err := b.plans[v.Type()].Append(dst, v)
	if err != nil {
		panic(fmt.Sprintf("wire: %v", err))
	}
	return End(dst, start)
}

// Decode reads a body into the struct that body points to.
func (b *Bodies) Decode(data []byte, body any) error {
	v := reflect.ValueOf(body).Elem()
	if err := b.plans[v.Type()].Decode(data, v, nil); err != nil {
		return fmt.Errorf("%w: %w", ErrBody, err)
	}
	return nil
}

// ReadHandshake reads one frame of the handshake and not a byte more.
func ReadHandshake(r io.Reader) (Frame, error) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(r, length); err != nil {
		return Frame{}, err
	}
	size, err := Size(length, HandshakeLimit)
	if err != nil {
		return Frame{}, err
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data[copy(data, length):]); err != nil {
		return Frame{}, err
	}
	f, _, err := Cut(data, HandshakeVersion, HandshakeLimit)
	return f, err
}

// Prove makes a proof that a side ("dialler" or "listener") has the secret. It
// covers both introductions and the binding: what the TLS connection has of its
// own, so that a proof cannot be passed on into another connection.
func Prove(secret []byte, side string, hello HelloBody, welcome WelcomeBody, binding []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	for _, part := range [][]byte{
		[]byte(side), hello.ID[:], []byte(hello.Addr), hello.Nonce,
		welcome.ID[:], []byte(welcome.Addr), welcome.Nonce, binding,
	} {
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(part))))
		mac.Write(part)
	}
	mac.Write(binary.BigEndian.AppendUint64(nil, hello.Number))
	return mac.Sum(nil)
}
