package zk

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// memoryStore is as much of a ZooKeeper as sessions need, within a process: it
// gives sessions, takes them up again, and answers pings, syncs and reads of a
// node that is not there. Tests of time run it in a bubble.
type memoryStore struct {
	timeout time.Duration

	mu       sync.Mutex
	sessions map[int64]bool
	next     int64
	zxid     int64
	dials    []dialed
	conns    map[net.Conn]*server
	// behaviour of the server at each address, and of all.
	manner map[string]manner
	all    manner
	// closes counts the goodbyes.
	closes  int
	auths   []string
	serving sync.WaitGroup
}

type dialed struct {
	addr string
	at   time.Duration
}

// manner is how a server behaves.
type manner int

const (
	good manner = iota
	// refuse refuses connections.
	refuse
	// mute accepts and says nothing.
	mute
	// half sends half of its greeting.
	half
	// deaf greets and answers pings, and nothing else: it is cut off from its leader.
	deaf
	// gone neither accepts nor refuses a connection.
	gone
)

type server struct {
	addr string
	conn net.Conn
}

func newMemoryStore(timeout time.Duration) *memoryStore {
	return &memoryStore{
		timeout: timeout, sessions: map[int64]bool{}, next: 1, zxid: 1,
		conns: map[net.Conn]*server{}, manner: map[string]manner{},
	}
}

func (m *memoryStore) mannerOf(addr string) manner {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all != good {
		return m.all
	}
	return m.manner[addr]
}

// behave sets the manner of the servers named, or of all; with a cut, the
// connections that stand end.
func (m *memoryStore) behave(as manner, addrs ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(addrs) == 0 {
		m.all = as
	}
	for _, a := range addrs {
		m.manner[a] = as
	}
}

func (m *memoryStore) cut() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for conn := range m.conns {
		_ = conn.Close()
	}
}

func (m *memoryStore) expire(id int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
}

func (m *memoryStore) count(f func(*memoryStore) int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return f(m)
}

func (m *memoryStore) goodbyes() int { return m.count(func(m *memoryStore) int { return m.closes }) }

// attempts are all so far to connect, and last is the address of the latest.
func (m *memoryStore) attempts() []dialed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.dials)
}

func (m *memoryStore) last() string {
	all := m.attempts()
	return all[len(all)-1].addr
}

// dial is the network.
func (m *memoryStore) dial(clock Clock) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, _, addr string) (net.Conn, error) {
		m.mu.Lock()
		m.dials = append(m.dials, dialed{addr, clock.Now()})
		m.mu.Unlock()
		switch m.mannerOf(addr) {
		case refuse:
			return nil, errors.New("connection refused")
		case gone:
			<-ctx.Done()
			return nil, ctx.Err()
		}
		here, there := net.Pipe()
		s := &server{addr: addr, conn: there}
		m.mu.Lock()
		m.conns[there] = s
		m.mu.Unlock()
		m.serving.Go(func() {
			m.serve(s)
			_ = there.Close()
			m.mu.Lock()
			delete(m.conns, there)
			m.mu.Unlock()
		})
		return here, nil
	}
}

func (m *memoryStore) serve(s *server) {
	hello, err := readFrame(s.conn)
	if err != nil {
		return
	}
	switch m.mannerOf(s.addr) {
	case mute:
		_, _ = io.Copy(io.Discard, s.conn)
		return
	case half:
		_, _ = s.conn.Write([]byte{0, 0, 0, 36, 0, 0, 0, 0, 0, 0})
		_, _ = io.Copy(io.Discard, s.conn)
		return
	}
	id := m.admit(int64(binary.BigEndian.Uint64(hello[16:])))
	if _, err := s.conn.Write(m.greeting(id)); err != nil {
		return
	}
	for {
		frame, err := readFrame(s.conn)
		if err != nil {
			return
		}
		reply, last := m.answer(s, id, frame)
		if len(reply) > 0 {
			if _, err := s.conn.Write(reply); err != nil {
				return
			}
		}
		if last {
			return
		}
	}
}

// admit gives a new session, takes up an old one, or none.
func (m *memoryStore) admit(id int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == 0 {
		id = m.next
		m.next++
		m.sessions[id] = true
	}
	if !m.sessions[id] {
		return 0
	}
	return id
}

func (m *memoryStore) greeting(id int64) []byte {
	var b []byte
	b = binary.BigEndian.AppendUint32(b, 36)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(m.timeout.Milliseconds()))
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = binary.BigEndian.AppendUint32(b, 16)
	return append(b, make([]byte, 16)...)
}

func (m *memoryStore) answer(s *server, id int64, frame []byte) (reply []byte, last bool) {
	xid, op := int32(binary.BigEndian.Uint32(frame)), int32(binary.BigEndian.Uint32(frame[4:]))
	m.mu.Lock()
	m.zxid++
	zxid, alive := m.zxid, m.sessions[id]
	m.mu.Unlock()
	var code int32
	var body []byte
	switch op {
	case 11: // ping
	case 100: // auth
		m.mu.Lock()
		m.auths = append(m.auths, string(frame[8:]))
		m.mu.Unlock()
	case -11: // close
		m.mu.Lock()
		m.closes++
		delete(m.sessions, id)
		m.mu.Unlock()
		last = true
	case 9: // sync
		body = append(body, 0, 0, 0, 1, '/')
	default:
		code = -101
	}
	if op != 11 && op != -11 && !alive {
		code, body = -112, nil
	}
	if op != 11 && m.mannerOf(s.addr) == deaf {
		return nil, false
	}
	reply = binary.BigEndian.AppendUint32(reply, uint32(16+len(body)))
	reply = binary.BigEndian.AppendUint32(reply, uint32(xid))
	reply = binary.BigEndian.AppendUint64(reply, uint64(zxid))
	reply = binary.BigEndian.AppendUint32(reply, uint32(code))
	return append(reply, body...), last
}

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(r, frame)
	return frame, err
}

// bubbleClock is the bubble's time.
type bubbleClock struct{ start time.Time }

func (c bubbleClock) Now() time.Duration { return time.Since(c.start) }
