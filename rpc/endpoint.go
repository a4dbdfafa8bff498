package rpc

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Endpoint is a named receiver of messages. All callbacks may be nil. Those of a
// sequential endpoint never run at the same time, so that its state needs no
// lock. A context given to a callback ends when the Env stops waiting for it;
// [Sender] and [Self] read from it.
//
// An error that a callback returns, and a panic, go to OnError; what OnError
// returns is logged. None of it ends the endpoint, except an error of OnStart.
type Endpoint struct {
	// Concurrency is how many messages may be handled at once; 0 and 1: one after
	// the other, in the order in which they came. OnStart and OnStop run alone in
	// any case.
	Concurrency int
	// Handlers say which messages are understood.
	Handlers []Handler
	// MaxBytes and MaxMessages bound what local senders may have queued; 0: as the
	// Env's config has it.
	MaxBytes, MaxMessages int

	// OnStart is the first thing that runs. An error stops the endpoint, without
	// OnStop: it is unregistered, and who has asked it gets the error.
	OnStart func(ctx context.Context, self Ref) error
	// OnStop is the last thing that runs; what was accepted has been handled.
	OnStop func(ctx context.Context) error
	// OnError is told what went wrong: a [HandlerError]. Without it, it is logged.
	OnError func(ctx context.Context, err error) error

	// OnConnected tells that a process can be reached, or has reached us, over its
	// first connection; OnDisconnected that the last is gone, behind every message
	// that came over it. OnNetworkError tells how a connection, or the attempt at
	// one, failed: a [LinkError].
	OnConnected    func(ctx context.Context, addr Addr) error
	OnDisconnected func(ctx context.Context, addr Addr) error
	OnNetworkError func(ctx context.Context, addr Addr, err error) error
}

// Register adds an endpoint under a name, which must be free, and starts it. The
// ref is valid at once, as is the one that [Env.Ref] gives for the name before.
func (env *Env) Register(name string, ep Endpoint) (Ref, error) {
	in, err := env.newInbox(name, ep)
	if err != nil {
		return Ref{}, fmt.Errorf("register endpoint %s: %w", name, err)
	}
	env.mu.Lock()
	switch {
	case env.stopping:
		err = ErrStopped
	case env.inboxes[name] != nil:
		err = errors.New("the name is taken")
	default:
		env.inboxes[name] = in
		env.listed = append(slices.Clip(env.listed), in)
	}
	env.mu.Unlock()
	if err != nil {
		in.cancel()
		return Ref{}, fmt.Errorf("register endpoint %s: %w", name, err)
	}
	in.start()
	return Ref{in.self}, nil
}

func (env *Env) newInbox(name string, ep Endpoint) (*inbox, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if ep.Concurrency < 0 || ep.MaxBytes < 0 || ep.MaxMessages < 0 {
		return nil, errors.New("the concurrency and the bounds cannot be negative")
	}
	table, err := newHandlerTable(env.registry, ep.Handlers)
	if err != nil {
		return nil, err
	}
	ep.Concurrency = max(1, ep.Concurrency)
	if ep.MaxBytes == 0 {
		ep.MaxBytes = env.cfg.InboxBytes
	}
	if ep.MaxMessages == 0 {
		ep.MaxMessages = env.cfg.InboxMessages
	}
	in := &inbox{
		env: env, name: name, ep: ep, handlers: table,
		self: env.localTarget(name), done: make(chan struct{}),
		maxBytes: min(int64(ep.MaxBytes), math.MaxInt64/2), maxMessages: ep.MaxMessages,
	}
	in.ctx, in.cancel = context.WithCancel(context.Background())
	return in, nil
}

// Unregister stops an endpoint: what it has accepted is handled, then OnStop
// runs, and then the name is free. What is posted meanwhile is refused with
// [ErrNotFound]. It waits as long as ctx allows; called with the context of the
// endpoint's own handler, it does not wait.
func (env *Env) Unregister(ctx context.Context, name string) error {
	env.mu.RLock()
	in := env.inboxes[name]
	env.mu.RUnlock()
	if in == nil {
		return fmt.Errorf("unregister: %w", notFound(name))
	}
	in.stop(notFound(name))
	if own, ok := inHandlerOf(ctx, env); ok && own == in {
		return nil
	}
	select {
	case <-in.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("unregister endpoint %s: %w", name, context.Cause(ctx))
	}
}

// forget takes an endpoint that has ended off the list.
func (env *Env) forget(in *inbox) {
	env.mu.Lock()
	defer env.mu.Unlock()
	if env.inboxes[in.name] == in {
		delete(env.inboxes, in.name)
		env.listed = slices.DeleteFunc(slices.Clone(env.listed), func(o *inbox) bool { return o == in })
	}
}

// find looks an endpoint up by its name.
func (env *Env) find(name string) (*inbox, error) {
	env.mu.RLock()
	defer env.mu.RUnlock()
	if in := env.inboxes[name]; in != nil {
		return in, nil
	}
	if env.stopping {
		return nil, stoppedAt(env.addr)
	}
	return nil, notFound(name)
}

// announce posts an event to every endpoint that wants it. Once the Env stops,
// nobody is told that our own connections end.
func (env *Env) announce(k kind, addr Addr, err error) {
	env.mu.RLock()
	listed, stopping := env.listed, env.stopping
	env.mu.RUnlock()
	if stopping {
		return
	}
	for _, in := range listed {
		if in.wants(k) {
			_ = in.post(envelope{kind: k, value: event{addr: addr, err: err}})
		}
	}
}

func (in *inbox) wants(k kind) bool {
	switch k {
	case kindConnected:
		return in.ep.OnConnected != nil
	case kindDisconnected:
		return in.ep.OnDisconnected != nil
	default:
		return in.ep.OnNetworkError != nil
	}
}

// Endpoints are the names that are registered.
func (env *Env) Endpoints() []string {
	env.mu.RLock()
	defer env.mu.RUnlock()
	names := make([]string, 0, len(env.inboxes))
	for name := range env.inboxes {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}
