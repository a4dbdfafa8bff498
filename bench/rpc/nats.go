package main

import (
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// serveNATS runs a NATS server and the responder in one process: a message goes
// through the broker, and that is how NATS is.
func serveNATS() (string, error) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, NoLog: true, MaxPending: 1 << 30})
	if err != nil {
		return "", err
	}
	go s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return "", errors.New("the NATS server does not come up")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		return "", err
	}
	var got atomic.Int64
	_, err1 := conn.Subscribe("ask", func(m *nats.Msg) { _ = m.Respond(m.Data) })
	_, err2 := conn.Subscribe("count", func(m *nats.Msg) { _ = m.Respond(strconv.AppendInt(nil, got.Load(), 10)) })
	sub, err3 := conn.Subscribe("tell", func(*nats.Msg) { got.Add(1) })
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	err = errors.Join(sub.SetPendingLimits(-1, -1), conn.Flush())
	return s.ClientURL(), err
}

type natsClient struct{ conn *nats.Conn }

func dialNATS(addr string) (client, error) {
	conn, err := nats.Connect(addr)
	return natsClient{conn}, err
}

func (n natsClient) ask(payload []byte) error {
	_, err := n.conn.Request("ask", payload, 10*time.Second)
	return err
}

func (n natsClient) tell(payload []byte) error { return n.conn.Publish("tell", payload) }

func (n natsClient) received() (int64, error) {
	if err := n.conn.Flush(); err != nil {
		return 0, err
	}
	m, err := n.conn.Request("count", nil, 10*time.Second)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(string(m.Data), 10, 64)
}
