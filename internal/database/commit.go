package database

import (
	"context"

	"github.com/leatdata/leat/connector"
)

// Ending is how a writer's transaction ends.
type Ending struct {
	Session Session
	// Send sends COMMIT and proves that it was done.
	Send func(ctx context.Context) error
	// Apart runs f in a session of its own. Only a broken rule calls it.
	Apart func(ctx context.Context, f func(Session) error) error
	// Failpoint ends the process there in test builds.
	Failpoint func(string)
}

// Commit commits an attempt's rows together with its split's state, which is
// moved last, and only when it is still the attempt's own (exactness rule 3).
func (l *Ledger) Commit(ctx context.Context, a connector.Attempt, state connector.SplitState, e Ending) error {
	switch {
	case l.Rules.PositionFirst:
		err := e.Apart(ctx, func(s Session) error {
			_, err := l.Advance(ctx, s, a.Run.ID, state)
			return err
		})
		if err != nil {
			return err
		}
		e.Failpoint("before-commit")
		return e.Send(ctx)
	case l.Rules.PositionLast:
		if err := e.Send(ctx); err != nil {
			return err
		}
		e.Failpoint("before-commit")
		_, err := l.Advance(ctx, e.Session, a.Run.ID, state)
		return err
	}
	found, err := l.Advance(ctx, e.Session, a.Run.ID, state)
	if err != nil {
		return err
	}
	if found != 1 && !l.Rules.CommitAnyway {
		return l.Fenced(ctx, e.Session, a)
	}
	e.Failpoint("before-commit")
	return e.Send(ctx)
}
