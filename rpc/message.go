package rpc

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/leatdata/leat/rpc/internal/codec"
)

// maxName bounds the names of endpoints and message types, and addresses.
const maxName = 512

// Bytes is a message that is its own encoding: what an application with a codec
// of its own sends, and the fastest. It is handed on, not copied, where both ends
// are in one process: neither the sender nor the receiver may change it. One that
// came over a connection shares a buffer of up to 64 KiB with its neighbours: keep
// a copy rather than the slice where many are kept for long.
type Bytes []byte

// MessageType is a type that messages may have, and the name by which both ends
// know it; made by [Define] or [DefineCodec].
type MessageType struct {
	def *definition
	err error
}

// Immutable declares that neither side changes a message of the type once it was
// sent. Within one process the value itself is then handed on, without being
// copied by way of its encoding. Types without pointers, slices and maps are
// immutable as they are.
func (t MessageType) Immutable() MessageType {
	if t.def != nil {
		def := *t.def
		def.shared = true
		t.def = &def
	}
	return t
}

// definition is one message type. It is shared by the Envs it is given to.
type definition struct {
	name   string
	goType reflect.Type
	// shared: within a process, values are handed on as they are.
	shared bool
	// codec is a typed[T].
	codec any
}

// typed writes and reads messages of one Go type.
type typed[T any] interface {
	append(dst []byte, msg T) ([]byte, error)
	decode(data []byte, env *Env) (T, error)
}

// Codec is how an application writes and reads messages of a type itself, for
// instance those of generated code.
type Codec[T any] interface {
	// Append writes msg behind dst and returns the extended slice.
	Append(dst []byte, msg T) ([]byte, error)
	// Decode reads a message. It must not keep data.
	Decode(data []byte) (T, error)
}

// Define declares that messages may be of type T, a struct or a pointer to one,
// and are known to peers as name. Each field that is to be carried has a number in
// its tag, `rpc:"1"`: peers of other releases skip the numbers they do not know,
// and find those missing to be zero. Numbers and names are never used anew for
// something else. Fields may be what package
// [github.com/leatdata/leat/rpc/internal/codec] lists, and a [Ref].
//
// What cannot be carried is reported by [New].
func Define[T any](name string) MessageType {
	t := reflect.TypeFor[T]()
	plan, pointer, err := compile(t)
	if err == nil {
		err = checkName(name)
	}
	if err != nil {
		return MessageType{err: fmt.Errorf("define message %q: %w", name, err)}
	}
	c := &planCodec[T]{plan: plan, pointer: pointer}
	c.boxes.New = func() any { return new(T) }
	return MessageType{def: &definition{
		name: name, goType: t, shared: !pointer && !plan.Mutable(), codec: c,
	}}
}

// DefineCodec is Define for a type with a codec of its own.
func DefineCodec[T any](name string, c Codec[T]) MessageType {
	err := checkName(name)
	if err == nil && c == nil {
		err = errors.New("the codec is nil")
	}
	if err != nil {
		return MessageType{err: fmt.Errorf("define message %q: %w", name, err)}
	}
	return MessageType{def: &definition{name: name, goType: reflect.TypeFor[T](), codec: ownCodec[T]{c}}}
}

func compile(t reflect.Type) (plan *codec.Plan, pointer bool, err error) {
	if t.Kind() == reflect.Pointer {
		t, pointer = t.Elem(), true
	}
	plan, err = codec.Compile(t, refCodec())
	return plan, pointer, err
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	default:
		return nil
	}
}

// planCodec writes structs. The boxes keep a value that reflect can look at, so
// that a message makes no garbage.
type planCodec[T any] struct {
	plan    *codec.Plan
	pointer bool
	boxes   sync.Pool
}

func (c *planCodec[T]) append(dst []byte, msg T) ([]byte, error) {
	box := c.boxes.Get().(*T)
	*box = msg
	v := reflect.ValueOf(box).Elem()
	if c.pointer {
		if v.IsNil() {
			return dst, errors.New("message is a nil pointer")
		}
		v = v.Elem()
	}
	dst, err := c.plan.Append(dst, v)
	var zero T
	*box = zero
	c.boxes.Put(box)
	return dst, err
}

func (c *planCodec[T]) decode(data []byte, env *Env) (msg T, err error) {
	box := c.boxes.Get().(*T)
	v := reflect.ValueOf(box).Elem()
	if c.pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if err = c.plan.Decode(data, v, env); err == nil {
		msg = *box
	}
	var zero T
	*box = zero
	c.boxes.Put(box)
	return msg, err
}

type ownCodec[T any] struct{ own Codec[T] }

func (c ownCodec[T]) append(dst []byte, msg T) ([]byte, error) { return c.own.Append(dst, msg) }
func (c ownCodec[T]) decode(data []byte, _ *Env) (T, error)    { return c.own.Decode(data) }

// bytesCodec is of Bytes itself.
type bytesCodec struct{}

func (bytesCodec) append(dst []byte, msg Bytes) ([]byte, error) { return append(dst, msg...), nil }
func (bytesCodec) decode(data []byte, _ *Env) (Bytes, error)    { return data, nil }
func bytesDefinition() *definition {
	return &definition{name: "bytes", goType: reflect.TypeFor[Bytes](), shared: true, codec: bytesCodec{}}
}

// message is a definition within one Env.
type message struct {
	*definition
	// index is its number: on the wire, and in tables of handlers.
	index uint32
}

// registry is an Env's messages; it does not change.
type registry struct {
	byType map[reflect.Type]*message
	byName map[string]*message
	all    []*message
}

func newRegistry(types []MessageType) (*registry, error) {
	r := &registry{byType: map[reflect.Type]*message{}, byName: map[string]*message{}}
	r.add(bytesDefinition())
	var problems []error
	for _, t := range types {
		switch {
		case t.err != nil:
			problems = append(problems, t.err)
		case t.def == nil:
			problems = append(problems, errors.New("a message type is empty: make it with Define"))
		case r.byType[t.def.goType] != nil:
			problems = append(problems, fmt.Errorf("define message %q: type %s is defined already", t.def.name, t.def.goType))
		case r.byName[t.def.name] != nil:
			problems = append(problems, fmt.Errorf("define message %q: the name is taken by %s", t.def.name, r.byName[t.def.name].goType))
		default:
			r.add(t.def)
		}
	}
	return r, errors.Join(problems...)
}

func (r *registry) add(def *definition) {
	m := &message{definition: def, index: uint32(len(r.all))}
	r.all = append(r.all, m)
	r.byType[def.goType] = m
	r.byName[def.name] = m
}

// messageOf finds the type T; Bytes, index 0, without a search.
func messageOf[T any](r *registry) (*message, error) {
	var none *T
	if _, ok := any(none).(*Bytes); ok {
		return r.all[0], nil
	}
	m := r.byType[reflect.TypeFor[T]()]
	if m == nil {
		return nil, fmt.Errorf("%w: %s: add it to Config.Messages", ErrUndefined, reflect.TypeFor[T]())
	}
	return m, nil
}
