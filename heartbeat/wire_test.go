package heartbeat_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/rpc"
)

// What follows is the few lines that an owner needs for heartbeats over package
// rpc: a message, a target, and the endpoint's loop as an executor.

// beat is a heartbeat on the wire, with a payload that is a number.
type beat struct {
	From    string `rpc:"1"`
	Request bool   `rpc:"2"`
	Some    bool   `rpc:"3"`
	Payload int64  `rpc:"4"`
}

func (b beat) in() heartbeat.Beat[int64] {
	in := heartbeat.Beat[int64]{From: heartbeat.ID(b.From), Request: b.Request}
	if b.Some {
		in.Payload = &b.Payload
	}
	return in
}

// wired sends heartbeats to an endpoint. It does not wait: what fails later comes
// to the owner's OnNetworkError.
type wired struct{ ref rpc.Ref }

// Send implements heartbeat.Target.
func (w wired) Send(out heartbeat.Beat[int64]) error {
	b := beat{From: string(out.From), Request: out.Request}
	if out.Payload != nil {
		b.Some, b.Payload = true, *out.Payload
	}
	return rpc.Send(w.ref, b)
}

// turn is something to do on an endpoint's own loop.
type turn struct{ f func() }

// neverSent is a codec for what stays within the process.
type neverSent struct{}

func (neverSent) Append([]byte, turn) ([]byte, error) {
	return nil, errors.New("a turn cannot be sent")
}
func (neverSent) Decode([]byte) (turn, error) { return turn{}, errors.New("a turn cannot be sent") }

// onLoop is an endpoint's loop. When its inbox is full the turn is dropped, and
// asked for again after an interval.
func onLoop(self rpc.Ref) heartbeat.Executor {
	return func(f func()) { _ = rpc.Send(self, turn{f}) }
}

func turns() rpc.Handler {
	return rpc.Receive(func(_ context.Context, t turn) error {
		t.f()
		return nil
	})
}

// hello registers a worker at the master.
type hello struct {
	ID string  `rpc:"1"`
	At rpc.Ref `rpc:"2"`
}

type welcome struct{}

func messages() []rpc.MessageType {
	return []rpc.MessageType{
		rpc.Define[beat]("beat"), rpc.Define[hello]("hello"), rpc.Define[welcome]("welcome"),
		rpc.DefineCodec("turn", rpc.Codec[turn](neverSent{})).Immutable(),
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

	onRegistered func(id heartbeat.ID)
	onLost       func(id heartbeat.ID, loss heartbeat.Loss)
	onHeard      func(id heartbeat.ID)
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
	if b.sender, err = heartbeat.NewSender(services, "master", heartbeat.Listener[int64, int64](b), onLoop(env.Ref("master"))); err != nil {
		return err
	}
	_, err = env.Register("master", rpc.Endpoint{
		Handlers: []rpc.Handler{
			turns(),
			rpc.Receive(func(_ context.Context, m beat) error { b.sender.Receive(m.in()); return nil }),
			rpc.Reply(func(_ context.Context, h hello) (welcome, error) { return welcome{}, b.register(h) }),
		},
		OnNetworkError: func(_ context.Context, addr rpc.Addr, err error) error {
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
	mon, err := b.sender.Monitor(id, wired{ref})
	if err != nil {
		return err
	}
	b.monitors[ref.Addr()] = mon
	if b.onRegistered != nil {
		b.onRegistered(id)
	}
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
	if h.manager, err = heartbeat.NewManager(services, h.id, heartbeat.Listener[int64, int64](h), onLoop(env.Ref(string(h.id)))); err != nil {
		return err
	}
	h.self, err = env.Register(string(h.id), rpc.Endpoint{Handlers: []rpc.Handler{
		turns(),
		rpc.Receive(func(_ context.Context, m beat) error {
			if !h.mute {
				h.manager.Receive(m.in())
			}
			return nil
		}),
	}})
	if err != nil {
		return err
	}
	return h.join(ctx)
}

// join registers at the master and monitors it.
func (h *hand) join(ctx context.Context) error {
	if _, err := rpc.Ask[welcome](ctx, h.master, hello{string(h.id), h.self}); err != nil {
		return fmt.Errorf("register %s: %w", h.id, err)
	}
	_, err := h.manager.Monitor("master", wired{h.master})
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
