package rpc

import (
	"context"
	"fmt"
	"reflect"
)

// Handler handles messages of one type; made by [Receive], [Reply] or
// [ReplyLater].
type Handler struct {
	asks bool
	req  reflect.Type
	resp reflect.Type
	// tell handles a one-way message.
	tell func(ctx context.Context, e *envelope, env *Env) error
	// ask handles an ask and answers it, now or later. An error says that it has
	// not been answered and will not be.
	ask func(ctx context.Context, e *envelope, in *inbox, resp *message) error
}

// Receive handles one-way messages of type T. An error goes to OnError.
func Receive[T any](f func(ctx context.Context, msg T) error) Handler {
	return Handler{
		req: reflect.TypeFor[T](),
		tell: func(ctx context.Context, e *envelope, env *Env) error {
			msg, err := load[T](e, env)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			return f(ctx, msg)
		},
	}
}

// Reply answers asks of type Req with what f returns. An error is the asker's,
// as a [RemoteError], and goes to OnError too.
func Reply[Req, Resp any](f func(ctx context.Context, req Req) (Resp, error)) Handler {
	return Handler{
		asks: true, req: reflect.TypeFor[Req](), resp: reflect.TypeFor[Resp](),
		ask: func(ctx context.Context, e *envelope, in *inbox, m *message) error {
			req, err := load[Req](e, in.env)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			resp, err := f(ctx, req)
			if err != nil {
				return err
			}
			_, err = answer(in.env, addresseeOf(e), m, resp)
			return err
		},
	}
}

// ReplyLater hands f a call that may be answered after f has returned, from any
// goroutine, so that a sequential endpoint need not wait for its own work.
func ReplyLater[Req, Resp any](f func(ctx context.Context, req Req, call Call[Resp])) Handler {
	return Handler{
		asks: true, req: reflect.TypeFor[Req](), resp: reflect.TypeFor[Resp](),
		ask: func(ctx context.Context, e *envelope, in *inbox, m *message) error {
			req, err := load[Req](e, in.env)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrMalformed, err)
			}
			c := newCall[Resp](in, addresseeOf(e), m, e.messageName())
			returned := false
			defer func() {
				// A panic is the answer, unless there is one.
				if !returned && !c.token.state.take() {
					e.answered = true
				}
			}()
			f(ctx, req, c)
			returned = true
			return nil
		},
	}
}

// handlerTable is an endpoint's handlers by the index of the message's type.
type handlerTable struct {
	tells []*Handler
	asks  []*Handler
	// resps are the replies' types, by the request's.
	resps []*message
}

func newHandlerTable(r *registry, handlers []Handler) (handlerTable, error) {
	t := handlerTable{
		tells: make([]*Handler, len(r.all)), asks: make([]*Handler, len(r.all)), resps: make([]*message, len(r.all)),
	}
	for i := range handlers {
		h := &handlers[i]
		if h.tell == nil && h.ask == nil {
			return t, fmt.Errorf("handler %d is empty: make it with Receive, Reply or ReplyLater", i)
		}
		req := r.byType[h.req]
		if req == nil {
			return t, fmt.Errorf("%w: %s: add it to Config.Messages", ErrUndefined, h.req)
		}
		list := t.tells
		if h.asks {
			list = t.asks
			if t.resps[req.index] = r.byType[h.resp]; t.resps[req.index] == nil {
				return t, fmt.Errorf("%w: %s: add it to Config.Messages", ErrUndefined, h.resp)
			}
		}
		if list[req.index] != nil {
			return t, fmt.Errorf("two handlers for messages %q", req.name)
		}
		list[req.index] = h
	}
	return t, nil
}

// tellFor finds the handler of a one-way message; nil when there is none.
func (t *handlerTable) tellFor(m *message) *Handler {
	if m == nil {
		return nil
	}
	return t.tells[m.index]
}

// askFor finds the handler of an ask, and its reply's type.
func (t *handlerTable) askFor(m *message) (*Handler, *message) {
	if m == nil {
		return nil, nil
	}
	return t.asks[m.index], t.resps[m.index]
}
