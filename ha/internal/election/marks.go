package election

import (
	"context"

	"github.com/leatdata/leat/ha"
)

// Marks remembers used epochs outside of the store, so that a store that was
// deleted or restored brings none of them back.
type Marks interface {
	// Highest returns the highest number ever given to Use by any process.
	Highest(ctx context.Context) (ha.Epoch, error)
	// Use makes it durable that a number is going to be used.
	Use(ctx context.Context, epoch ha.Epoch) error
}
