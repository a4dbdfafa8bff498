package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// peerKey is a process under the address by which endpoints know it.
type peerKey struct {
	id   id
	addr Addr
}

// accept takes connections until the listener is closed.
func (env *Env) accept(listener net.Listener) {
	wait := time.Duration(0)
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			wait = 0
			env.admit(conn)
		case errors.Is(err, net.ErrClosed) || env.isStopping():
			return
		default:
			// Out of file descriptors, as a rule: more are free in a while.
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			env.log.Error("accept connection", "error", err)
			if !env.idle(wait) {
				return
			}
		}
	}
}

// idle waits; false: the Env stops.
func (env *Env) idle(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-env.halting.Done():
		return false
	}
}

// admit lets a stranger try the handshake, unless too many are at it.
func (env *Env) admit(conn net.Conn) {
	env.linkMu.Lock()
	crowded := env.halted || env.strangers >= env.cfg.MaxStrangers || env.accepted >= env.cfg.MaxPeers
	if !crowded {
		env.strangers++
		env.working.Go(func() { env.serve(conn) })
	}
	env.linkMu.Unlock()
	if crowded {
		env.count.refused.Add(1)
		_ = conn.Close()
	}
}

// serve is one connection that a peer has made.
func (env *Env) serve(conn net.Conn) {
	ctx, cancel := context.WithTimeout(env.halting, env.cfg.ConnectTimeout)
	l, err := env.shake(ctx, conn, func() (*link, error) { return env.receive(ctx, conn) })
	cancel()
	env.linkMu.Lock()
	env.strangers--
	if err == nil {
		env.accepted++
	}
	env.linkMu.Unlock()
	if err != nil {
		env.count.refused.Add(1)
		env.log.Warn("connection refused", "from", conn.RemoteAddr().String(), "error", err)
		return
	}
	defer func() {
		env.linkMu.Lock()
		env.accepted--
		env.linkMu.Unlock()
	}()
	if err := env.take(l); err != nil {
		env.count.refused.Add(1)
		env.log.Warn("connection refused", "from", conn.RemoteAddr().String(), "error", err)
		_ = l.conn.Close()
		return
	}
	defer env.leaveSource(l)
	l.run()
}

// take makes a connection the one of its source that counts, and gives it an
// outbox: the one to the peer's id when it can be reached only so, else one of its
// own, for replies.
func (env *Env) take(l *link) error {
	env.linkMu.Lock()
	s := env.sources[l.peer.id]
	if s == nil {
		s = &source{}
		env.sources[l.peer.id] = s
	}
	env.linkMu.Unlock()
	if l.private = l.addr[0] != '@'; l.private {
		l.out = newOutbox(env, l.addr)
		l.out.dials = false
	} else {
		env.refMu.Lock()
		l.out = env.outboxLocked(l.addr)
		env.refMu.Unlock()
	}
	l.source = s
	s.mu.Lock()
	older := s.link
	if s.number >= l.number {
		s.mu.Unlock()
		return fmt.Errorf("%w: connection %d of the peer came behind its %d", ErrRefused, l.number, s.number)
	}
	s.link, s.number = l, l.number
	attached := l.out.attach(l)
	s.mu.Unlock()
	if older != nil {
		older.close(errSuperseded)
	}
	if !attached {
		env.leaveSource(l)
		return ErrStopped
	}
	return nil
}

// leaveSource forgets a source with its last connection.
func (env *Env) leaveSource(l *link) {
	env.linkMu.Lock()
	defer env.linkMu.Unlock()
	l.source.mu.Lock()
	defer l.source.mu.Unlock()
	if l.source.link == l && env.sources[l.peer.id] == l.source {
		delete(env.sources, l.peer.id)
	}
}

// connected and disconnected announce a peer's first connection and the end of
// its last.
func (env *Env) connected(l *link) {
	key := peerKey{l.peer.id, l.addr}
	env.linkMu.Lock()
	env.peers[key]++
	first := env.peers[key] == 1
	env.linkMu.Unlock()
	if first {
		env.announce(kindConnected, l.addr, nil)
	}
}

func (env *Env) disconnected(l *link) {
	key := peerKey{l.peer.id, l.addr}
	env.linkMu.Lock()
	env.peers[key]--
	last := env.peers[key] == 0
	if last {
		delete(env.peers, key)
	}
	env.linkMu.Unlock()
	if last {
		env.announce(kindDisconnected, l.addr, nil)
	}
}
