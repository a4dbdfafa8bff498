package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/heartbeat"
	"github.com/leatdata/leat/rpc"
)

// What connects the two packages: a message, a target, an executor, two handlers.

// pulse is a heartbeat.Beat as a message: the same fields, with numbers.
type pulse[P any] struct {
	From    heartbeat.ID `rpc:"1"`
	Request bool         `rpc:"2"`
	Payload *P           `rpc:"3"`
}

// target sends heartbeats to an endpoint. It does not wait: what fails later comes to
// the owner's OnNetworkError.
func target[P any](to rpc.Ref) heartbeat.Target[P] {
	return heartbeat.TargetFunc[P](func(b heartbeat.Beat[P]) error { return rpc.Send(to, pulse[P](b)) })
}

// turn is something to do on an endpoint's own loop. It has no number, and is never
// carried to another process.
type turn struct{ do func() }

// loopOf is an endpoint's loop. When its inbox is full the turn is dropped, and asked
// for again after an interval.
func loopOf(self rpc.Ref) heartbeat.Executor {
	return func(f func()) { _ = rpc.Send(self, turn{f}) }
}

// handlers are what an endpoint needs for its manager. For a sender, give its Manager.
func handlers[In, Out any](m *heartbeat.Manager[In, Out]) []rpc.Handler {
	return []rpc.Handler{
		rpc.Receive(func(_ context.Context, p pulse[In]) error {
			m.Receive(heartbeat.Beat[In](p))
			return nil
		}),
		rpc.Receive(func(_ context.Context, t turn) error {
			if t.do == nil {
				return errors.New("a turn came from another process")
			}
			t.do()
			return nil
		}),
	}
}

// What follows is an application's own: two payloads and a registration.
type (
	// Load comes from a worker, Quota from its master.
	Load struct {
		Busy int `rpc:"1"`
	}
	Quota struct {
		Slots int `rpc:"1"`
	}
	// Join asks to be taken in, Joined says that the worker is.
	Join struct {
		Worker heartbeat.ID `rpc:"1"`
		At     rpc.Ref      `rpc:"2"`
	}
	Joined struct{}
)

func protocol() []rpc.MessageType {
	return []rpc.MessageType{
		rpc.Define[pulse[Load]]("load"), rpc.Define[pulse[Quota]]("quota"),
		rpc.Define[Join]("join"), rpc.Define[Joined]("joined"),
		rpc.Define[turn]("turn").Immutable(), // Handed on as it is, within the process.
	}
}

// overseer is the master: an endpoint whose state belongs to its loop.
type overseer struct {
	sender *heartbeat.Sender[Load, Quota]
	joined map[heartbeat.ID]member
	heard  chan string
	lost   chan string
}

type member struct {
	at      rpc.Addr
	monitor *heartbeat.Monitor
}

func startOverseer(env *rpc.Env, services *heartbeat.Services) (*overseer, error) {
	o := &overseer{joined: map[heartbeat.ID]member{}, heard: make(chan string, 1), lost: make(chan string, 1)}
	var err error
	o.sender, err = heartbeat.NewSender(services, "master", heartbeat.Listener[Load, Quota](o), loopOf(env.Ref("master")))
	if err != nil {
		return nil, err
	}
	_, err = env.Register("master", rpc.Endpoint{
		Handlers:       append(handlers(o.sender.Manager), rpc.Reply(o.join)),
		OnNetworkError: o.networkError,
	})
	return o, err
}

// join takes a worker in, and begins to watch it. Registering again is harmless.
func (o *overseer) join(_ context.Context, j Join) (Joined, error) {
	o.sender.Unmonitor(j.Worker)
	monitor, err := o.sender.Monitor(j.Worker, target[Quota](j.At))
	if err != nil {
		return Joined{}, err
	}
	o.joined[j.Worker] = member{j.At.Addr(), monitor}
	return Joined{}, nil
}

// networkError tells the monitors: refused connections count.
func (o *overseer) networkError(_ context.Context, addr rpc.Addr, err error) error {
	for _, m := range o.joined {
		if m.at == addr {
			m.monitor.Failed(err)
		}
	}
	return nil
}

func (o *overseer) Timeout(id heartbeat.ID, loss heartbeat.Loss) {
	delete(o.joined, id) // Here its work is given to others.
	o.lost <- fmt.Sprintf("%s, by %s", id, loss.Reason)
}

func (o *overseer) ReportPayload(id heartbeat.ID, l *Load) {
	select {
	case o.heard <- fmt.Sprintf("%s has %d busy", id, l.Busy):
	default:
	}
}

func (o *overseer) RetrievePayload(heartbeat.ID) *Quota { return &Quota{Slots: 4} }

// helper is a worker.
type helper struct{ quota int }

// startHelper starts a worker's endpoint and registers it; then it watches its master.
func startHelper(ctx context.Context, env *rpc.Env, services *heartbeat.Services, id heartbeat.ID, master rpc.Ref) error {
	h := &helper{}
	manager, err := heartbeat.NewManager(services, id, heartbeat.Listener[Quota, Load](h), loopOf(env.Ref(string(id))))
	if err != nil {
		return err
	}
	self, err := env.Register(string(id), rpc.Endpoint{Handlers: handlers(manager)})
	if err != nil {
		return err
	}
	if _, err := rpc.Ask[Joined](ctx, master, Join{id, self}); err != nil {
		return err
	}
	_, err = manager.Monitor("master", target[Load](master))
	return err
}

func (h *helper) Timeout(heartbeat.ID, heartbeat.Loss) {} // Here it looks the leader up, and joins again.

func (h *helper) ReportPayload(_ heartbeat.ID, q *Quota) { h.quota = q.Slots }

func (h *helper) RetrievePayload(heartbeat.ID) *Load { return &Load{Busy: h.quota / 2} }

// Heartbeats over package rpc: a heartbeat is a one-way message, the owner is an
// endpoint, its loop is the executor, and OnNetworkError tells of refused connections.
// The first fifty lines connect the two packages, for any payloads.
func Example_overRPC() {
	ctx := context.Background()
	services, err1 := heartbeat.New(heartbeat.Config{Interval: 20 * time.Millisecond, Timeout: time.Minute})
	office, err2 := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: protocol()})
	node, err3 := rpc.New(rpc.Config{Listen: "127.0.0.1:0", Messages: protocol()})
	if err := errors.Join(err1, err2, err3); err != nil {
		fmt.Println(err)
		return
	}
	if err := errors.Join(services.Start(ctx), office.Start(ctx), node.Start(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	master, err := startOverseer(office, services)
	if err == nil {
		err = startHelper(ctx, node, services, "worker-1", node.RefAt(office.Addr(), "master"))
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(<-master.heard)
	fmt.Println(node.Stop(ctx)) // Nobody listens there any more.
	fmt.Println("lost:", <-master.lost)
	services.Stop()
	fmt.Println(office.Stop(ctx))
	// Output:
	// worker-1 has 2 busy
	// <nil>
	// lost: worker-1, by connections refused
	// <nil>
}
