package zk

import (
	"context"
	"errors"
	"fmt"

	zookeeper "github.com/go-zookeeper/zk"
)

// op is an operation for its errors, and what it may do.
type op struct {
	name, path string
	// write says that doing it twice is not doing it once: it is sent once.
	write bool
	// size is what the request takes, about.
	size int
}

// run carries out an operation on the session's connection, or waits for one. A
// read whose connection is lost is sent again on the next. The error is an
// [*OpError].
func run[R any](ctx context.Context, s *Session, o op, f func(*link) (R, error)) (R, error) {
	var none R
	fail := func(err error, ambiguous bool) (R, error) {
		return none, &OpError{Op: o.name, Path: o.path, Err: err, Ambiguous: ambiguous && o.write}
	}
	if o.path != "" && o.path[0] != '/' {
		return fail(fmt.Errorf("%w: %q does not begin with a slash", ErrInvalidPath, o.path), false)
	}
	if o.size > s.door.cfg.MaxPacket {
		return fail(ErrTooLarge, false)
	}
	var dead *link
	for {
		l, err := s.connection(ctx, dead)
		if err != nil {
			return fail(err, false)
		}
		start := s.door.cfg.Clock.Now()
		r, err := do(ctx, s, l, f)
		if err == nil {
			if o.write {
				s.renewed(start)
			}
			return r, nil
		}
		switch v, reason := judge(l, err); {
		case v == refused:
			return fail(reason, false)
		case v == expired:
			s.stop(ErrExpired)
			return fail(ended(ErrExpired), false)
		case v == interrupted:
			return fail(reason, true)
		case v == unknown || v == lost && o.write:
			return fail(reason, true)
		default:
			// It was moved, and not done, or it is a read.
			_ = l.wire.Close()
			dead = l
		}
	}
}

// verdict is what an error of the library means for the operation.
type verdict int

const (
	refused verdict = iota
	expired
	moved
	interrupted
	lost
	unknown
)

// judge says what an error means, with the reason in our words.
func judge(l *link, err error) (verdict, error) {
	if multi, ok := errors.AsType[*MultiError](err); ok {
		return refused, multi
	}
	if _, ok := errors.AsType[*interruptedError](err); ok {
		return interrupted, err
	}
	switch reason := refusal(err); {
	case errors.Is(reason, ErrExpired):
		return expired, reason
	case errors.Is(reason, errMoved):
		return moved, reason
	case reason != nil:
		return refused, reason
	case l.isGone() || unconnected(err):
		return lost, errLost
	default:
		return unknown, fmt.Errorf("%w: %w", ErrRefused, err)
	}
}

// do carries out one try on a connection; the session's end interrupts it.
func do[R any](ctx context.Context, s *Session, l *link, f func(*link) (R, error)) (R, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })
	defer stop()
	return await(ctx, &s.strays, func() (R, error) { return f(l) })
}

// Stat is what the store knows of a node beside its data.
type Stat struct {
	// Created and Modified are the transactions that made the node and last changed
	// its data.
	Created, Modified int64
	// Version counts the changes of the data since the node was made.
	Version int32
	// ChildVersion counts the changes of the list of children.
	ChildVersion int32
	// Owner is the session that an ephemeral node belongs to, 0 for another.
	Owner int64
	// Children is how many there are.
	Children int
	// CreatedAt and ModifiedAt are in milliseconds since 1970, by the store's clock.
	CreatedAt, ModifiedAt int64
}

func stat(s *zookeeper.Stat) Stat {
	if s == nil {
		return Stat{}
	}
	return Stat{
		Created: s.Czxid, Modified: s.Mzxid, Version: s.Version, ChildVersion: s.Cversion,
		Owner: s.EphemeralOwner, Children: int(s.NumChildren), CreatedAt: s.Ctime, ModifiedAt: s.Mtime,
	}
}

// AnyVersion is the version of a condition that asks only that the node exists.
const AnyVersion int32 = -1

// Mode is how a node lives and is named.
type Mode int32

// The modes: an ephemeral node ends with its session, a sequential one has a
// number of ten digits added to its name that grows within its folder, and a
// container is removed by the store some time after its last child.
const (
	Persistent           Mode = zookeeper.FlagPersistent
	Ephemeral            Mode = zookeeper.FlagEphemeral
	PersistentSequential Mode = zookeeper.FlagSequence
	EphemeralSequential  Mode = zookeeper.FlagEphemeralSequential
	Container            Mode = zookeeper.FlagContainer
)

func (m Mode) sequential() bool { return m == PersistentSequential || m == EphemeralSequential }
func (m Mode) ephemeral() bool  { return m == Ephemeral || m == EphemeralSequential }

// String names the mode.
func (m Mode) String() string {
	switch m {
	case Persistent:
		return "persistent"
	case Ephemeral:
		return "ephemeral"
	case PersistentSequential:
		return "persistent sequential"
	case EphemeralSequential:
		return "ephemeral sequential"
	case Container:
		return "container"
	default:
		return "unknown"
	}
}
