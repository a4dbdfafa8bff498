package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// Publish implements coord.Session.
func (s *session) Publish(ctx context.Context, term ha.Term, key coord.Key, value []byte) error {
	path := s.layout.key(key)
	if term.IsZero() {
		// Who lists itself as a contender is going to need it, when it should be quick.
		if _, err := s.testify(ctx); err != nil {
			return err
		}
	} else {
		s.mu.Lock()
		s.published[key] = true
		s.mu.Unlock()
	}
	return s.retry(ctx, func() (bool, error) {
		if err := s.Sync(ctx); err != nil {
			return false, s.failure(err)
		}
		now, err := s.Lookup(ctx, path)
		if err != nil {
			return false, s.failure(err)
		}
		checks := s.fence(term)
		ops := append(checks, s.publish(path, now, value)...)
		_, err = s.Multi(ctx, ops...)
		if i, refused := refusedAt(err); refused && i >= len(checks) {
			again, err := s.missed(ctx, path, err)
			return again, err
		}
		return false, s.refusal(ctx, term, len(checks), err)
	})
}

// publish makes of a node as it is now one of the session's with that value.
func (s *session) publish(path string, now zk.Node, value []byte) []zk.Op {
	create := zk.CreateOp(path, value, zk.Ephemeral)
	switch {
	case !now.Exists:
		return []zk.Op{create}
	case now.Stat.Owner == s.ID():
		return []zk.Op{zk.SetOp(path, value, now.Stat.Version)}
	default:
		return []zk.Op{zk.DeleteOp(path, now.Stat.Version), create}
	}
}

// missed says whether a transaction that was refused may succeed when it is made
// anew: others have changed the node, or its folder is missing, and is made.
func (s *session) missed(ctx context.Context, path string, err error) (again bool, _ error) {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		if ensured := s.EnsurePath(ctx, parent(path)); ensured != nil {
			return false, s.failure(ensured)
		}
		return true, s.failure(err)
	case errors.Is(err, zk.ErrBadVersion), errors.Is(err, zk.ErrNodeExists):
		return true, s.failure(err)
	}
	return false, s.failure(err)
}

// retry repeats what was refused and left nothing behind.
func (s *session) retry(ctx context.Context, try func() (again bool, err error)) error {
	for n := 1; ; n++ {
		again, err := try()
		if err == nil || !again {
			return err
		}
		if n == s.options.MaxRetryAttempts || ctx.Err() != nil {
			return fmt.Errorf("%w, %d times in a row: %w", ha.ErrUnavailable, n, err)
		}
		coord.Pause(ctx, s.options.RetryWait)
	}
}

// Withdraw implements coord.Session.
func (s *session) Withdraw(ctx context.Context, key coord.Key) error {
	path := s.layout.key(key)
	err := s.retry(ctx, func() (bool, error) {
		now, err := s.Lookup(ctx, path)
		if err != nil || !now.Exists || now.Stat.Owner != s.ID() {
			return false, s.failure(err)
		}
		err = s.Delete(ctx, path, now.Stat.Version)
		if errors.Is(err, zk.ErrNoNode) {
			return false, nil
		}
		return errors.Is(err, zk.ErrBadVersion), s.failure(err)
	})
	if err == nil {
		s.forget(key)
	}
	return err
}
