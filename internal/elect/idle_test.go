package elect

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// The types of ZooKeeper's requests that an idle process may send.
const (
	syncRequest  = 9
	pingRequest  = 11
	multiRequest = 14
)

// recorder passes a ZooKeeper client's requests on, and notes their types.
type recorder struct {
	listener net.Listener
	serving  sync.WaitGroup

	mu    sync.Mutex
	types []int
}

func newRecorder(t *testing.T, target string) *recorder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{listener: listener}
	r.serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.serving.Go(func() { r.serve(client, target) })
		}
	})
	return r
}

func (r *recorder) close() {
	_ = r.listener.Close()
	r.serving.Wait()
}

func (r *recorder) serve(client net.Conn, target string) {
	defer client.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	r.serving.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	defer server.Close()
	for first := true; ; first = false {
		frame := make([]byte, 4, 64)
		if _, err := io.ReadFull(client, frame); err != nil {
			return
		}
		frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
		if _, err := io.ReadFull(client, frame[4:]); err != nil {
			return
		}
		if !first && len(frame) >= 12 {
			r.mu.Lock()
			r.types = append(r.types, int(int32(binary.BigEndian.Uint32(frame[8:]))))
			r.mu.Unlock()
		}
		if _, err := server.Write(frame); err != nil {
			return
		}
	}
}

// since are the types of all requests but the first n.
func (r *recorder) since(n int) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.types[n:])
}

// Nothing goes to the store from those who wait but pings and syncs, and from the
// leader but its renewals beside.
func TestIdleSendsRenewalsOnly(t *testing.T) {
	t.Parallel()
	r := newRig(t, 24*time.Second)
	start := func(name string) (*contender, *recorder) {
		recorder := newRecorder(t, r.servers[0])
		c := &contender{rig: r, name: name, addrs: []string{recorder.listener.Addr().String()}}
		c.begin(stubborn())
		return c, recorder
	}
	a, leads := start("a")
	r.awaitStart("a", 0)
	a.WaitStderr(t, "the store lists this process")
	b, waits := start("b")
	b.WaitStderr(t, "the store lists this process")
	// What they read at the beginning may not be over yet.
	for tries := 1; ; tries++ {
		sent, sentByWaiter := renewed(t, leads, waits)
		if only(sent, multiRequest, pingRequest, syncRequest) && only(sentByWaiter, pingRequest, syncRequest) {
			break
		}
		if tries == 4 {
			t.Errorf("the leader has sent %v, who waits %v", sent, sentByWaiter)
			break
		}
	}
	a.Kill(t)
	b.Kill(t)
	leads.close()
	waits.close()
}

// renewed waits for two renewals, and says what both have sent meanwhile.
func renewed(t *testing.T, leads, waits *recorder) (sent, sentByWaiter []int) {
	before, beforeWaits := len(leads.since(0)), len(waits.since(0))
	await(t, "the leader renews", func() bool {
		n := 0
		for _, kind := range leads.since(before) {
			if kind == multiRequest {
				n++
			}
		}
		return n >= 2
	})
	return leads.since(before), waits.since(beforeWaits)
}

// only says that all are of those kinds.
func only(types []int, kinds ...int) bool {
	return !slices.ContainsFunc(types, func(kind int) bool { return !slices.Contains(kinds, kind) })
}
