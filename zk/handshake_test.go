package zk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"net"
	"testing"
	"time"
)

func TestGreetingIsAskedForAsTheStoreReadsIt(t *testing.T) {
	t.Parallel()
	as := identity{id: 0x1122, zxid: 77, timeout: 1500 * time.Millisecond, password: bytes.Repeat([]byte{9}, 16)}
	got := as.encode()
	want := []byte{
		0, 0, 0, 44, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 77, 0, 0, 0x05, 0xdc,
		0, 0, 0, 0, 0, 0, 0x11, 0x22, 0, 0, 0, 16, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9,
	}
	if !bytes.Equal(got, want) {
		t.Errorf("asks\n%v, want\n%v", got, want)
	}
	if n := len(identity{timeout: math.MaxInt64}.encode()); n != len(want) {
		t.Errorf("a new session is asked for in %d bytes", n)
	}
}

// greetWith lets a server answer.
func greetWith(t *testing.T, as identity, answer []byte) (greeting, error) {
	t.Helper()
	here, there := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := readFrame(there); err == nil {
			_, _ = there.Write(answer)
		}
		_ = there.Close()
	}()
	g, err := greet(here, as)
	_ = here.Close()
	<-done
	return g, err
}

func answerOf(id int64, timeout uint32, password, tail []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, timeout)
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	b = append(append(b, password...), tail...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func TestGreetings(t *testing.T) {
	t.Parallel()
	password := bytes.Repeat([]byte{7}, 16)
	g, err := greetWith(t, identity{}, answerOf(42, 4000, password, []byte{0}))
	if err != nil || g.id != 42 || g.timeout != 4*time.Second || !bytes.Equal(g.password, password) {
		t.Errorf("greeting is %+v: %v", g, err)
	}
	if _, err := greetWith(t, identity{id: 42}, answerOf(0, 0, password, nil)); !errors.Is(err, ErrExpired) {
		t.Errorf("no session for an old one: %v", err)
	}
	for name, c := range map[string]struct {
		as     identity
		answer []byte
	}{
		"no session for a new one":  {identity{}, answerOf(0, 0, password, nil)},
		"another session":           {identity{id: 41}, answerOf(42, 4000, password, nil)},
		"no time":                   {identity{}, answerOf(42, 0, password, nil)},
		"the end":                   {identity{}, nil},
		"half of it":                {identity{}, answerOf(42, 4000, password, nil)[:20]},
		"words":                     {identity{}, []byte("HTTP/1.1 400 Bad Request\r\n\r\n")},
		"too little":                {identity{}, []byte{0, 0, 0, 2, 0, 0}},
		"a password that is longer": {identity{}, append(answerOf(42, 4000, nil, nil)[:20], 0xff, 0xff, 0xff, 0xff)},
	} {
		if _, err := greetWith(t, c.as, c.answer); err == nil || errors.Is(err, ErrExpired) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

// replies is a stream of messages, and the highest transaction of its replies.
func TestReplyScannerFindsTransactionsInAnyPieces(t *testing.T) {
	t.Parallel()
	var stream []byte
	message := func(xid int32, zxid int64, body int) {
		stream = binary.BigEndian.AppendUint32(stream, uint32(16+body))
		stream = binary.BigEndian.AppendUint32(stream, uint32(xid))
		stream = binary.BigEndian.AppendUint64(stream, uint64(zxid))
		stream = append(stream, make([]byte, 4+body)...)
	}
	message(1, 10, 0)
	message(-2, 99, 0) // a ping's
	message(-1, -1, 40)
	message(2, 11, 70000)
	message(3, 0, 5)
	stream = append(stream, 0, 0, 0, 3, 1, 2, 3) // nothing that we know
	stream = append(stream, 0, 0, 0, 0)
	message(4, 12, 1)
	for _, piece := range []int{1, 2, 3, 5, 7, 16, 19, 20, 21, 1000, len(stream)} {
		var s replyScanner
		var seen []int64
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			s.scan(rest[:n], func(zxid int64) { seen = append(seen, zxid) })
			rest = rest[n:]
		}
		if len(seen) != 3 || seen[0] != 10 || seen[1] != 11 || seen[2] != 12 {
			t.Errorf("in pieces of %d: saw %v", piece, seen)
		}
	}
}

func FuzzGreeting(f *testing.F) {
	f.Add(answerOf(42, 4000, make([]byte, 16), []byte{0})[4:], int64(0))
	f.Add(answerOf(0, 0, make([]byte, 16), nil)[4:], int64(42))
	f.Add(make([]byte, 20), int64(1))
	f.Fuzz(func(t *testing.T, body []byte, id int64) {
		if len(body) < 20 || len(body) > maxGreeting {
			return
		}
		frame := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
		g, err := decodeGreeting(frame, identity{id: id})
		if err == nil && (g.id == 0 || g.timeout <= 0 || id != 0 && g.id != id) {
			t.Errorf("accepted %+v for session %d", g, id)
		}
	})
}

func FuzzReplyScanner(f *testing.F) {
	f.Add([]byte{0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0}, 3)
	f.Fuzz(func(t *testing.T, stream []byte, piece int) {
		if piece < 1 {
			return
		}
		var whole, pieces replyScanner
		var a, b []int64
		whole.scan(stream, func(zxid int64) { a = append(a, zxid) })
		for rest := stream; len(rest) > 0; {
			n := min(piece, len(rest))
			pieces.scan(rest[:n], func(zxid int64) { b = append(b, zxid) })
			rest = rest[n:]
		}
		if len(a) != len(b) {
			t.Errorf("saw %v at once, %v in pieces of %d", a, b, piece)
		}
	})
}
