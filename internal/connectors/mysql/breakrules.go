package mysql

import (
	"context"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/failpoint"
)

// breakRules switches single rules of exactness off, so that the tests of
// those rules can be shown to fail without them. Nothing but tests sets it.
type breakRules struct {
	// claimByInsert makes Claim insert the split's row where it is missing (rule 2).
	claimByInsert bool
	// ignorePosition has an attempt go on from the engine's position in place
	// of the claim's (rule 2).
	ignorePosition bool
	// ignoreToken leaves the token out of the writer's conditions (rule 3).
	ignoreToken bool
	// commitAnyway has the writer go on, and send COMMIT, whatever number of
	// rows it found to be its own (rule 3).
	commitAnyway bool
	// positionFirst and positionLast commit the position in a transaction of
	// its own, before the rows or after them (rule 3).
	positionFirst, positionLast bool
	// trustLoad takes what LOAD DATA has done as good, whatever it counted and
	// warned of (rule 6).
	trustLoad bool
}

// brokenRules returns what the environment says, in a build for tests.
func brokenRules() breakRules {
	return breakRules{
		claimByInsert:  failpoint.Broken("claim-by-insert"),
		ignorePosition: failpoint.Broken("ignore-position"),
		ignoreToken:    failpoint.Broken("ignore-token"),
		commitAnyway:   failpoint.Broken("commit-anyway"),
		positionFirst:  failpoint.Broken("position-first"),
		positionLast:   failpoint.Broken("position-last"),
		trustLoad:      failpoint.Broken("trust-load"),
	}
}

// commitPositionFirst breaks the rule of that name.
func (w *writer) commitPositionFirst(ctx context.Context, state connector.SplitState) error {
	err := w.sink.sessions.with(ctx, func(s *session) error {
		_, err := w.ledger.advance(ctx, s, w.attempt.Run.ID, state)
		return err
	})
	if err != nil {
		return err
	}
	w.sink.fail("before-commit")
	return w.session.commit(ctx)
}

// commitPositionLast breaks the rule of that name.
func (w *writer) commitPositionLast(ctx context.Context, state connector.SplitState) error {
	if err := w.session.commit(ctx); err != nil {
		return err
	}
	w.sink.fail("before-commit")
	_, err := w.ledger.advance(ctx, w.session, w.attempt.Run.ID, state)
	return err
}
