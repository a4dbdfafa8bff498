package testenv

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// Direction is which way bytes go through a [Proxy].
type Direction int

// The two directions.
const (
	ToServer Direction = iota
	ToClient
)

// CutStyle is how a cut looks to both ends.
type CutStyle int

// Reset ends a connection with RST, as a crashed peer or a firewall does; Finish
// ends it with FIN, which looks like an orderly early end.
const (
	Reset CutStyle = iota
	Finish
)

// Proxy stands between clients and a TCP server and makes the faults of a
// network. Every method may be called at any time from any goroutine; the proxy
// ends with the test.
type Proxy struct {
	target   string
	listener net.Listener
	serving  sync.WaitGroup

	mu sync.Mutex
	// changed is closed and replaced whenever a waiting link has to look again.
	changed   chan struct{}
	links     map[*link]struct{}
	style     CutStyle
	blackHole [2]bool
	refuse    bool
	delay     time.Duration
	budgets   [2]*budget
	drop      *dropRule
	accepted  int
	// frames is set for a store whose messages are known: only whole ones pass.
	frames    bool
	dropReply *zookeeperRule
	requests  map[ZooKeeperOp]int
	// http2 is that for etcd.
	http2    bool
	dropEtcd *etcdRule
}

// budget is what may still pass in one direction before all connections are cut.
type budget struct {
	left int64
	done chan struct{}
}

// dropRule is one reply to swallow: the first, or the first after a request that
// holds match.
type dropRule struct {
	match []byte
	done  chan struct{}
}

// NewProxy starts a proxy on a free loopback port in front of target.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start proxy: %v", err)
	}
	return startProxy(t, &Proxy{target: target, listener: listener})
}

func startProxy(t testing.TB, p *Proxy) *Proxy {
	p.changed, p.links = make(chan struct{}), map[*link]struct{}{}
	listener := p.listener
	p.serving.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.RefuseNew(true)
		p.CutAll()
		p.serving.Wait()
	})
	return p
}

// Addr is where clients connect to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Accepted is how many connections were let in so far.
func (p *Proxy) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

// Open is how many connections stand now.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Style sets how later cuts look; without it they are resets.
func (p *Proxy) Style(s CutStyle) { p.set(func() { p.style = s }) }

// CutAll ends all connections that stand now.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAllLocked()
}

// CutAfter lets n more bytes pass in one direction, over all connections
// together, then cuts all of them; the returned channel is closed at that
// moment. It happens once; a later call replaces an earlier one.
func (p *Proxy) CutAfter(d Direction, n int64) <-chan struct{} {
	b := &budget{left: n, done: make(chan struct{})}
	p.set(func() { p.budgets[d] = b })
	return b.done
}

// BlackHole withholds everything while it is on: connections stand, new ones are
// accepted, and nothing passes, not even an end. What was withheld passes when
// it is off again.
func (p *Proxy) BlackHole(on bool) { p.set(func() { p.blackHole = [2]bool{on, on} }) }

// BlackHoleWay is BlackHole for one direction; the other is as it was.
func (p *Proxy) BlackHoleWay(d Direction, on bool) { p.set(func() { p.blackHole[d] = on }) }

// HalfOpen resets the clients' ends of all connections that stand now, and leaves
// the server's ends open until the proxy ends: the server learns nothing.
func (p *Proxy) HalfOpen() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.abandon()
	}
}

// Await waits until ok, which is asked again after each connection that was let
// in or has ended.
func (p *Proxy) Await(t testing.TB, ok func(p *Proxy) bool) {
	t.Helper()
	timeout := time.NewTimer(waitTimeout)
	defer timeout.Stop()
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if ok(p) {
			return
		}
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("the proxy did not come to what was awaited within %s", waitTimeout)
		}
	}
}

// Delay holds each piece that is read (up to 32 KiB) for d before passing it on.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.delay = d }) }

// RefuseNew resets new connections at once while it is on; those that stand go
// on.
func (p *Proxy) RefuseNew(on bool) { p.set(func() { p.refuse = on }) }

// DropReply swallows the next bytes that a server sends on any connection and
// cuts that connection: the server did what it was asked for, the client never
// learns of it. The channel is closed when it has happened.
func (p *Proxy) DropReply() <-chan struct{} { return p.DropReplyTo("") }

// DropReplyTo is DropReply for the first request that holds match, such as
// "commit": it is passed on whole, and what its server sends next is swallowed.
func (p *Proxy) DropReplyTo(match string) <-chan struct{} {
	r := &dropRule{match: []byte(match), done: make(chan struct{})}
	p.set(func() { p.drop = r })
	return r.done
}

// set changes a setting and wakes the links that wait for one.
func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.wakeLocked()
}

func (p *Proxy) wakeLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Proxy) cutAllLocked() {
	for l := range p.links {
		l.cut(p.style)
	}
}

// accept serves connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		l := newLink(p, client)
		p.mu.Lock()
		if p.refuse {
			l.cut(Reset)
		} else {
			p.accepted++
			p.links[l] = struct{}{}
			p.serving.Go(l.run)
			p.wakeLocked()
		}
		p.mu.Unlock()
	}
}

// forget takes an ended link off the list.
func (p *Proxy) forget(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
	p.wakeLocked()
}

// gate waits while the black hole is on for a direction; false says that the
// link was cut.
func (p *Proxy) gate(l *link, d Direction) bool {
	for {
		p.mu.Lock()
		on, changed := p.blackHole[d], p.changed
		p.mu.Unlock()
		if !on {
			return !l.isCut()
		}
		select {
		case <-changed:
		case <-l.gone:
			return false
		}
	}
}

// verdict is what becomes of one piece of data.
type verdict struct {
	pass []byte
	// cutLink and cutAll happen after pass was written.
	cutLink, cutAll bool
	done            chan struct{}
}

// judge decides on data that is about to pass.
func (p *Proxy) judge(l *link, d Direction, data []byte) verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := verdict{pass: data}
	if p.frames {
		v = p.judgeFramesLocked(l, d, data)
		data = v.pass
	}
	if p.http2 {
		v = p.judgeHTTP2Locked(l, d, data)
		data = v.pass
	}
	if rule := p.drop; rule != nil {
		switch {
		case d == ToServer && len(rule.match) > 0 && l.armed == nil && l.requestHolds(data, rule.match):
			// Before the request passes: its reply may come at once.
			l.armed = rule
		case d == ToClient && (len(rule.match) == 0 || l.armed == rule):
			p.drop = nil
			return verdict{cutLink: true, done: rule.done}
		}
	}
	if b := p.budgets[d]; b != nil {
		if b.left -= int64(len(data)); b.left <= 0 {
			p.budgets[d] = nil
			v.pass = data[:int64(len(data))+b.left]
			v.cutAll, v.done = true, b.done
		}
	}
	return v
}

// finish carries out the rest of a verdict once its data was passed on.
func (p *Proxy) finish(l *link, v verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v.cutLink {
		l.cut(p.style)
	}
	if v.cutAll {
		p.cutAllLocked()
	}
	if v.done != nil {
		close(v.done)
	}
}

// requestHolds looks for match in data and in what came just before it.
func (l *link) requestHolds(data, match []byte) bool {
	l.tail = append(l.tail, data...)
	found := bytes.Contains(l.tail, match)
	if keep := len(match) - 1; len(l.tail) > keep {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-keep:]...)
	}
	return found
}
