package main

import (
	"fmt"
	"strings"
)

// contender is one way to pass messages between two processes.
type contender struct {
	name string
	// serve starts the server's side and returns its address.
	serve func() (addr string, err error)
	// dial connects the client's side.
	dial func(addr string) (client, error)
}

// client sends to a server. Its methods may be called from many goroutines.
type client interface {
	// ask sends a payload and returns with its echo.
	ask(payload []byte) error
	// tell sends a payload one-way.
	tell(payload []byte) error
	// received is how many one-way payloads the server has handled. It sends what
	// tell has buffered.
	received() (int64, error)
}

// pipeliner is a client that keeps asks in flight by itself, without a goroutine
// for each: the limit of what the others can reach.
type pipeliner interface {
	// pipeline asks until stop says so and returns how many were answered.
	pipeline(inFlight int, payload []byte, stop func() bool) (int64, error)
}

func contenders() []contender {
	return []contender{
		{"raw", serveRaw, dialRaw},
		{"raw-callers", serveRaw, dialRawAsks},
		{"leat", serveLeat(false), dialLeat(false, false)},
		{"leat-typed", serveLeat(false), dialLeat(false, true)},
		{"leat-tls", serveLeat(true), dialLeat(true, false)},
		{"grpc-stream", serveGRPC, dialGRPCStream},
		{"grpc-typed", serveGRPC, dialGRPCTyped},
		{"grpc-unary", serveGRPC, dialGRPCUnary},
		{"net/rpc", serveNetRPC, dialNetRPC},
		{"nats", serveNATS, dialNATS},
	}
}

func contenderNamed(name string) (contender, error) {
	var names []string
	for _, c := range contenders() {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}
	return contender{}, fmt.Errorf("no contender %q: there are %s", name, strings.Join(names, ", "))
}
