package rpc

import "time"

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

// envelope is what an inbox queues. A message is either its encoding, in data,
// or the value itself, in value.
type envelope struct {
	msg   *message
	data  []byte
	value any
	// from is the way a remote message came; nil for a local one.
	from *channel
	// call and id are where an ask's answer goes: to a local call whose
	// generation is id, or as id over the connection it came by.
	call *call
	id   uint64
	// deadline is when the asker gives up, in Unix nanoseconds; 0: not said.
	deadline int64
	size     uint32
	kind     kind
	// answered says that a handler that failed has answered its ask before.
	answered bool
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
	if b, ok := any(&msg).(*Bytes); ok {
		*b = e.data
		return msg, nil
	}
	if e.value != nil {
		return e.value.(T), nil
	}
	return e.msg.codec.(typed[T]).decode(e.data, env)
}

// parcel is a message on its way into a queue: what an envelope and a reply hold
// of it.
type parcel struct {
	msg   *message
	data  []byte
	value any
}

// pack makes a parcel for an endpoint of this process: the value itself where it
// may be shared, else its encoding, in memory of its own.
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
func unpack[T any](m *message, data []byte, value any, env *Env) (T, error) {
	e := envelope{msg: m, data: data, value: value}
	return load[T](&e, env)
}
