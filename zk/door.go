package zk

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// errMute says that an attempt to connect took too long.
var errMute = errors.New("no answer in time")

// zxid is the newest transaction that a session has seen, of which each new
// connection tells the server.
type zxid = *atomic.Int64

// door makes connections to the store's servers.
type door struct {
	cfg   *Config
	hosts *hosts
}

func newDoor(cfg *Config) *door {
	return &door{cfg: cfg, hosts: &hosts{servers: cfg.Servers, lookup: cfg.Lookup}}
}

// backoff is for attempts to get a new session.
func (d *door) backoff() *backoff {
	return &backoff{first: 50 * time.Millisecond, most: min(time.Second, d.cfg.SessionTimeout/3)}
}

// open makes a connection to a server, secured if it is to be.
func (d *door) open(ctx context.Context, at target) (net.Conn, error) {
	conn, err := d.cfg.Dial(ctx, "tcp", at.dial)
	if err != nil {
		if ctx.Err() != nil {
			return nil, cause(ctx)
		}
		return nil, err
	}
	if d.cfg.TLS == nil {
		return conn, nil
	}
	cfg := d.cfg.TLS.Clone()
	if cfg.ServerName == "" {
		cfg.ServerName = at.name
	}
	secured := tls.Client(conn, cfg)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		if ctx.Err() != nil {
			return nil, cause(ctx)
		}
		return nil, fmt.Errorf("secure the connection: %w", err)
	}
	return secured, nil
}

// attemptError is a failed attempt to connect; last says that it was the last of
// a round over all servers.
type attemptError struct {
	server target
	last   bool
	err    error
}

func (e *attemptError) Error() string {
	if e.server.dial == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("connect to %s: %v", e.server.dial, e.err)
}

func (e *attemptError) Unwrap() error { return e.err }

// endsRound says that all servers were tried, so that it is time to wait.
func endsRound(err error) bool {
	attempt, ok := errors.AsType[*attemptError](err)
	return !ok || attempt.last
}
