package zookeeper

import (
	"context"
	"errors"
	"fmt"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
	"github.com/leatdata/leat/zk"
)

// failure puts an error of the client into the words of the seam.
func (s *session) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrAmbiguous) && errors.Is(err, zk.ErrSessionEnded):
		return fmt.Errorf("%w: %w: %w", ha.ErrAmbiguous, coord.ErrSessionOver, err)
	case errors.Is(err, zk.ErrAmbiguous):
		return fmt.Errorf("%w: %w", ha.ErrAmbiguous, err)
	case errors.Is(err, zk.ErrSessionEnded):
		return fmt.Errorf("%w: %w", coord.ErrSessionOver, err)
	case errors.Is(err, zk.ErrNoAuth), errors.Is(err, zk.ErrInvalidACL):
		return fmt.Errorf("%w: %w", ha.ErrForbidden, err)
	case errors.Is(err, zk.ErrTooLarge), errors.Is(err, zk.ErrInvalidPath), errors.Is(err, zk.ErrBadArguments):
		return fmt.Errorf("%w: %w", ha.ErrConfig, err)
	case errors.Is(err, zk.ErrNoNode):
		return fmt.Errorf("%w: %w", ha.ErrNotFound, err)
	case errors.Is(err, zk.ErrNodeExists):
		return fmt.Errorf("%w: %w", ha.ErrExists, err)
	case errors.Is(err, zk.ErrBadVersion):
		return fmt.Errorf("%w: %w", ha.ErrConflict, err)
	default:
		return fmt.Errorf("%w: %w", ha.ErrUnavailable, err)
	}
}

// fence is the checks that a write of a term begins with; none for the zero term.
func (s *session) fence(term ha.Term) []zk.Op {
	if term.IsZero() {
		return nil
	}
	return []zk.Op{
		zk.CheckOp(s.layout.epoch(), int32(term.Guard)),
		zk.CheckOp(s.layout.guard(term.Grant), zk.AnyVersion),
	}
}

// refusal is failure for a transaction whose first operations are the checks of
// a term: one of those that fails is a fence, with the store's number.
func (s *session) refusal(ctx context.Context, term ha.Term, checks int, err error) error {
	if i, ok := refusedAt(err); !ok || i >= checks {
		return s.failure(err)
	}
	if cause := s.failure(err); errors.Is(cause, ha.ErrForbidden) {
		return cause
	}
	// Without the number the refusal stands all the same.
	last, _, _ := s.readEpoch(ctx)
	return coord.Refusal(term, last.Number)
}

// refusedAt is which operation of a transaction was refused.
func refusedAt(err error) (int, bool) {
	multi, ok := errors.AsType[*zk.MultiError](err)
	if !ok || multi.Index < 0 {
		return 0, false
	}
	return multi.Index, true
}
