package rpc

import (
	"time"
	"unsafe"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// kind says what an envelope holds.
type kind uint8

const (
	kindTell kind = iota
	kindAsk
	kindConnected
	kindDisconnected
	kindNetworkError
	// kindFault is an error found outside of a handler, for OnError.
	kindFault
)

// envelope is what an inbox queues: one cache line, since each message is copied
// into the queue and out of it.
type envelope struct {
	msg *message
	// value is the message itself, or a pointer to its encoding, which is as long
	// as size says: see enclosed.
	value any
	// from is the way a remote message came; nil for a local one.
	from *channel
	// call and id are where an ask's answer goes: to a local call whose
	// generation is id, or as id over the connection it came by.
	call *call
	id   uint64
	// deadline is when the asker gives up, in Unix nanoseconds; 0: not said.
	deadline int64
	// size is what it counts against a bound: Overhead and the encoding's length.
	size uint32
	kind kind
	// answered says that a handler that failed has answered its ask before.
	answered bool
}

// encoded is the type of the first byte of an encoding: no message is one.
type encoded byte

// enclosed is an encoding as the value of an envelope, and its size there. A
// pointer fits into an interface as it is, where a slice would be copied to the
// heap.
func enclosed(data []byte) (value any, size uint32) {
	return (*encoded)(unsafe.Pointer(unsafe.SliceData(data))), uint32(len(data) + wire.Overhead)
}

// data is the encoding; ok is false when the value is the message itself.
func (e *envelope) data() (data []byte, ok bool) {
	p, ok := e.value.(*encoded)
	if !ok {
		return nil, false
	}
	n := int(e.size) - wire.Overhead
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), n)[:n:n], true
}

// event is the value of an envelope that is not a message.
type event struct {
	addr Addr
	err  error
}

// unknown is the value of a message whose type this Env does not have.
type unknown struct{ name string }

func (e *envelope) expired(now func() time.Time) bool {
	return e.deadline != 0 && now().UnixNano() >= e.deadline
}

// messageName names the message for an error.
func (e *envelope) messageName() string {
	switch {
	case e.msg != nil:
		return e.msg.name
	case e.kind == kindConnected:
		return "OnConnected"
	case e.kind == kindDisconnected:
		return "OnDisconnected"
	case e.kind == kindNetworkError:
		return "OnNetworkError"
	}
	if u, ok := e.value.(unknown); ok {
		return u.name
	}
	return "message"
}

// load takes the message out of its envelope.
func load[T any](e *envelope, env *Env) (msg T, err error) {
	data, ok := e.data()
	if !ok {
		return e.value.(T), nil
	}
	if b, ok := any(&msg).(*Bytes); ok {
		*b = data
		return msg, nil
	}
	return e.msg.codec.(typed[T]).decode(data, env)
}

// enclose is pack for an envelope.
func enclose[T any](m *message, msg T) (value any, size uint32, err error) {
	if b, ok := any(&msg).(*Bytes); ok {
		value, size = enclosed(*b)
		return value, size, nil
	}
	if m.shared {
		return msg, wire.Overhead, nil
	}
	data, err := m.codec.(typed[T]).append(nil, msg)
	value, size = enclosed(data)
	return value, size, err
}

// parcel is a reply: its encoding, or the value itself.
type parcel struct {
	msg   *message
	data  []byte
	value any
}

// pack makes a parcel for an asker of this process: the value itself where it may
// be shared, else its encoding, in memory of its own.
func pack[T any](m *message, msg T) (parcel, error) {
	if b, ok := any(&msg).(*Bytes); ok {
		return parcel{msg: m, data: *b}, nil
	}
	if m.shared {
		return parcel{msg: m, value: msg}, nil
	}
	data, err := m.codec.(typed[T]).append(nil, msg)
	return parcel{msg: m, data: data}, err
}

// unpack is load for a reply.
func unpack[T any](p *parcel, env *Env) (msg T, err error) {
	if b, ok := any(&msg).(*Bytes); ok {
		*b = p.data
		return msg, nil
	}
	if p.value != nil {
		return p.value.(T), nil
	}
	return p.msg.codec.(typed[T]).decode(p.data, env)
}
