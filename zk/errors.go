package zk

import (
	"context"
	"errors"
	"fmt"

	zookeeper "github.com/go-zookeeper/zk"
)

// What the store refuses. A refused operation has changed nothing.
var (
	ErrNoNode                  = errors.New("node does not exist")
	ErrNodeExists              = errors.New("node already exists")
	ErrBadVersion              = errors.New("version conflict")
	ErrNotEmpty                = errors.New("node has children")
	ErrNoAuth                  = errors.New("not permitted by the node's access list")
	ErrInvalidACL              = errors.New("invalid access list")
	ErrNoChildrenForEphemerals = errors.New("an ephemeral node may not have children")
	ErrBadArguments            = errors.New("invalid arguments")
	ErrInvalidPath             = errors.New("invalid path")
	ErrTooLarge                = errors.New("larger than the store takes")
	// ErrRefused is any other answer of the store that is not success.
	ErrRefused = errors.New("refused by the store")
)

// Why there is no answer.
var (
	// ErrAmbiguous marks an operation that was sent and whose answer is not known:
	// it was applied, or was not, or (until [Session.Settle] has returned) still
	// may be. An error that is not ErrAmbiguous says that nothing was changed.
	ErrAmbiguous = errors.New("outcome unknown")
	// ErrSessionEnded is the error of everything on a [Session] that has ended. It
	// comes with the reason: ErrExpired, ErrTrustEnded or ErrStopped.
	ErrSessionEnded = errors.New("session ended")
	// ErrExpired says that the store has expired the session.
	ErrExpired = errors.New("expired by the store")
	// ErrTrustEnded says that no renewal was answered in time, so that the session
	// may have expired, or may at any moment.
	ErrTrustEnded = errors.New("not renewed in time")
	// ErrStopped says that the session or its client was stopped.
	ErrStopped = errors.New("stopped")
	// ErrAuthFailed says that the store does not take the client's credentials; no
	// further attempt is made.
	ErrAuthFailed = errors.New("credentials not accepted by the store")
)

// errLost is the inner outcome of an operation whose connection was lost.
var errLost = errors.New("connection lost")

// errMoved is the inner outcome of an operation that was refused since the
// session is served by another server now: nothing was changed.
var errMoved = errors.New("session moved to another server")

// OpError is an operation that was not done, or not known to be.
type OpError struct {
	// Op is the operation, "create"; Path is as the caller has given it.
	Op, Path string
	// Err is the reason.
	Err error
	// Ambiguous says that the error is [ErrAmbiguous] too.
	Ambiguous bool
}

// Error names the operation, the node and the reason.
func (e *OpError) Error() string {
	text := "zk: " + e.Op
	if e.Path != "" {
		text += " " + e.Path
	}
	text += ": " + e.Err.Error()
	if e.Ambiguous {
		text += " (" + ErrAmbiguous.Error() + ")"
	}
	return text
}

// Unwrap gives the reason, and ErrAmbiguous when it is.
func (e *OpError) Unwrap() []error {
	if e.Ambiguous {
		return []error{e.Err, ErrAmbiguous}
	}
	return []error{e.Err}
}

// MultiError says which operation of a Multi was refused, and so all of them.
type MultiError struct {
	// Index is the operation's place, from 0 on; -1 when the store names none.
	Index int
	// Op is the operation.
	Op Op
	// Err is the reason.
	Err error
}

// Error names the operation and the reason.
func (e *MultiError) Error() string {
	if e.Index < 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("operation %d (%s): %v", e.Index, e.Op, e.Err)
}

// Unwrap gives the reason.
func (e *MultiError) Unwrap() error { return e.Err }

// ended is the error of a session that ended for a reason.
func ended(reason error) error { return fmt.Errorf("%w: %w", ErrSessionEnded, reason) }

// refusal is the store's answer in our words; nil when err is not one.
func refusal(err error) error {
	answers := [...]struct{ theirs, ours error }{
		{zookeeper.ErrNoNode, ErrNoNode},
		{zookeeper.ErrNodeExists, ErrNodeExists},
		{zookeeper.ErrBadVersion, ErrBadVersion},
		{zookeeper.ErrNotEmpty, ErrNotEmpty},
		{zookeeper.ErrNoAuth, ErrNoAuth},
		{zookeeper.ErrInvalidACL, ErrInvalidACL},
		{zookeeper.ErrNoChildrenForEphemerals, ErrNoChildrenForEphemerals},
		{zookeeper.ErrBadArguments, ErrBadArguments},
		{zookeeper.ErrInvalidPath, ErrInvalidPath},
		{zookeeper.ErrInvalidFlags, ErrBadArguments},
		{zookeeper.ErrAuthFailed, ErrAuthFailed},
		{zookeeper.ErrSessionExpired, ErrExpired},
		{zookeeper.ErrSessionMoved, errMoved},
	}
	for _, a := range answers {
		if errors.Is(err, a.theirs) {
			return a.ours
		}
	}
	return nil
}

// unconnected says that err is of the connection's end.
func unconnected(err error) bool {
	return errors.Is(err, zookeeper.ErrConnectionClosed) || errors.Is(err, zookeeper.ErrClosing) || errors.Is(err, zookeeper.ErrNoServer)
}

// cause prefers why ctx has ended to that it has.
func cause(ctx context.Context) error { return context.Cause(ctx) }
