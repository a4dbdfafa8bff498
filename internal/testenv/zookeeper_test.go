package testenv

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestZooKeepersMembersAreKilledFrozenAndStartedAgain(t *testing.T) {
	t.Parallel()
	e := ZooKeeperWith(t, ZooKeeperConfig{Settings: []string{"globalOutstandingLimit=900"}})
	leader, followers := e.Leader(t), e.Followers(t)
	if len(followers) != 2 || len(e.Addrs()) != 3 {
		t.Fatalf("%d of %d follow", len(followers), len(e.Addrs()))
	}
	if text := leader.Ask(t, "conf"); !strings.Contains(text, "tickTime=200") {
		t.Errorf("settings are %s", text)
	}
	leader.Kill(t)
	if c, err := net.Dial("tcp", leader.Addr()); err == nil {
		_ = c.Close()
		t.Error("a killed server still accepts")
	}
	for _, f := range followers {
		if err := f.server.AwaitServing(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	next := e.Leader(t)
	if next.Addr() == leader.Addr() {
		t.Error("a killed server leads")
	}
	leader.Start(t)
	e.AwaitServing(t)
	if n := len(e.Followers(t)); n != 2 {
		t.Errorf("%d follow after the restart", n)
	}
	next.Freeze(t)
	conn, err := net.Dial("tcp", next.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, "ruok")
	_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a frozen server answers")
	}
	next.Thaw(t)
	_ = conn.SetReadDeadline(time.Time{})
	if answer, err := io.ReadAll(conn); err != nil || string(answer) != "imok" {
		t.Errorf("a thawed server answers %q (%v)", answer, err)
	}
}

func TestZooKeepersRootsAreApart(t *testing.T) {
	t.Parallel()
	e := ZooKeeper(t)
	if e != ZooKeeper(t) {
		t.Error("the ensemble is not shared")
	}
	if first, second := e.Root(), e.Root(); first == second {
		t.Errorf("two tests have the root %s", first)
	}
	if n := e.Watches(t) + e.Sessions(t) + e.Connections(t); n < 0 {
		t.Errorf("figures are %d", n)
	}
}

// message is a request or reply: its number, its type, and what it holds.
func message(xid, op int32, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint32(b, uint32(op))
	return append(b, body...)
}

// The reply to one request is dropped, whatever else is answered before it, and
// the request itself passes.
func TestZooKeeperProxyDropsOneReply(t *testing.T) {
	t.Parallel()
	p := NewZooKeeperProxy(t, echoServer(t).addr)
	conn, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	dropped := p.DropZooKeeperReply(ZooKeeperCreate, "/b")
	sent := message(0, 0, "a greeting /b")
	sent = append(sent, message(7, int32(ZooKeeperCreate), "/a")...)
	sent = append(sent, message(8, int32(ZooKeeperDelete), "/b")...)
	passes := len(sent)
	sent = append(sent, message(9, int32(ZooKeeperCreate), "/b")...)
	sent = append(sent, message(10, int32(ZooKeeperCreate), "/b")...)
	for len(sent) > 0 { // in pieces that are no whole messages
		n := min(5, len(sent))
		if _, err := conn.Write(sent[:n]); err != nil {
			break // cut while we write
		}
		sent = sent[n:]
	}
	got, _ := io.ReadAll(conn)
	if len(got) > passes {
		t.Errorf("%d bytes came back, want at most the %d before the dropped reply", len(got), passes)
	}
	<-dropped
	// It happens once.
	again, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	want := message(9, int32(ZooKeeperCreate), "/b")
	_, _ = again.Write(want)
	if _, err := io.ReadFull(again, make([]byte, len(want))); err != nil {
		t.Errorf("the next reply is dropped too: %v", err)
	}
	if seen := p.ZooKeeperRequests(); seen[ZooKeeperDelete] != 1 || seen[ZooKeeperCreate] < 3 || len(seen) != 2 {
		t.Errorf("counted %v", seen)
	}
}
