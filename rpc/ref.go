package rpc

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"
	"weak"

	"github.com/leatdata/leat/rpc/internal/codec"
	"github.com/leatdata/leat/rpc/internal/wire"
)

// Ref is what others hold of an endpoint: an address and a name. It says nothing
// of whether the endpoint is there. It is used by [Send], [SendWait] and [Ask], may
// be a field of a message, and two of one Env for the same endpoint are equal. The
// zero Ref is empty.
type Ref struct {
	target *target
}

// Ref is the ref of an endpoint of this process, registered or not yet.
func (env *Env) Ref(name string) Ref { return Ref{env.localTarget(name)} }

// RefAt is the ref of an endpoint of the process at an address.
func (env *Env) RefAt(addr Addr, name string) Ref {
	if addr == "" || addr == env.Addr() || addr == env.id.addr() {
		return env.Ref(name)
	}
	return Ref{env.target(addr, name)}
}

// Addr is the address of the endpoint's process.
func (r Ref) Addr() Addr {
	switch {
	case r.target == nil:
		return ""
	case r.target.out == nil:
		return r.target.env.Addr()
	default:
		return r.target.out.addr
	}
}

// Name is the endpoint's name.
func (r Ref) Name() string {
	if r.target == nil {
		return ""
	}
	return r.target.name
}

// IsZero says whether the ref is empty.
func (r Ref) IsZero() bool { return r.target == nil }

// String is NAME@ADDR, for logs.
func (r Ref) String() string {
	if r.target == nil {
		return "(no endpoint)"
	}
	return fmt.Sprintf("%s@%s", r.Name(), r.Addr())
}

// target is the one thing behind all refs of an Env for one endpoint.
type target struct {
	env  *Env
	name string
	// out leads to the endpoint's process; nil for one of this process.
	out *outbox
	// inbox is the endpoint when it was last looked up.
	inbox atomic.Pointer[inbox]

	// What follows belongs to the outbox's mutex: the number that the target has
	// in a session, and the bytes that may still be sent to it.
	session uint64
	index   uint32
	credit  int64
}

// targetKey finds a target; addr is empty for our own endpoints.
type targetKey struct {
	addr Addr
	name string
}

func (env *Env) localTarget(name string) *target { return env.target("", name) }

// target finds or makes a target. The Env does not keep it alive: refs do.
func (env *Env) target(addr Addr, name string) *target {
	env.refMu.Lock()
	defer env.refMu.Unlock()
	key := targetKey{addr, name}
	if t := env.targets[key].Value(); t != nil {
		return t
	}
	t := &target{env: env, name: name}
	if addr != "" {
		t.out = env.outboxLocked(addr)
	}
	env.targets[key] = weak.Make(t)
	runtime.AddCleanup(t, env.targetGone, key)
	return t
}

func (env *Env) targetGone(key targetKey) {
	env.refMu.Lock()
	defer env.refMu.Unlock()
	if w, ok := env.targets[key]; ok && w.Value() == nil {
		delete(env.targets, key)
	}
}

// outboxLocked finds or makes the outbox to an address. It lives while a ref or
// a connection needs it, so that there are never two to one address.
func (env *Env) outboxLocked(addr Addr) *outbox {
	if o := env.outboxes[addr].Value(); o != nil {
		return o
	}
	o := newOutbox(env, addr)
	env.outboxes[addr] = weak.Make(o)
	runtime.AddCleanup(o, env.outboxGone, addr)
	return o
}

func (env *Env) outboxGone(addr Addr) {
	env.refMu.Lock()
	defer env.refMu.Unlock()
	if w, ok := env.outboxes[addr]; ok && w.Value() == nil {
		delete(env.outboxes, addr)
	}
}

// offer queues a message at an endpoint of this process.
func (t *target) offer(e *envelope) error {
	in := t.inbox.Load()
	if in != nil {
		err := in.offer(e)
		if err == nil || errors.Is(err, ErrFull) {
			return err
		}
	}
	// Not registered before, or stopped and perhaps registered anew.
	again, err := t.env.find(t.name)
	if err != nil {
		return err
	}
	t.inbox.Store(again)
	return again.offer(e)
}

// vacancy is closed when sending may succeed again; nil: now.
func (t *target) vacancy() <-chan struct{} {
	if t.out != nil {
		return t.out.vacancy(t)
	}
	if in := t.inbox.Load(); in != nil {
		return in.vacancy()
	}
	return nil
}

// refBody is a ref in a message.
type refBody struct {
	Addr string `rpc:"1"`
	Name string `rpc:"2"`
}

// refCodec writes a ref as the address and the name; our own endpoints get our
// address on the way out.
func refCodec() codec.Custom {
	plan, err := codec.Compile(reflect.TypeFor[refBody]())
	if err != nil {
		panic(fmt.Sprintf("rpc: %v", err))
	}
	return codec.Custom{
		Type: reflect.TypeFor[Ref](),
		Append: func(dst []byte, v reflect.Value) ([]byte, error) {
			r, _ := reflect.TypeAssert[Ref](v)
			return plan.Append(dst, reflect.ValueOf(refBody{Addr: string(r.Addr()), Name: r.Name()}))
		},
		Decode: func(data []byte, v reflect.Value, with any) error {
			var body refBody
			if err := plan.Decode(data, reflect.ValueOf(&body).Elem(), nil); err != nil {
				return err
			}
			env, _ := with.(*Env)
			if env == nil || body.Name == "" || len(body.Name) > maxName || len(body.Addr) > maxName {
				return wire.ErrBody
			}
			v.Set(reflect.ValueOf(env.RefAt(Addr(body.Addr), body.Name)))
			return nil
		},
	}
}
