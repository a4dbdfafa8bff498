package testenv

import (
	"bytes"
	"encoding/binary"
	"net"
	"sync/atomic"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"
)

// etcdRule is a reply to swallow: of the first transaction that may change something.
type etcdRule struct {
	match []byte
	done  chan struct{}
	// taken says that a request was found.
	taken atomic.Bool
}

// NewEtcdProxy starts a proxy in front of an etcd that knows its messages: only whole
// frames of HTTP/2 pass. TLS cannot pass.
func NewEtcdProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start proxy: %v", err)
	}
	return startProxy(t, &Proxy{target: target, listener: listener, http2: true})
}

// DropEtcdReply passes the next transaction that may change something and whose bytes
// hold match, through whichever of some proxies it comes, and cuts its connection in
// place of the reply: the store has done what it was asked for, the client does not
// know. The channel is closed when it has happened.
func DropEtcdReply(proxies []*Proxy, match string) <-chan struct{} {
	r := &etcdRule{match: []byte(match), done: make(chan struct{})}
	for _, p := range proxies {
		p.set(func() { p.dropEtcd = r })
	}
	return r.done
}

// etcdLink is what is known of one connection's streams.
type etcdLink struct {
	greeted bool
	headers *hpack.Decoder
	// block is a header block that is not yet whole.
	block []byte
	path  string
	// txns are the transactions that are not yet whole, by their streams.
	txns map[uint32][]byte
	// swallow is the stream whose reply is not to pass; rule is why.
	swallow uint32
	rule    *etcdRule
}

func newEtcdLink() *etcdLink {
	e := &etcdLink{txns: map[uint32][]byte{}}
	e.headers = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":path" {
			e.path = f.Value
		}
	})
	e.headers.SetAllowedMaxDynamicTableSize(1 << 20)
	return e
}

// The parts of HTTP/2 that matter here (RFC 9113, section 6).
const (
	http2Preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	http2Header       = 9
	http2Data         = 0
	http2Headers      = 1
	http2Continuation = 9
	http2EndHeaders   = 0x4
	http2Padded       = 0x8
	http2Priority     = 0x20
)

// judgeHTTP2Locked holds data back until frames are whole, and finds the requests and
// replies that a rule names.
func (p *Proxy) judgeHTTP2Locked(l *link, d Direction, data []byte) verdict {
	if l.etcd == nil {
		l.etcd = newEtcdLink()
	}
	e := l.etcd
	l.frames[d] = append(l.frames[d], data...)
	var v verdict
	if d == ToServer && !e.greeted {
		if len(l.frames[d]) < len(http2Preface) {
			return v
		}
		e.greeted = true
		v.pass = append(v.pass, l.frames[d][:len(http2Preface)]...)
		l.frames[d] = l.frames[d][len(http2Preface):]
	}
	for {
		rest := l.frames[d]
		if len(rest) < http2Header {
			return v
		}
		length := http2Header + (int(rest[0])<<16 | int(rest[1])<<8 | int(rest[2]))
		if len(rest) < length {
			return v
		}
		frame := rest[:length:length]
		stream := binary.BigEndian.Uint32(frame[5:]) & 0x7fffffff
		if d == ToClient && e.rule != nil && stream == e.swallow {
			v.cutLink, v.done = true, e.rule.done
			l.frames[d] = nil
			return v
		}
		if d == ToServer && e.isWrite(frame, stream, p.dropEtcd) {
			e.swallow, e.rule = stream, p.dropEtcd
			p.dropEtcd = nil
		}
		v.pass = append(v.pass, frame...)
		l.frames[d] = rest[length:]
	}
}

// isWrite takes in a frame of the client's, and says that it completes the request
// that a rule waits for.
func (e *etcdLink) isWrite(frame []byte, stream uint32, rule *etcdRule) bool {
	kind, flags, body := frame[3], frame[4], frame[http2Header:]
	if flags&http2Padded != 0 && kind != http2Continuation && len(body) > 0 {
		pad := int(body[0])
		body = body[1:max(1, len(body)-pad)]
	}
	switch kind {
	case http2Headers:
		if flags&http2Priority != 0 {
			body = body[5:]
		}
		e.block = append(e.block[:0], body...)
	case http2Continuation:
		e.block = append(e.block, body...)
	case http2Data:
		message, open := e.txns[stream]
		if !open {
			return false
		}
		message = append(message, body...)
		e.txns[stream] = message
		// gRPC: a byte that tells of compression, and the length.
		if len(message) < 5 || len(message) < 5+int(binary.BigEndian.Uint32(message[1:])) {
			return false
		}
		delete(e.txns, stream)
		return rule != nil && changes(message[5:]) && bytes.Contains(message, rule.match) && rule.taken.CompareAndSwap(false, true)
	default:
		return false
	}
	if flags&http2EndHeaders != 0 {
		e.path = ""
		_, _ = e.headers.Write(e.block)
		if e.path == "/etcdserverpb.KV/Txn" {
			e.txns[stream] = nil
		}
	}
	return false
}

// changes says that a transaction may change something.
func changes(message []byte) bool {
	var txn pb.TxnRequest
	if proto.Unmarshal(message, &txn) != nil {
		return false
	}
	for _, op := range append(txn.GetSuccess(), txn.GetFailure()...) {
		if op.GetRequestRange() == nil {
			return true
		}
	}
	return false
}
