package testenv

import (
	"bytes"
	"encoding/binary"
	"maps"
	"net"
	"sync/atomic"
	"testing"
)

// ZooKeeperOp is a request's type, as it is on the wire.
type ZooKeeperOp int32

// The requests whose replies tests drop.
const (
	ZooKeeperCreate  ZooKeeperOp = 1
	ZooKeeperDelete  ZooKeeperOp = 2
	ZooKeeperGetData ZooKeeperOp = 4
	ZooKeeperSetData ZooKeeperOp = 5
	ZooKeeperSync    ZooKeeperOp = 9
	ZooKeeperPing    ZooKeeperOp = 11
	ZooKeeperMulti   ZooKeeperOp = 14
	ZooKeeperClose   ZooKeeperOp = -11
	// ZooKeeperWrite is any request that changes something.
	ZooKeeperWrite ZooKeeperOp = 0
)

// is says that a request's type is o.
func (o ZooKeeperOp) is(request ZooKeeperOp) bool {
	if o != ZooKeeperWrite {
		return request == o
	}
	const createContainer, createTTL = 19, 21
	switch request {
	case ZooKeeperCreate, ZooKeeperDelete, ZooKeeperSetData, ZooKeeperMulti, createContainer, createTTL:
		return true
	default:
		return false
	}
}

// zookeeperRule is a reply to swallow: of the first request of a type that holds
// match.
type zookeeperRule struct {
	op    ZooKeeperOp
	match []byte
	done  chan struct{}
	// taken says that a request was found.
	taken atomic.Bool
}

// zookeeperSwallow is a rule whose request has passed.
type zookeeperSwallow struct {
	xid  int32
	rule *zookeeperRule
}

// NewZooKeeperProxy starts a proxy in front of a ZooKeeper that knows its
// messages: only whole ones pass. TLS cannot pass.
func NewZooKeeperProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start proxy: %v", err)
	}
	return startProxy(t, &Proxy{target: target, listener: listener, frames: true, requests: map[ZooKeeperOp]int{}})
}

// DropZooKeeperReply passes the next request of a type whose bytes hold match
// (its path, its data), and cuts the connection in place of its reply: the store
// has done what it was asked for, the client does not know. The channel is closed
// when it has happened.
func (p *Proxy) DropZooKeeperReply(op ZooKeeperOp, match string) <-chan struct{} {
	return DropZooKeeperReply([]*Proxy{p}, op, match)
}

// DropZooKeeperReply is [Proxy.DropZooKeeperReply] for whichever of some proxies
// the request comes through.
func DropZooKeeperReply(proxies []*Proxy, op ZooKeeperOp, match string) <-chan struct{} {
	r := &zookeeperRule{op: op, match: []byte(match), done: make(chan struct{})}
	for _, p := range proxies {
		p.set(func() { p.dropReply = r })
	}
	return r.done
}

// judgeFramesLocked holds data back until messages are whole, and finds the
// requests and replies that a rule names.
func (p *Proxy) judgeFramesLocked(l *link, d Direction, data []byte) verdict {
	l.frames[d] = append(l.frames[d], data...)
	var v verdict
	for {
		frame := wholeFrame(l.frames[d])
		if frame == nil {
			return v
		}
		if d == ToServer && isRequest(frame) {
			p.requests[opOf(frame)]++
		}
		if d == ToClient && l.swallow != nil && frameNumber(frame) == l.swallow.xid {
			v.cutLink, v.done = true, l.swallow.rule.done
			l.frames[d] = nil
			return v
		}
		if d == ToServer && p.dropReply != nil && p.dropReply.names(frame) && p.dropReply.taken.CompareAndSwap(false, true) {
			l.swallow = &zookeeperSwallow{frameNumber(frame), p.dropReply}
			p.dropReply = nil
		}
		v.pass = append(v.pass, frame...)
		l.frames[d] = l.frames[d][len(frame):]
	}
}

// wholeFrame is the first message of data with its length, nil while it is not
// whole. A four-letter word is not a message, and does not pass.
func wholeFrame(data []byte) []byte {
	if len(data) < 4 {
		return nil
	}
	if end := 4 + int64(binary.BigEndian.Uint32(data)); int64(len(data)) >= end {
		return data[:end:end]
	}
	return nil
}

// frameNumber is what the message is known by: a request and its reply have the
// same. The first of a connection has none.
func frameNumber(frame []byte) int32 {
	if len(frame) < 8 {
		return 0
	}
	return int32(binary.BigEndian.Uint32(frame[4:]))
}

// isRequest says that a client's message is not its first, which is longer than a
// header, and whose number is zero.
func isRequest(frame []byte) bool { return len(frame) >= 12 && frameNumber(frame) != 0 }

// opOf is a request's type.
func opOf(frame []byte) ZooKeeperOp { return ZooKeeperOp(binary.BigEndian.Uint32(frame[8:])) }

func (r *zookeeperRule) names(frame []byte) bool {
	return isRequest(frame) && r.op.is(opOf(frame)) && bytes.Contains(frame, r.match)
}

// ZooKeeperRequests counts the requests that have passed so far, by their type.
func (p *Proxy) ZooKeeperRequests() map[ZooKeeperOp]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.requests)
}
