package connectortest

import (
	"context"
	"time"
)

// tb is what a test and a step of a random schedule have in common.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// patience is how long a single call of a connector may take here, far more
// than any should.
const patience = time.Minute

// within gives f a context that ends when patience does.
func within(t tb, f func(ctx context.Context)) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	f(ctx)
}
