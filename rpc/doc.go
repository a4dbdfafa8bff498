// Package rpc lets processes talk in messages: named endpoints that handle them
// one at a time, refs that lead to an endpoint wherever it is, sends that do not
// wait and asks that do. The model is Spark's RpcEnv, after Akka.
//
//	env, err := rpc.New(rpc.Config{Listen: ":7077", Messages: []rpc.MessageType{
//		rpc.Define[Ping]("ping"), rpc.Define[Pong]("pong"),
//	}})
//	err = env.Start(ctx)
//	_, err = env.Register("ponger", rpc.Endpoint{Handlers: []rpc.Handler{
//		rpc.Reply(func(ctx context.Context, p Ping) (Pong, error) { return Pong{p.N}, nil }),
//	}})
//
//	pong, err := rpc.Ask[Pong](ctx, other.RefAt("host:7077", "ponger"), Ping{1})
//
// An [Env] is a process's part in it; more than one may be in a process. An
// [Endpoint] has handlers for the types of messages that it knows, and callbacks
// for its start, its end, faults and the network. A [Ref] works alike for an
// endpoint of this process and of another, with the same errors, and may be a
// field of a message.
//
// # States
//
// An endpoint, and the inbox in front of it:
//
//	Register ──► starting ──OnStart──► running ──Unregister, Stop──► closing ──OnStop──► stopped
//	                │                                                  ▲
//	                ├── Unregister, Stop: OnStart ends first ──────────┘
//	                └── OnStart fails: its asks fail with the cause ───────────────────► stopped
//
// Starting, it queues. Running, it handles. Closing, it refuses what comes with
// [ErrNotFound] (or [ErrStopped], when the whole Env stops), and handles what it has
// accepted; then OnStop runs alone, and nothing after it.
//
// An outbox, the queue to one other process:
//
//	        first message                connected
//	idle ──────────────────► connecting ───────────► connected
//	  ▲                          │                      │
//	  └──────── failed ──────────┴──────── lost ────────┘
//	any ──Stop──► closed: what is on a connection is written, then a goodbye
//
// One connection carries what an Env sends to another, and the replies. The first
// message starts it, behind a jittered back-off when the last attempt failed. A
// failure and a loss empty the queue: asks fail ([ErrUnreachable],
// [ErrDisconnected]), one-way messages are counted in the [LinkError] that every
// endpoint's OnNetworkError gets; the next message connects anew. A peer that does
// not listen is reached over the connection that it has made.
//
// # What is guaranteed
//
//   - A message is delivered at most once; nothing is ever sent again by itself.
//   - What one goroutine sends to one endpoint is handled in that order by a
//     sequential endpoint, across connections too: once a newer connection of a
//     peer is up, what an older one still holds is dropped.
//   - Exactly one outcome for each ask: a reply, the handler's failure, or one of
//     the package's errors, by its context's deadline or Config.AskTimeout at the
//     latest. A reply that comes later is dropped and counted.
//   - A handler's panic, or its runtime.Goexit, is its asker's error at once, and
//     ends neither the process nor the endpoint.
//   - Sending never waits for the network or a handler. Queues are bounded, in
//     bytes: at the bound [Send] says [ErrFull], and [SendWait] waits.
//   - A slow endpoint slows nobody else: over a connection each endpoint has its own
//     window of credit, so that the reader never has to wait for one.
//   - OnDisconnected comes behind every message of that connection.
//   - No message is shared between sender and receiver unless its type is immutable.
//
// # What is not
//
//   - That a one-way message arrives. Nil from Send says that it was queued.
//   - That what failed with [ErrTimeout] or [ErrDisconnected] was not done.
//   - An order between different senders, or of a concurrent endpoint's messages.
//   - Who a peer is, without TLS: its address is its own word, and a secret keeps
//     strangers out but protects nothing that follows.
//
// # Strangers
//
// Until its handshake has passed, a connection gets a goroutine, Config.ConnectTimeout
// and a frame of 4 KiB, and there are at most Config.MaxStrangers of them. After
// it, lengths and counts that a peer claims take no memory: only what it has sent.
// Garbage, a frame too long, or more than the credit allows ends the connection.
//
// The bytes on the wire are described in docs/adr/0006-the-rpc-wire.md, the way to
// build on the package in docs/rpc.md.
package rpc
