package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What can become of a send or an ask. They are found by errors.Is, and the same
// for a local and a remote endpoint.
var (
	// ErrNotFound: the process answers, but has no endpoint of that name.
	ErrNotFound = errors.New("could not find endpoint")
	// ErrStopped: the Env, ours or the peer's, has been stopped.
	ErrStopped = errors.New("env stopped")
	// ErrUnreachable: no connection came up; nothing was sent.
	ErrUnreachable = errors.New("could not connect")
	// ErrDisconnected: the connection was lost; what was asked may have been done.
	ErrDisconnected = errors.New("connection lost")
	// ErrTimeout: no reply in time; what was asked may have been done. It is also
	// a context.DeadlineExceeded.
	ErrTimeout error = timeoutError{}
	// ErrFull: a queue is at its bound; nothing was sent, and trying later is right.
	ErrFull = errors.New("queue is full")
	// ErrTooLarge: the message does not fit into a frame.
	ErrTooLarge = errors.New("message is too large")
	// ErrUnsupported: the endpoint has no handler for a message of that type.
	ErrUnsupported = errors.New("unsupported message")
	// ErrUndefined: the type is not among the Env's messages.
	ErrUndefined = errors.New("message type is not defined")
	// ErrMalformed: the bytes are not a message of the type that they claim.
	ErrMalformed = errors.New("malformed message")
	// ErrNoReply: the handler took the call and let it go without an answer.
	ErrNoReply = errors.New("call was never answered")
	// ErrAnswered: the call has its answer, or nobody waits for one any more.
	ErrAnswered = errors.New("call is already answered")
	// ErrRefused: the peer, or we, did not accept the handshake.
	ErrRefused = errors.New("handshake refused")
	// ErrSilent: nothing was heard of a peer for as long as the keep-alive allows.
	ErrSilent = errors.New("peer is silent")
)

var (
	errPeerClosed  = errors.New("closed by the peer")
	errGoodbye     = errors.New("the peer said goodbye")
	errSuperseded  = errors.New("a newer connection of the peer is up")
	errExited      = errors.New("handler ended its goroutine")
	errWrongReply  = errors.New("reply is of another type than was asked for")
	errNoRef       = errors.New("ref is empty")
	errBadProof    = errors.New("the secret does not match")
	errFlood       = errors.New("peer sends more than it was given credit for")
	errPanicked    = errors.New("panic")
	errTooManyDefs = errors.New("peer defines too many names")
)

type timeoutError struct{}

func (timeoutError) Error() string   { return "no reply in time" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// Is makes a timeout a context.DeadlineExceeded.
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// RemoteError is a handler's failure as its asker sees it: the same whether the
// handler is in this process or in another.
type RemoteError struct {
	// Endpoint is where the handler is.
	Endpoint string
	// Code is the application's own, given by the handler with [Coded]; else empty.
	Code string
	// Text is the text of the handler's error.
	Text string
	// Panicked says that it panicked rather than returned an error.
	Panicked bool
}

// Error implements error.
func (e *RemoteError) Error() string { return fmt.Sprintf("endpoint %s: %s", e.Endpoint, e.Text) }

// Coded gives an error a code that reaches the asker as [RemoteError.Code], so
// that it can be judged there by more than its text.
func Coded(code string, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code: code, err: err}
}

type codedError struct {
	code string
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// HandlerError is what an endpoint's OnError gets: what went wrong, and in which
// callback or for which message.
type HandlerError struct {
	Endpoint string
	// Message is the name of the message's type, or of the callback.
	Message string
	// Panicked says that it panicked; Stack is where.
	Panicked bool
	Stack    []byte
	Err      error
}

// Error implements error.
func (e *HandlerError) Error() string {
	return fmt.Sprintf("endpoint %s: handle %s: %v", e.Endpoint, e.Message, e.Err)
}

// Unwrap returns the cause.
func (e *HandlerError) Unwrap() error { return e.Err }

// LinkError is how a connection or the attempt at one ended. It wraps
// [ErrUnreachable], [ErrRefused], [ErrSilent] or [ErrDisconnected].
type LinkError struct {
	Addr Addr
	// Lost is how many one-way messages were accepted and then not sent. Some of
	// those before them may be lost too: they were sent and not confirmed.
	Lost int
	Err  error
}

// Error implements error.
func (e *LinkError) Error() string {
	if e.Lost > 0 {
		return fmt.Sprintf("connection to %s: %v (%d messages not sent)", e.Addr, e.Err, e.Lost)
	}
	return fmt.Sprintf("connection to %s: %v", e.Addr, e.Err)
}

// Unwrap returns the cause.
func (e *LinkError) Unwrap() error { return e.Err }

// FullError says which queue is full. It is an [ErrFull].
type FullError struct {
	Queue string
}

// Error implements error.
func (e *FullError) Error() string { return fmt.Sprintf("%s: %v", e.Queue, ErrFull) }

// Is implements errors.Is.
func (e *FullError) Is(target error) bool { return target == ErrFull }

func notFound(name string) error { return fmt.Errorf("%w %s", ErrNotFound, name) }

func stoppedAt(addr Addr) error { return fmt.Errorf("%w (%s)", ErrStopped, addr) }

// within says in which time a stop or an ask did not come to its end.
func within(d time.Duration, err error) error { return fmt.Errorf("within %s: %w", d, err) }
