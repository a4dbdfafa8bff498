package main

import (
	"net"
	"net/rpc"
	"sync/atomic"
)

// Echo is net/rpc's service.
type Echo struct{ received atomic.Int64 }

// Ask echoes.
func (e *Echo) Ask(in []byte, out *[]byte) error {
	*out = in
	return nil
}

// Tell counts.
func (e *Echo) Tell(_ []byte, _ *bool) error {
	e.received.Add(1)
	return nil
}

// Count is how many were told.
func (e *Echo) Count(_ bool, out *int64) error {
	*out = e.received.Load()
	return nil
}

func serveNetRPC() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := rpc.NewServer()
	if err := server.Register(&Echo{}); err != nil {
		return "", err
	}
	go server.Accept(l)
	return l.Addr().String(), nil
}

type netRPC struct{ c *rpc.Client }

func dialNetRPC(addr string) (client, error) {
	c, err := rpc.Dial("tcp", addr)
	return netRPC{c}, err
}

func (n netRPC) ask(payload []byte) error {
	var out []byte
	return n.c.Call("Echo.Ask", payload, &out)
}

func (n netRPC) tell(payload []byte) error {
	var out bool
	return n.c.Call("Echo.Tell", payload, &out)
}

func (n netRPC) received() (out int64, err error) {
	err = n.c.Call("Echo.Count", true, &out)
	return out, err
}
