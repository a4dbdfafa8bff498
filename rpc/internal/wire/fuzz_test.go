package wire

import (
	"bytes"
	"testing"
)

// FuzzCut holds that no input makes the frame decoder panic or read beyond it,
// and that what it accepts it writes the same.
func FuzzCut(f *testing.F) {
	f.Add(AppendTell(nil, 1, 2, []byte("payload")))
	f.Add(AppendAsk(nil, 1<<40|3, 5000, 200, 300, []byte("payload")))
	f.Add(AppendReply(nil, 9, 0, nil))
	f.Add(AppendCredit(AppendDefine(nil, Target, 0, "name"), 0, 1<<20))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		rest := data
		for {
			frame, size, err := Cut(rest, Version, 1<<20)
			if err != nil || size == 0 {
				return
			}
			if again := AppendPlain(nil, Version, frame.Kind, frame.Body); !bytes.Equal(again, rest[:size]) {
				t.Fatalf("%x was written as %x", rest[:size], again)
			}
			if m, err := ParseTell(frame.Body); err == nil && len(m.Payload) > len(frame.Body) {
				t.Fatal("payload beyond the body")
			}
			_, _ = ParseAsk(frame.Body)
			_, _ = ParseReply(frame.Body)
			_, _, _ = ParseDefine(frame.Body)
			_, _, _ = ParseCredit(frame.Body)
			rest = rest[size:]
		}
	})
}

// FuzzHandshake holds that no introduction makes the decoder panic or take more
// than a frame may have.
func FuzzHandshake(f *testing.F) {
	b := NewBodies()
	hello := HelloBody{Magic: Magic, MinVersion: 1, MaxVersion: 1, Nonce: make([]byte, NonceSize), Addr: "host:1", Number: 1}
	f.Add(b.Append(nil, HandshakeVersion, Hello, nil, hello))
	f.Add(b.Append(nil, HandshakeVersion, Welcome, nil, WelcomeBody{Version: 1, Proof: make([]byte, 32)}))
	f.Add(b.Append(nil, HandshakeVersion, Refusal, nil, RefusalBody{Reason: "no"}))
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := ReadHandshake(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(frame.Body) > HandshakeLimit {
			t.Fatalf("a body of %d bytes", len(frame.Body))
		}
		for _, body := range []any{&HelloBody{}, &WelcomeBody{}, &RefusalBody{}, &ProofBody{}, &FailureBody{}, &GoodbyeBody{}} {
			_ = b.Decode(frame.Body, body)
		}
	})
}
