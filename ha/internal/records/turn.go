package records

import (
	"context"
	"fmt"

	"github.com/leatdata/leat/ha"
)

// turn lets one at a time do what takes I/O; unlike a mutex it is waited for no
// longer than a context lasts.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn; done gives it on.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("another call is under way: %w: %w", ha.ErrUnavailable, ctx.Err())
	}
}

func (t turn) done() { <-t }
