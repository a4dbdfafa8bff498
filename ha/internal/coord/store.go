package coord

import (
	"context"
	"errors"
	"time"

	"github.com/leatdata/leat/ha"
)

// ErrHeld refuses a take-over: the lock exists, whoever owns it.
var ErrHeld = errors.New("lock is held")

// ErrSessionOver says that the session has ended, or was closed.
var ErrSessionOver = errors.New("session over")

// Store opens sessions with a coordination store.
type Store interface {
	// Open starts a new session, or fails by the end of ctx; the caller tries
	// again with back-off. Everything of a session that is opened but not returned
	// is ended. May be called while older sessions are still being closed.
	Open(ctx context.Context) (Session, error)
}

// Lease is what a session's trust is reckoned from: after a renewal that
// succeeded, nobody else can lead before its start + Timeout - Margin.
type Lease struct {
	// Timeout is T as the store has agreed to it.
	Timeout time.Duration
	// Margin is T/4 on ZooKeeper; T/10, at least 100 ms, on etcd.
	Margin time.Duration
}

// Session is one generation; see the package's comment. All methods may be called
// concurrently. Those with a ctx return by its end.
type Session interface {
	// Lease does not change.
	Lease() Lease
	// Over is closed when the store has said that the session has ended, or by
	// Close. It may never be, however dead the session is.
	Over() <-chan struct{}
	// Renew proves that the session lived at some time after the call's start,
	// through whoever decides it (ZooKeeper: a sync through the leader; etcd: an
	// answered keep-alive), and keeps it alive. Several may be in flight. With a
	// fence the proof is a fenced write: an ErrFenced says that the term is over.
	// While there is no connection it fails at once, or waits for one: it must
	// not succeed for a request that was sent before the call.
	Renew(ctx context.Context, fence ha.Term) error

	// Look reads who holds the lock, and arms Changed.
	Look(ctx context.Context) (Holder, error)
	// Changed is signalled (capacity 1, never closed) when the lock or the epoch
	// may have changed since the last Look began: also when the watch was lost, a
	// connection was made anew, or something else was noticed. A spare signal is
	// no harm, a missing one is.
	Changed() <-chan struct{}

	// TakeOver takes the lock, and sets the epoch to what claim.Next answers for
	// the stored number, in one transaction that fails if the lock exists
	// ([ErrHeld]) or the epoch has changed since it was read ([ha.ErrConflict]). A
	// missing epoch counts as 0 and is first created so. A namespace that was
	// deleted and made anew since the reading makes it fail too, though versions
	// begin anew there (ZooKeeper: one more check, of a node of the session's own
	// in the same namespace; etcd: the epoch's value is compared as well).
	TakeOver(ctx context.Context, claim Claim) (ha.Term, error)
	// Release removes the lock and all that this session has published under the
	// term, in one transaction if the term is the present one. Otherwise
	// ErrFenced, which is as good.
	Release(ctx context.Context, term ha.Term) error

	// Publish sets a record that goes with the session, whatever was there:
	// created, replaced, or (if it has another owner or none) made anew, in one
	// transaction that is fenced unless the term is zero.
	Publish(ctx context.Context, term ha.Term, key Key, value []byte) error
	// Withdraw removes a record that this session has published. None: no error.
	Withdraw(ctx context.Context, key Key) error

	// Get reads a record; ErrNotFound: there is none.
	Get(ctx context.Context, key Key) (Record, error)
	// List reads all records directly in a folder, by name. None: no error.
	List(ctx context.Context, folder string) ([]Record, error)
	// Write carries out all ops in one transaction, or none; fenced unless the term
	// is zero. ErrExists, ErrNotFound, ErrConflict are the first op's that fails,
	// as an [OpError].
	Write(ctx context.Context, term ha.Term, ops ...Op) error
	// Watch signals (capacity 1) when what a key holds may have changed since the
	// call, again and again until ctx ends; then, or when the session is over, the
	// channel is closed. As with Changed, a spare signal is no harm. A Key without
	// a name watches its folder: which names are in it.
	Watch(ctx context.Context, key Key) (<-chan struct{}, error)

	// Clean removes everything of this cluster. Idempotent.
	Clean(ctx context.Context) error
	// Close ends the session in the store if that can be had by the end of ctx, so
	// that what it owns goes at once, and anyway here: no goroutine or connection
	// of it is left when Close returns. May be called twice.
	Close(ctx context.Context) error
}
