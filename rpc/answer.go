package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/rpc/internal/wire"
)

// addressee is where an answer goes.
type addressee struct {
	call *call // a local asker's
	link *link // the connection that a remote one's came by
	id   uint64
}

func addresseeOf(e *envelope) addressee {
	a := addressee{call: e.call, id: e.id}
	if e.from != nil {
		a.link = e.from.link
	}
	return a
}

// answer sends a reply. sent says whether somebody waited for it; a local asker
// may have given up. An error says that it could not be encoded: the asker is
// still without an answer.
func answer[Resp any](env *Env, to addressee, m *message, resp Resp) (sent bool, err error) {
	if to.call != nil {
		p, err := pack(m, resp)
		if err != nil {
			return false, fmt.Errorf("encode reply %s: %w", m.name, err)
		}
		return to.call.reply(to.id, &p), nil
	}
	if b, ok := any(&resp).(*Bytes); ok {
		return to.link.reply(to.id, m, *b)
	}
	scratch := env.scratch()
	defer env.release(scratch)
	data, err := m.codec.(typed[Resp]).append((*scratch)[:0], resp)
	*scratch = data
	if err != nil {
		return false, fmt.Errorf("encode reply %s: %w", m.name, err)
	}
	return to.link.reply(to.id, m, data)
}

// fail sends a failure in the place of a reply.
func (to addressee) fail(f failure) bool {
	if to.call != nil {
		return to.call.fail(to.id, f.err())
	}
	return to.link.fail(to.id, f)
}

// The codes of a failure on the wire.
const (
	codeHandler     = 1
	codePanic       = 2
	codeNotFound    = 3
	codeStopped     = 4
	codeUnsupported = 5
	codeMalformed   = 6
	codeNoReply     = 7
	codeFull        = 8
	codeTooLarge    = 9
	codeTimeout     = 10
)

// failure is why an ask has no reply, in the form in which it travels; a local
// one takes the same way, so that both are the same error.
type failure struct {
	endpoint string
	code     uint32
	text     string
	reason   string
}

// newFailure makes a failure of what a handler returned.
func newFailure(endpoint string, err error) failure {
	f := failure{endpoint: endpoint, code: codeHandler, text: err.Error()}
	switch {
	case errors.Is(err, errPanicked), errors.Is(err, errExited):
		f.code = codePanic
	case errors.Is(err, ErrMalformed):
		f.code = codeMalformed
	case errors.Is(err, ErrUnsupported):
		f.code = codeUnsupported
	case errors.Is(err, ErrNoReply):
		f.code = codeNoReply
	case errors.Is(err, ErrTooLarge):
		f.code = codeTooLarge
	case errors.Is(err, ErrFull):
		f.code = codeFull
	}
	if coded, ok := errors.AsType[*codedError](err); ok {
		f.code, f.reason = codeHandler, coded.code
	}
	return f
}

func (f failure) body() wire.FailureBody {
	return wire.FailureBody{Code: f.code, Text: f.text, Reason: f.reason}
}

// err is the asker's error.
func (f failure) err() error {
	kinds := map[uint32]error{
		codeStopped: ErrStopped, codeUnsupported: ErrUnsupported, codeMalformed: ErrMalformed,
		codeNoReply: ErrNoReply, codeFull: ErrFull, codeTooLarge: ErrTooLarge, codeTimeout: ErrTimeout,
	}
	switch kind := kinds[f.code]; {
	case f.code == codeNotFound:
		return notFound(f.endpoint)
	case kind != nil:
		return &failedAsk{endpoint: f.endpoint, text: f.text, kind: kind}
	default:
		return &RemoteError{Endpoint: f.endpoint, Code: f.reason, Text: f.text, Panicked: f.code == codePanic}
	}
}

// failedAsk is a failure that is one of our own errors.
type failedAsk struct {
	endpoint, text string
	kind           error
}

func (e *failedAsk) Error() string {
	if e.text == "" {
		return fmt.Sprintf("ask %s: %v", e.endpoint, e.kind)
	}
	return fmt.Sprintf("ask %s: %s", e.endpoint, e.text)
}

func (e *failedAsk) Unwrap() error { return e.kind }

// contextError is how an ask ends whose context ended.
func contextError(ctx context.Context, name string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &failedAsk{endpoint: name, kind: ErrTimeout}
	}
	return fmt.Errorf("ask %s: %w", name, context.Cause(ctx))
}
