package heartbeat_test

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/rpc"
)

// The masters and workers of the tests with processes. What connects heartbeats with
// rpc is in example_rpc_test.go, as any application would copy it.

// hello registers a worker at the master.
type hello struct {
	ID string  `rpc:"1"`
	At rpc.Ref `rpc:"2"`
}

type welcome struct{}

func messages() []rpc.MessageType {
	return []rpc.MessageType{
		rpc.Define[pulse[int64]]("heartbeat"), rpc.Define[hello]("hello"), rpc.Define[welcome]("welcome"),
		rpc.Define[turn]("turn").Immutable(),
	}
}

// boss is a master: it monitors who registers, at the address that via gives, and
// tells of its losses. Its fields belong to its endpoint's loop.
type boss struct {
	env    *rpc.Env
	sender *heartbeat.Sender[int64, int64]
	via    func(rpc.Addr) rpc.Addr
	// monitors are the targets by address.
	monitors map[rpc.Addr]*heartbeat.Monitor

	onLost   func(id heartbeat.ID, loss heartbeat.Loss)
	onHeard  func(id heartbeat.ID)
	onFailed func(err error)
}

func startBoss(ctx context.Context, services *heartbeat.Services, b *boss) error {
	env, err := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: messages()})
	if err != nil {
		return err
	}
	b.env, b.monitors = env, map[rpc.Addr]*heartbeat.Monitor{}
	if err := env.Start(ctx); err != nil {
		return err
	}
	if b.sender, err = heartbeat.NewSender(services, "master", heartbeat.Listener[int64, int64](b), loopOf(env.Ref("master"))); err != nil {
		return err
	}
	_, err = env.Register("master", rpc.Endpoint{
		Handlers: append(handlers(b.sender.Manager),
			rpc.Reply(func(_ context.Context, h hello) (welcome, error) { return welcome{}, b.register(h) })),
		OnNetworkError: func(_ context.Context, addr rpc.Addr, err error) error {
			if b.onFailed != nil {
				b.onFailed(err)
			}
			if mon := b.monitors[addr]; mon != nil {
				mon.Failed(err)
			}
			return nil
		},
	})
	return err
}

// register takes a worker in, also one that is known: then with a new monitor.
func (b *boss) register(h hello) error {
	id, ref := heartbeat.ID(h.ID), h.At
	if b.via != nil {
		ref = b.env.RefAt(b.via(ref.Addr()), ref.Name())
	}
	b.sender.Unmonitor(id)
	mon, err := b.sender.Monitor(id, target[int64](ref))
	if err != nil {
		return err
	}
	b.monitors[ref.Addr()] = mon
	return nil
}

// Timeout implements heartbeat.Listener.
func (b *boss) Timeout(id heartbeat.ID, loss heartbeat.Loss) { b.onLost(id, loss) }

// ReportPayload implements heartbeat.Listener.
func (b *boss) ReportPayload(id heartbeat.ID, _ *int64) {
	if b.onHeard != nil {
		b.onHeard(id)
	}
}

// RetrievePayload implements heartbeat.Listener.
func (b *boss) RetrievePayload(heartbeat.ID) *int64 { return nil }

// hand is a worker: it registers, and answers.
type hand struct {
	id      heartbeat.ID
	manager *heartbeat.Manager[int64, int64]
	master  rpc.Ref
	self    rpc.Ref
	// mute: requests are heard, and not answered.
	mute    bool
	answers int64
	onAsked func(n int64)
	onLost  func(loss heartbeat.Loss)
}

func startHand(ctx context.Context, env *rpc.Env, services *heartbeat.Services, h *hand) (err error) {
	if h.manager, err = heartbeat.NewManager(services, h.id, heartbeat.Listener[int64, int64](h), loopOf(env.Ref(string(h.id)))); err != nil {
		return err
	}
	if h.self, err = env.Register(string(h.id), rpc.Endpoint{Handlers: handlers(h.manager)}); err != nil {
		return err
	}
	return h.join(ctx)
}

// join registers at the master and monitors it.
func (h *hand) join(ctx context.Context) error {
	if _, err := rpc.Ask[welcome](ctx, h.master, hello{string(h.id), h.self}); err != nil {
		return fmt.Errorf("register %s: %w", h.id, err)
	}
	to := target[int64](h.master)
	_, err := h.manager.Monitor("master", heartbeat.TargetFunc[int64](func(b heartbeat.Beat[int64]) error {
		if h.mute {
			return nil
		}
		return to.Send(b)
	}))
	return err
}

// Timeout implements heartbeat.Listener.
func (h *hand) Timeout(_ heartbeat.ID, loss heartbeat.Loss) {
	if h.onLost != nil {
		h.onLost(loss)
	}
}

// ReportPayload implements heartbeat.Listener.
func (h *hand) ReportPayload(heartbeat.ID, *int64) {}

// RetrievePayload implements heartbeat.Listener: the number of the answer.
func (h *hand) RetrievePayload(heartbeat.ID) *int64 {
	h.answers++
	n := h.answers
	if h.onAsked != nil {
		h.onAsked(n)
	}
	return &n
}
